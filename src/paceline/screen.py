"""What is shown while a race is under way: a live table on a terminal, plain lines in a log."""

import contextlib
import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

from paceline.durations import say_seconds
from paceline.result import ArmRecord, Result, Standing
from paceline.tables import format_value

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_STYLES = {"best": "bold green", "in": "", "out": "dim", "failed": "red"}
_LEAST_LABEL = 12  # columns; a window with room for less loses columns of numbers first
_MOST_DECIMALS = 6
_MOST_KEPT = 12  # lines of the table that is left behind


class Screen(Protocol):
    """Shows how a race stands."""

    def update(self, standing: Standing) -> None:
        """Show this; called a few times a second, and after every round."""

    def close(self, result: Result | None) -> None:
        """Leave the terminal as it was; `result` is None if the race did not come to its end."""


def make_screen(
    progress: bool | None, stream: TextIO | None = None, *, keep: bool = True
) -> Screen | None:
    """Choose what to show: a live table on a terminal, else plain lines if `progress` is True.

    With None, only a terminal is written to: a library leaves logs alone. `keep` leaves the final
    table on the terminal.
    """
    stream = sys.stderr if stream is None else stream
    if progress is False:
        return None
    if stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        return LiveTable(stream, keep=keep)
    return PlainLines(stream) if progress else None


