import contextlib
import os
import pty
import subprocess
import sys

import pytest

from paceline.cli.output import print_table, track_on_terminal
from paceline.tables import Table

TABLE = Table(("name", "first", "second", "third"), [("a", 1.0, 2.0, 3.0), ("b", 4.0, 5.0, 6.0)])


def test_in_a_narrow_window_the_first_column_is_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(TABLE, width=20)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 20
    assert lines[0] == "name  first  second"
    assert lines[4] == "name  third"


def test_all_key_columns_are_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table(TABLE.columns, TABLE.rows, keys=2), width=20)
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[4]) == ("name  first  second", "name  first  third")


def test_in_a_log_nothing_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    assert capsys.readouterr().out.splitlines()[0] == "name  first  second  third"


def test_no_progress_bar_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track_on_terminal(range(3), 3, "work")) == [0, 1, 2]
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_an_empty_table_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table(("a", "b"), []))
    assert capsys.readouterr().out == "a  b\n"


def test_on_a_terminal_there_is_a_progress_bar() -> None:
    script = (
        "from paceline.cli.output import track_on_terminal\n"
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
