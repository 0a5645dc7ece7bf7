import contextlib
import os
import pty
import subprocess
import sys

import pytest

from paceline.display.progress import track_on_terminal


def test_no_progress_bar_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track_on_terminal(range(3), 3, "work")) == [0, 1, 2]
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_on_a_terminal_there_is_a_progress_bar() -> None:
    script = (
        "from paceline.display.progress import track_on_terminal\n"
        "print(list(track_on_terminal(range(3), 3, 'races')))"
    )
    terminal, end = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", script], stdin=end, stdout=end, stderr=end)
    os.close(end)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while part := os.read(terminal, 1024):
            shown += part
    os.close(terminal)
    assert child.wait(timeout=60) == 0
    text = shown.decode()
    assert "races" in text
    assert "3/3" in text
    assert "[0, 1, 2]" in text
