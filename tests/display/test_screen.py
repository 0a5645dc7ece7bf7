import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl

import numpy as np
import pytest

from paceline.display.lines import PlainLines
from paceline.display.live import LiveTable
from paceline.display.screen import make_screen
from paceline.display.standings import arm_lines, describe_rest, standing_lines
from tests.cli.made_up import arm, result, standing

# As here: this checkout may not be the one that is installed.
PATHS = [os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])]

MANY = [
    arm(i, f"rate=0.{i:02d} depth=7", 0.9 - 0.01 * i, "in" if i < 9 else "out") for i in range(48)
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(lines: PlainLines, stream: io.StringIO) -> list[str]:
    lines.close(None)
    return stream.getvalue().splitlines()


def test_a_log_has_a_line_per_round() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    arms = [arm(0, "x=1", 0.3, "out"), arm(1, "x=4", 0.711, half=0.13)]
    for rounds, elapsed in ((0, 0.3), (1, 2.0), (1, 2.3), (1, 4.4), (2, 12.4), (2, 14.0)):
        lines.update(standing(arms, rounds=rounds, elapsed=elapsed))
    assert printed(lines, stream) == [
        "round 1, 2 s: 16 pulls, 1 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)",
        "round 2, 12 s: 16 pulls, 1 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)",
    ]


def test_short_rounds_give_a_line_per_second_and_the_last() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    for rounds in range(1, 252):
        lines.update(standing(MANY, rounds=rounds, elapsed=rounds / 64))
    found = printed(lines, stream)
    assert [line.split(",")[0] for line in found] == [
        "round 1",
        "round 65",
        "round 129",
        "round 193",
        "round 251",
    ]


def times_of(rounds: int, seconds: float, every: float = 0.25) -> list[float]:
    """When a log gets its lines, from a race of so many equal rounds."""
    found: list[float] = []

    class Noting(io.StringIO):
        def write(self, text: str) -> int:
            found.extend([now] if text.strip() else [])
            return len(text)

    lines, now = PlainLines(Noting()), 0.0
    while now < seconds:
        done = int(rounds * now / seconds)
        lines.update(standing(MANY[:3], rounds=done, elapsed=now))
        now += every
    return found


@pytest.mark.parametrize("rounds", [0, 1, 3, 40, 3600, 10**6])
@pytest.mark.parametrize("every", [0.25, 2.4])
def test_never_ten_seconds_without_a_line_and_no_flood(rounds: int, every: float) -> None:
    hour = 3600.0
    found = times_of(rounds, hour, every)
    pauses = np.diff([0.0, *found, hour])
    assert pauses.max() <= 10
    assert pauses[1:-1].min() >= 1
    assert len(found) < 700
    assert len(times_of(rounds, 60.0, every)) <= 60


def test_a_long_round_says_how_it_stands_in_the_middle() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    arms = [arm(0, "x=1", 0.3), arm(1, "x=4", 0.711, half=0.13)]
    for rounds, elapsed, pulls in ((0, 8.0, 0), (0, 16.0, 3), (1, 17.0, 16), (1, 30.0, 20)):
        lines.update(standing(arms, rounds=rounds, elapsed=elapsed, pulls=pulls))
    assert printed(lines, stream) == [
        "8 s: no pull has given a value yet, 14 of 16 cores at work",
        "in round 1, 16 s: 3 pulls, 2 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)",
        "round 1, 17 s: 16 pulls, 2 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)",
        "in round 2, 30 s: 20 pulls, 2 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)",
    ]


def test_the_last_round_is_told_even_if_only_the_result_knows_it() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    lines.update(standing(MANY, rounds=2, elapsed=12.0))
    lines.close(result(rounds=3))
    lines.close(None)
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == ["round 2", "round 3"]


def test_a_log_has_no_control_characters_whatever_arms_are_called() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    lines.update(standing([arm(0, "a\x1b[31m\nb\tc\r", 0.5), arm(1, "d", 0.1)]))
    (line,) = printed(lines, stream)
    assert r'"a\x1b[31m b c" leads' in line


def test_an_arm_without_values_does_not_lead() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream)
    nothing = float("nan")
    lines.update(standing([arm(0, "a", nothing), arm(1, "b", nothing)]))
    assert printed(lines, stream) == ["round 3, 12 s: 16 pulls, 2 of 2 arms in"]


def test_a_reader_that_is_gone_does_not_end_the_race() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    lines = PlainLines(Gone())
    lines.update(standing(MANY))
    lines.close(None)


