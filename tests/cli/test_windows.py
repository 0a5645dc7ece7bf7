"""What is printed fits the window, on a real terminal of any width; in a pipe no line is broken."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

TO_BE_COPIED = ("tried ", "instead ", "command ")


def on_terminal(columns: int, folder: Path, *words: str) -> list[str]:
    """The lines that a command leaves on a terminal, without its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    variables = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "paceline", *words]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, cwd=folder
    )
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:  # nobody has the other end any more
        pass
    process.wait()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.decode())
    return [line.strip("\r") for line in text.split("\n")]


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize(
    "line",
    [
        "check race.toml --try",
        "simulate 0.9,0.5 -c 0.9",
        "plan --help",
        "run rac.toml",
        "run race.toml --dedline 3s",
    ],
)
def test_no_line_is_wider_than_the_window(columns: int, line: str, tmp_path: Path) -> None:
    text = 'command = "echo time: 12.{x}ms, 3 runs"\n[arms]\nx = [1, 2]\n'
    (tmp_path / "race.toml").write_text(text)
    lines = on_terminal(columns, tmp_path, *line.split())
    assert len(lines) > 1
    wide = [one for one in lines if len(one) > columns and not one.startswith(TO_BE_COPIED)]
    assert [one for one in wide if "  paceline " not in one] == []
    if "--try" in line:  # a value that was broken could not be copied
        assert any(r"value = 'pattern:time: (\S+?)ms'  reads 12.1" in one for one in lines)