class PlainLines:
    """A line for every round, for logs; but none within a second of the one before.

    What is held back then gives way to the next round. The last round is never missing.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rounds = 0  # of the last line that is printed or waiting
        self._last_printed = -math.inf  # seconds of the race, not of a clock
        self._waiting: Standing | None = None
        self._warned: set[str] = set()
        self._next_outlook = 0.0  # seconds of the race

    def update(self, standing: Standing) -> None:
        """Print a line if a round has ended, and what is to be warned of."""
        for text in standing.warnings:
            advice = text.partition(": ")[2]  # what was seen changes as a race goes on
            if advice not in self._warned:
                self._warned.add(advice)
                self._write(f"WARNING: {clean(text)}")
        if standing.outlook and standing.elapsed >= self._next_outlook:
            self._next_outlook = 2 * standing.elapsed
            self._write(clean(standing.outlook))
        if standing.rounds != self._rounds and standing.pulls:
            self._rounds = standing.rounds
            self._waiting = standing
        if standing.elapsed - self._last_printed >= 1:
            self._print()

    def close(self, result: Result | None) -> None:
        """Print what was held back, or how the last round ended."""
        if result is not None and result.pulls and result.rounds != self._rounds:
            self.update(_as_standing(result))
        self._print()

    def _print(self) -> None:
        if self._waiting is not None:
            self._write(describe_standing(self._waiting))
            self._last_printed = self._waiting.elapsed
            self._waiting = None

    def _write(self, line: str) -> None:
        # A log that is full, or a reader that is gone, must not end a race.
        with contextlib.suppress(OSError):
            print(line, file=self._stream, flush=True)


class LiveTable:
    """A table of the standings that is rewritten in place; its lines always fit the window."""

    def __init__(self, stream: TextIO, *, keep: bool = True) -> None:
        self._stream = stream
        self._keep = keep
        self._live: Live | None = None

    def update(self, standing: Standing) -> None:
        """Show how the race stands now."""
        with contextlib.suppress(OSError):  # a terminal that is gone must not end a race
            live = self._live or self._start()
            size = live.console.size
            # One line is left free: a newline below a full window would scroll it.
            lines = standing_lines(standing, size.width, size.height - 1)
            live.update(_text(lines), refresh=True)

    def close(self, result: Result | None) -> None:
        """Remove the table, or leave the final one behind; may be called twice."""
        live, self._live = self._live, None
        if live is None:
            return
        with contextlib.suppress(OSError):
            live.stop()
            if self._keep and result is not None:
                lines = arm_lines(result.ranked(), live.console.size.width, _MOST_KEPT)
                live.console.print(_text([*lines, Line(clean(result.verdict))]))

    def _start(self) -> "Live":
        from rich.console import Console
        from rich.live import Live

        # No thread of its own: the race calls often enough. What is printed meanwhile goes above
        # the table; but not from stdout into stderr when somebody reads stdout.
        self._live = Live(
            console=Console(file=self._stream, highlight=False),
            auto_refresh=False,
            transient=True,
            vertical_overflow="crop",
            redirect_stdout=sys.stdout.isatty(),
        )
        self._live.start()
        return self._live


def _text(lines: "Sequence[Line]") -> "Text":
    from rich.text import Text

    return Text("\n").join(Text(line.text, style=line.style) for line in lines)


def _as_standing(result: Result) -> Standing:
    return Standing(
        elapsed=result.elapsed,
        deadline=None,
        rounds=result.rounds,
        pulls=result.pulls,
        cores=0,
        busy_cores=0,
        arms=result.arms,
        minimize=result.minimize,
    )


class Line(NamedTuple):
    """A line of text, and how it is set off on a terminal."""

    text: str
    style: str = ""


def describe_standing(standing: Standing) -> str:
    """How a race stands, in a line.

    >>> arms = (
    ...     ArmRecord(0, "x=2", 0.412, 0.3, 0.52, 40, "out", 9.0),
    ...     ArmRecord(1, "x=4", 0.711, 0.58, 0.84, 56, "in", 12.5),
    ... )
    >>> print(describe_standing(Standing(12.4, None, 3, 96, 8, 8, arms, minimize=False)))
    round 3, 12 s: 96 pulls, 1 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)
    """
    leader = standing.ranked()[0]
    lead = ""
    if leader.status in ("best", "in") and math.isfinite(leader.mean):
        mean, interval = _estimates([leader])[0]
        lead = f", {clean(leader.label)} leads with {mean}"
        lead += f" ({interval})" if interval != "–" else ""
    when, pulls = say_seconds(standing.elapsed), count(standing.pulls, "pull")
    arms = f"{_racing(standing.arms)} of {len(standing.arms)} arms in"
    return f"round {standing.rounds}, {when}: {pulls}, {arms}{lead}"


def standing_lines(standing: Standing, width: int, height: int) -> list[Line]:
    """The live table: what is used up and in use, then the best arms, as many as fit."""
    head = [Line(line, "bold") for line in _wrap_parts(_headline(standing), width)]
    said = [f"WARNING: {text}" for text in standing.warnings]
    if standing.outlook:
        said.append(standing.outlook)
    head += [Line(shorten(clean(text), width), "yellow") for text in said]
    return [*head, *arm_lines(standing.ranked(), width, max(height - len(head), 0))]


def arm_lines(arms: Sequence[ArmRecord], width: int, height: int) -> list[Line]:
    """A header and a line for every arm, or for the first so many and one for the rest."""
    room = height - 1
    if room < 1:
        return []
    shown = list(arms) if len(arms) <= room else list(arms[: room - 1])
    estimates = _estimates(shown)
    columns: dict[str, list[str]] = {
        "mean": [mean for mean, _ in estimates],
        "interval": [interval for _, interval in estimates],
        "pulls": [str(record.pulls) for record in shown],
        "status": [str(record.status) for record in shown],
    }
    widths = {name: max(map(len, (name, *cells))) for name, cells in columns.items()}
    labels = [clean(record.label) for record in shown]
    wanted = max([len("arm"), *map(_cells, labels)])
    for name in ("interval", "pulls", "status"):
        rest = width - sum(2 + widths[kept] for kept in columns)
        if rest >= min(wanted, _LEAST_LABEL):
            break
        del columns[name]
    rest = width - sum(2 + widths[kept] for kept in columns)
    label_width = max(min(wanted, rest), 3)

    def line(label: str, cells: dict[str, str]) -> str:
        words = [_pad(shorten(label, label_width), label_width)]
        for name, cell in cells.items():
            space = widths[name]
            words.append(cell.ljust(space) if name == "status" else cell.rjust(space))
        return "  ".join(words).rstrip()

    lines = [Line(line("arm", {name: name for name in columns}), "bold")]
    for place, (record, label) in enumerate(zip(shown, labels, strict=True)):
        cells = {name: column[place] for name, column in columns.items()}
        lines.append(Line(line(label, cells), _STYLES[record.status]))
    if len(shown) < len(arms):
        lines.append(Line(shorten(describe_rest(arms[len(shown) :]), width), "dim"))
    return lines


def describe_rest(arms: Sequence[ArmRecord]) -> str:
    """The arms that a table has no room for, in a line.

    >>> describe_rest([ArmRecord(0, "x", 0.5, 0.0, 1.0, 4, "out", 1.0)] * 3)
    '… and 3 more: 3 out'
    """
    statuses = Counter(record.status for record in arms)
    parts = [f"{number} {status}" for status, number in statuses.most_common()]
    return f"… and {len(arms)} more: {', '.join(parts)}"


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "pull"), count(1200, "pull")
    ('1 pull', '1200 pulls')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def clean(text: str) -> str:
    r"""One line without control characters, whatever a user put into an arm.

    >>> clean("a\n b\x1b[31m")
    'a b?[31m'
    """
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """The same text, with nothing in it that a terminal would act upon."""
    return "".join(c if c.isprintable() else "?" for c in text)


def shorten(text: str, width: int) -> str:
    """Cut out the middle of a text that is too wide: arms often differ at their ends.

    >>> shorten("rate=0.01 depth=3 seed=77", 16)
    'rate=0.0…seed=77'
    """
    if _cells(text) <= width:
        return text
    from rich.cells import chop_cells

    if width < 3:
        return "…"[:width]
    tail = (width - 1) // 2
    start = chop_cells(text, width - 1 - tail)[0]
    end = chop_cells(text[::-1], tail)[0][::-1]
    return f"{start}…{end}"


def _headline(standing: Standing) -> list[str]:
    parts = [say_seconds(standing.elapsed)]
    if standing.deadline is not None:
        left = standing.deadline - standing.elapsed
        parts.append(f"{say_seconds(left)} left" if left > 0 else "the deadline is here")
    return [
        *parts,
        f"{standing.busy_cores}/{standing.cores} cores",
        count(standing.pulls, "pull"),
        count(standing.rounds, "round"),
        f"{_racing(standing.arms)}/{len(standing.arms)} arms in",
    ]


def _wrap_parts(parts: Sequence[str], width: int) -> list[str]:
    """Parts with dots between, broken only between two parts."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return [shorten(line, width) for line in lines]


