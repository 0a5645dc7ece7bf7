"""The table of arms: a row per arm, the best first, with its interval drawn beside the numbers."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from paceline.durations import say_seconds
from paceline.report.axes import number_of
from paceline.report.markup import Markup, joined, label, shown
from paceline.report.scale import Scale, scale_of
from paceline.story.numbers import estimates, format_value
from paceline.story.standing import ArmRecord
from paceline.story.story import Story

_MOST_PARAMETERS = 12  # columns
_LEADERS = 40  # whose means and intervals fit into the column of bars
_PLACE = {"best": 0, "in": 1, "out": 2, "failed": 3}
_HEADS = (
    ("#", "number"),
    ("Arm", ""),
    ("Status", ""),
    ("Mean", "number"),
    ("Interval", ""),
    ("from", "number"),
    ("to", "number"),
    ("Pulls", "number"),
    ("Time", "number"),
)


def fragments(story: Story, colours: Sequence[int]) -> dict[str, Markup]:
    """The head and the rows of the table."""
    names = parameter_names(story)
    arms = story.standing.ranked()
    rows = _rows(story, arms, names, colours)
    return {
        "standings-head": _head(story, names),
        "standings": joined(rows),
        "standings-count": Markup("{}").format(f"{len(arms):,} arms"),
    }


def parameter_names(story: Story) -> list[str]:
    """The names of the parameters that have a column."""
    names = dict.fromkeys(name for one in story.parameters for name in one or ())
    return list(names)[:_MOST_PARAMETERS]


def _head(story: Story, names: Sequence[str]) -> Markup:
    heads = [*_HEADS, *((shown(name, 40), _kind(story, name)) for name in names)]
    cell = Markup('<th scope="col" class="{}"><button type="button" id="sort-{}">{}</button></th>')
    cells = (cell.format(kind, place, text) for place, (text, kind) in enumerate(heads))
    return Markup("<tr>{}</tr>").format(joined(cells))


def _kind(story: Story, name: str) -> str:
    """Columns of numbers stand to the right."""
    given = (story.parameters_of(arm.index).get(name) for arm in story.standing.arms)
    known = [number_of(value) is not None for value in given if value is not None]
    return "number" if all(known) else ""


def _rows(
    story: Story, arms: Sequence[ArmRecord], names: Sequence[str], colours: Sequence[int]
) -> Iterable[Markup]:
    scale = scale_of(arms[:_LEADERS])
    arm_cell = Markup('<th scope="row" title="{}"><i class="c{}"></i>{}</th>')
    falls = story.milestones.falls
    for rank, (arm, (mean, interval)) in enumerate(zip(arms, estimates(arms), strict=True), 1):
        low, _, high = interval.partition(" … ")
        given = story.parameters_of(arm.index)
        cells = [
            _number(rank, str(rank)),
            arm_cell.format(shown(arm.label), colours[arm.index], label(arm.label)),
            _status(arm, falls.get(arm.index), story.standing.elapsed),
            _number(arm.mean, mean),
            _bar(arm, scale),
            _number(arm.low, low if high else "–"),
            _number(arm.high, high or "–"),
            _number(arm.pulls, f"{arm.pulls:,}"),
            _number(arm.seconds, say_seconds(arm.seconds)),
            *(_parameter(given.get(name)) for name in names),
        ]
        yield Markup('<tr class="{}">{}</tr>').format(arm.status, joined(cells))


def _number(value: float, text: str) -> Markup:
    """A cell that is sorted by its value."""
    at = f"{value:.10g}" if math.isfinite(value) else ""
    return Markup('<td class="number" data-value="{}">{}</td>').format(at, text)


def _parameter(value: Any) -> Markup:
    if value is None:
        return Markup("<td></td>")
    number = number_of(value)
    if number is not None:
        return _number(number, shown(format_value(value), 40))
    return Markup("<td>{}</td>").format(label(str(value)))


def _status(arm: ArmRecord, fell: float | None, elapsed: float) -> Markup:
    """Sorted by who stayed longest."""
    is_out = fell is not None and arm.status in ("out", "failed")
    at = f" at {say_seconds(fell)}" if fell is not None and is_out else ""
    why = f": {shown(arm.failure, 80)}" if arm.failure else ""
    left = 1 - fell / elapsed if fell is not None and elapsed > 0 else 0.0
    value = _PLACE[arm.status] + (min(left, 0.99) if is_out else 0.0)
    cell = Markup('<td class="status" data-value="{}"><b>{}</b>{}{}</td>')
    return cell.format(f"{value:.6f}", arm.status, at, why)


def _bar(arm: ArmRecord, scale: Scale) -> Markup:
    """The interval as a bar, with a mark at the mean; the numbers stand in the next columns."""
    if not math.isfinite(arm.mean):
        return Markup("<td></td>")
    start, end, mean = (_place(one, scale) for one in (arm.low, arm.high, arm.mean))
    style = f"--from:{start:.1f}%;--to:{100 - end:.1f}%;--mean:{mean:.1f}%"
    width = f"{arm.high - arm.low:.6g}" if math.isfinite(arm.high - arm.low) else ""
    cell = Markup('<td class="bar" data-value="{}"><i style="{}" aria-hidden="true"></i></td>')
    return cell.format(width, style)


def _place(value: float, scale: Scale) -> float:
    low, high = scale
    return 100 * min(max((value - low) / (high - low), 0.0), 1.0)
