"""The mean against each parameter, and all parameters side by side."""

import math
from collections.abc import Sequence

from paceline.report.axes import Axis, axis_of, chart_text
from paceline.report.colours import FALLEN, HUES
from paceline.report.columns import Columns, rounded
from paceline.report.markup import Markup, shown
from paceline.report.scale import scale_of
from paceline.story.numbers import format_value
from paceline.story.story import Story

MOST_AXES = 8
_SPREAD = 0.012  # arms of the same value stand beside each other, by their numbers


def axes_of(story: Story) -> list[Axis]:
    """The parameters that differ between arms."""
    names = dict.fromkeys(name for one in story.parameters for name in one or ())
    found = (
        axis_of(name, [story.parameters_of(arm.index).get(name) for arm in story.standing.arms])
        for name in names
    )
    return [axis for axis in found if axis is not None][:MOST_AXES]


def sources(story: Story, axes: Sequence[Axis], colours: Sequence[int]) -> dict[str, Columns]:
    """What the charts draw; those of parameters that the arms do not have are empty."""
    made: dict[str, Columns] = {}
    for place in range(MOST_AXES):
        axis = axes[place] if place < len(axes) else None
        made[f"parameter-{place}"] = _against(story, axis, colours)
        marks = axis.marks if axis else ()
        at, names = [mark[0] for mark in marks], [mark[1] for mark in marks]
        made[f"ticks-parameter-{place}"] = {"at": at, "label": names}
    return made | _side_by_side(story, axes, colours)


def names(axes: Sequence[Axis]) -> dict[str, Markup]:
    """The headings of the charts."""
    return {
        f"parameter-{place}-name": Markup.escape(
            shown(axes[place].name, 60) if place < len(axes) else ""
        )
        for place in range(MOST_AXES)
    }


def _colour(story: Story, arm: int, colours: Sequence[int]) -> int:
    is_out = story.standing.arms[arm].status in ("out", "failed")
    return FALLEN if is_out and len(colours) > HUES else colours[arm]


def _against(story: Story, axis: Axis | None, colours: Sequence[int]) -> Columns:
    names = ("x", "mean", "low", "high", "arm", "color", "value")
    columns: Columns = {name: [] for name in names}
    if axis is None:
        return columns
    scale = scale_of(story.standing.arms)
    width = scale[1] - scale[0]
    for record in reversed(story.standing.ranked()):
        place = axis.places[record.index]
        if math.isnan(place) or not math.isfinite(record.mean):
            continue
        shift = _SPREAD * ((record.index % 7) - 3) / 3
        low, mean, high = (
            min(max(one, scale[0]), scale[1]) for one in (record.low, record.mean, record.high)
        )
        value = story.parameters_of(record.index).get(axis.name)
        row = (
            *rounded([place + shift], 1.0),
            *rounded([mean, low, high], width),
            record.index,
            _colour(story, record.index, colours),
            shown(format_value(value), 40),
        )
        for name, one in zip(names, row, strict=True):
            columns[name].append(one)
    return columns


def _side_by_side(story: Story, axes: Sequence[Axis], colours: Sequence[int]) -> dict[str, Columns]:
    """A line per arm through its parameters to its mean, on axes from 0 to 1."""
    lines: Columns = {"xs": [], "ys": [], "arm": [], "color": [], "mean": []}
    poles: Columns = {"x": [], "bottom": [], "top": []}
    marks: Columns = {"x": [], "y": [], "text": []}
    heads: Columns = {"x": [], "y": [], "text": []}
    if len(axes) >= 2:
        arms = story.standing.arms
        means = [arm.mean if math.isfinite(arm.mean) else math.nan for arm in arms]
        of_means = axis_of("mean", means)
        all_axes = [*axes, *([of_means] if of_means else [])]
        for number, axis in enumerate(all_axes):
            for name, value in (("x", number), ("bottom", 0.0), ("top", 1.0)):
                poles[name].append(value)
            for at, text in axis.marks:
                for name, mark in (("x", number), ("y", at), ("text", text)):
                    marks[name].append(mark)
            name = chart_text(axis.name, 14)
            for column, head in (("x", number), ("y", 1.06), ("text", name)):
                heads[column].append(head)
        for record in reversed(story.standing.ranked()):
            ys = [axis.places[record.index] for axis in all_axes]
            if not math.isfinite(record.mean) or any(math.isnan(y) for y in ys):
                continue
            color = _colour(story, record.index, colours)
            row = (list(range(len(ys))), ys, record.index, color, format_value(record.mean))
            for column, one in zip(lines, row, strict=True):
                lines[column].append(one)
    return {"parallel": lines, "poles": poles, "marks": marks, "heads": heads}