def _racing(arms: Sequence[ArmRecord]) -> int:
    return sum(record.status in ("best", "in") for record in arms)


def _estimates(arms: Sequence[ArmRecord]) -> list[tuple[str, str]]:
    """Means and intervals, with as many decimals as the intervals deserve.

    The means of a table all have the same decimals; each interval has its own, for those of arms
    with few pulls can be absurdly wide.
    """
    halves = [(record.high - record.low) / 2 for record in arms]
    means = max((abs(record.mean) for record in arms if math.isfinite(record.mean)), default=0.0)
    # Two digits of the narrowest interval, and three of a mean whose interval says nothing yet.
    decimals = max([_decimals(means, 3), *(_decimals(half, 2) for half in halves)])
    return [
        (
            _say(record.mean, decimals),
            f"{_say(record.low, own)} … {_say(record.high, own)}" if math.isfinite(half) else "–",
        )
        for record, half in zip(arms, halves, strict=True)
        for own in [_decimals(half, 2)]
    ]


def _decimals(size: float, digits: int) -> int:
    """How many decimals show so many digits of a number of this size."""
    if not math.isfinite(size) or size <= 0:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(size)))


def _say(value: float, decimals: int) -> str:
    if not math.isfinite(value) or decimals > _MOST_DECIMALS or abs(value) >= 1e7:
        return format_value(value)
    return f"{value:.{decimals}f}"


def _cells(text: str) -> int:
    """Columns on a terminal, where some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _cells(text))