@pytest.mark.parametrize("width", [30, 60, 80, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 12, 24, 100])
@pytest.mark.parametrize(
    "label", ["x", "a very long label of an arm, of many words " * 3, "漢字" * 30]
)
def test_the_table_fits_the_window(width: int, height: int, label: str) -> None:
    from rich.cells import cell_len

    arms = [*MANY[:10], arm(10, label, 0.2), *MANY[11:]]
    lines = standing_lines(standing(arms, deadline=600.0), width, height)
    assert max(cell_len(line.text) for line in lines) <= width
    assert len(lines) <= max(height, 4)  # the head alone takes some


def test_the_table_says_what_it_has_no_room_for() -> None:
    lines = [line.text for line in standing_lines(standing(MANY, deadline=600.0), 60, 12)]
    assert lines[0] == "12 s · 9 min 48 s left · 14/16 cores · 384 pulls · 3 rounds"
    assert lines[1] == "9/48 arms in"
    assert lines[2].split() == ["arm", "mean", "interval", "pulls", "status"]
    assert lines[3] == "rate=0.00 depth=7  0.900  0.80 … 1.00      8  in"
    assert lines[-1] == "… and 40 more: 39 out, 1 in"
    assert len(lines) == 12


def test_the_rest_is_counted_by_status() -> None:
    assert describe_rest(MANY[2:]) == "… and 46 more: 39 out, 7 in"


def test_a_narrow_window_loses_columns_before_the_arms_lose_their_names() -> None:
    header = arm_lines(MANY, 34, 10)[0].text
    assert header.split() == ["arm", "mean", "pulls", "status"]
    assert "rate=0" in arm_lines(MANY, 34, 10)[1].text


def test_numbers_have_the_decimals_that_they_deserve() -> None:
    wide = arm(1, "wide", 1.5, half=50000.0)
    narrow = arm(0, "narrow", 1.23456, half=0.0123)
    rows = [line.text.split() for line in arm_lines([narrow, wide], 80, 10)[1:]]
    assert rows[0][1:5] == ["1.235", "1.222", "…", "1.247"]
    assert rows[1][1:5] == ["1.500", "-49998", "…", "50002"]
    large = arm(0, "large", 1.5e9, half=1e8)
    assert arm_lines([large], 80, 10)[1].text.split()[1:5] == ["1.5e+09", "1.4e+09", "…", "1.6e+09"]


def test_what_is_shown_depends_on_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(make_screen(True, io.StringIO()), PlainLines)
    assert make_screen(None, io.StringIO()) is None
    assert isinstance(make_screen(None, Terminal()), LiveTable)
    assert make_screen(False, Terminal()) is None
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(make_screen(True, Terminal()), PlainLines)


def test_a_table_that_was_never_shown_closes() -> None:
    stream = Terminal()
    LiveTable(stream).close(result())
    assert stream.getvalue() == ""


SCRIPT = """
import sys
from paceline.display.screen import make_screen
from tests.display.test_screen import MANY
from tests.cli.made_up import result, standing
screen = make_screen(None, keep=sys.argv[1] == "keep")
for rounds in range(1, 4):
    screen.update(standing(MANY, rounds=rounds))
screen.close(result())
screen.close(None)
print("after")
"""


@pytest.mark.parametrize("keep", ["keep", "remove"])
def test_the_live_table_on_a_terminal(keep: str) -> None:
    shown = on_terminal([sys.executable, "-c", SCRIPT, keep], columns=60, rows=12)
    assert shown.count("14/16 cores") >= 3
    assert "\x1b[2K" in shown  # lines are erased
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
    left = shown[shown.rindex("\x1b[2K") :]  # the last thing erased is the table
    assert ("x=2 has the highest mean" in left) == (keep == "keep")
    assert ("14/16 cores" in left) is False
    assert left.rstrip().endswith("after")


def on_terminal(command: list[str], columns: int, rows: int, seconds: float = 60) -> str:
    """What a command shows on a terminal of that size."""
    terminal, end = pty.openpty()
    ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = os.environ | {"TERM": "xterm", "PYTHONPATH": os.pathsep.join(PATHS)}
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    child = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment)
    os.close(end)
    shown = b""
    give_up = time.monotonic() + seconds
    try:
        while select.select([terminal], [], [], max(give_up - time.monotonic(), 0))[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            shown += part
        child.wait(timeout=10)
    finally:
        child.kill()
        child.wait()
        os.close(terminal)
    return shown.decode()
