"""The mean against each parameter, and all parameters side by side."""

import math
from collections.abc import Sequence

from paceline.report.axes import Axis, axis_of, chart_text
from paceline.report.colours import MEANS, SHADES
from paceline.report.columns import Columns, columns_of, rounded
from paceline.report.markup import Markup, shown
from paceline.report.scale import scale_of
from paceline.story.numbers import format_value
from paceline.story.standing import ArmRecord
from paceline.story.story import Story

MOST_AXES = 8
_SPREAD = 0.02  # arms of the same value stand beside each other
_GOLDEN = 0.5 * (5**0.5 - 1)  # its multiples fall everywhere, also those of every seventh arm
_CROWD = 100  # so many arms hide each other's intervals


def axes_of(story: Story) -> list[Axis]:
    """The parameters that differ between arms."""
    names = dict.fromkeys(name for one in story.parameters for name in one or ())
    found = (
        axis_of(name, [story.parameters_of(arm.index).get(name) for arm in story.standing.arms])
        for name in names
    )
    return [axis for axis in found if axis is not None][:MOST_AXES]


def names(axes: Sequence[Axis]) -> dict[str, Markup]:
    """The headings of the charts."""
    said = [shown(axis.name, 60) for axis in axes] + [""] * (MOST_AXES - len(axes))
    return {f"parameter-{place}-name": Markup.escape(name) for place, name in enumerate(said)}


def sources(story: Story, axes: Sequence[Axis]) -> dict[str, Columns]:
    """What the charts draw; those of parameters that the arms do not have are empty."""
    # The best is drawn last, so that nothing hides it.
    arms = [arm for arm in reversed(story.standing.ranked()) if math.isfinite(arm.mean)]
    shades = _shades(arms, minimize=story.standing.minimize)
    made = _side_by_side(axes if len(axes) > 1 else (), arms, shades)
    for place in range(MOST_AXES):
        axis = axes[place] if place < len(axes) else Axis("", (math.nan,) * len(shades), ())
        made[f"parameter-{place}"] = _against(story, axis, arms, shades)
        made[f"ticks-parameter-{place}"] = columns_of(("at", "label"), axis.marks)
    return made


def _shades(arms: Sequence[ArmRecord], *, minimize: bool) -> dict[int, int]:
    """The colour of each arm: the better its mean, the stronger."""
    means = [arm.mean for arm in arms]
    if not means or min(means) == max(means):
        return {arm.index: MEANS + SHADES - 1 for arm in arms}
    worst, best = (max(means), min(means)) if minimize else (min(means), max(means))
    steps = ((arm.index, (arm.mean - worst) / (best - worst)) for arm in arms)
    return {arm: MEANS + min(int(SHADES * step), SHADES - 1) for arm, step in steps}


def _against(
    story: Story, axis: Axis, arms: Sequence[ArmRecord], shades: dict[int, int]
) -> Columns:
    scale = scale_of(story.standing.arms)
    rows = []
    for arm in arms:
        place = axis.places[arm.index] if axis.name else math.nan
        if math.isnan(place):
            continue
        place += _SPREAD * (2 * (arm.index * _GOLDEN % 1.0) - 1)
        is_clear = len(arms) <= _CROWD or arm.status in ("best", "in")
        ends = (arm.low, arm.high) if is_clear else (arm.mean, arm.mean)
        heights = [min(max(one, scale[0]), scale[1]) for one in (arm.mean, *ends)]
        value = shown(format_value(story.parameters_of(arm.index).get(axis.name)), 40)
        numbers = rounded(heights, scale[1] - scale[0])
        rows.append((*rounded([place], 1.0), *numbers, arm.index, shades[arm.index], value))
    return columns_of(("x", "mean", "low", "high", "arm", "color", "value"), rows)


def _side_by_side(
    axes: Sequence[Axis], arms: Sequence[ArmRecord], shades: dict[int, int]
) -> dict[str, Columns]:
    """A line per arm through its parameters to its mean, on axes from 0 to 1."""
    means = dict.fromkeys(range(len(axes[0].places) if axes else 0), math.nan)
    means |= {arm.index: arm.mean for arm in arms}
    of_means = axis_of("mean", list(means.values())) if axes else None
    poles = [*axes, *([of_means] if of_means else [])]
    across = list(range(len(poles)))
    lines = []
    for arm in arms:
        ys = [axis.places[arm.index] for axis in poles]
        if poles and not any(map(math.isnan, ys)):
            lines.append((across, ys, arm.index, shades[arm.index], format_value(arm.mean)))
    marks = [(x, y, text) for x, axis in enumerate(poles) for y, text in axis.marks]
    heads = [(x, 1.06, chart_text(axis.name, 14)) for x, axis in enumerate(poles)]
    return {
        "parallel": columns_of(("xs", "ys", "arm", "color", "mean"), lines),
        "poles": columns_of(("x", "bottom", "top"), [(x, 0.0, 1.0) for x in across]),
        "marks": columns_of(("x", "y", "text"), marks),
        "heads": columns_of(("x", "y", "text"), heads),
    }
