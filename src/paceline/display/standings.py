"""How a race stands, as a table that fits a window."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from paceline.characters import clean
from paceline.core.words import count
from paceline.display.text import cell_width, pad, shorten
from paceline.durations import say_seconds
from paceline.story.brief import describe_remaining, racing
from paceline.story.numbers import estimates
from paceline.story.standing import ArmRecord, Standing

_STYLES = {"best": "bold green", "in": "", "out": "dim", "failed": "red"}
_LEAST_LABEL = 12  # wide; a window with less room loses columns of numbers first


class Line(NamedTuple):
    """A line of text, and its style on a terminal."""

    text: str
    style: str = ""


def standing_lines(standing: Standing, width: int, height: int) -> list[Line]:
    """The live table: time, cores and pulls, then as many of the best arms as fit."""
    head = [Line(line, "bold") for line in _wrap_parts(headline(standing), width)]
    said = [*standing.notes, *(f"WARNING: {text}" for text in standing.warnings)]
    if standing.outlook:
        said.append(standing.outlook)
    head += [Line(shorten(clean(text), width), "yellow") for text in said]
    return [*head, *arm_lines(standing.ranked(), width, max(height - len(head), 0))]


def arm_lines(arms: Sequence[ArmRecord], width: int, height: int) -> list[Line]:
    """A header and a line per arm; if there are too many, one line sums up the rest."""
    room = height - 1
    if room < 1:
        return []
    shown = list(arms) if len(arms) <= room else list(arms[: room - 1])
    means_and_intervals = estimates(shown)
    columns: dict[str, list[str]] = {
        "mean": [mean for mean, _ in means_and_intervals],
        "interval": [interval for _, interval in means_and_intervals],
        "pulls": [str(record.pulls) for record in shown],
        "status": [str(record.status) for record in shown],
    }
    widths = {name: max(map(len, (name, *cells))) for name, cells in columns.items()}
    labels = [clean(record.label) for record in shown]
    wanted = max([len("arm"), *map(cell_width, labels)])
    for name in ("interval", "pulls", "status"):
        rest = width - sum(2 + widths[kept] for kept in columns)
        if rest >= min(wanted, _LEAST_LABEL):
            break
        del columns[name]
    rest = width - sum(2 + widths[kept] for kept in columns)
    label_width = max(min(wanted, rest), 3)

    def line(label: str, cells: dict[str, str]) -> str:
        words = [pad(shorten(label, label_width), label_width)]
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


def headline(standing: Standing) -> list[str]:
    """How far a race is, in parts: time, cores, pulls, rounds, arms."""
    parts = [say_seconds(standing.elapsed)]
    if standing.deadline is not None:
        left = standing.deadline - standing.elapsed
        parts.append(f"{say_seconds(left)} left" if left > 0 else "at the deadline")
    if standing.remaining is not None:
        parts.append(describe_remaining(standing))
    return [
        *parts,
        f"{standing.busy_cores}/{standing.cores} cores",
        count(standing.pulls, "pull"),
        count(standing.rounds, "round"),
        f"{racing(standing.arms)}/{len(standing.arms)} arms in",
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
