"""How a race went: intervals narrow until arms fall, and few are left."""

import math
from typing import Any, NamedTuple

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.statistics import mean_of
from paceline.core.tally import Tally
from paceline.core.words import count
from paceline.plots.drawing import (
    COLOURS,
    GREY,
    TOO_LARGE,
    Axes,
    legend_above,
    name,
    note,
    nothing_yet,
    tidy,
    time_axis,
)
from paceline.plots.standings import span
from paceline.story.story import Story

MOST_ARMS = 5  # with a colour
_MOST_BANDS = 3  # of them with an interval: more would only cover each other
_MOST_LINES = 60  # of others
_MOMENTS = 160


class Course(NamedTuple):
    """What was known of an arm at some moments."""

    at: Floats
    means: Floats
    low: Floats
    high: Floats


def draw(ax: Axes, story: Story, most: int = MOST_ARMS) -> Axes:
    """The best arms with their intervals, the others as grey lines that end where they fell."""
    sums = _Sums(story)
    arms = [record.index for record in story.standing.ranked() if sums.known(record.index)]
    if not arms:
        return nothing_yet(ax, "no values")
    few, rest = arms[: max(most, 1)], arms[max(most, 1) :]
    places = np.unique(np.linspace(0, max(len(rest) - 1, 0), _MOST_LINES).astype(int)).tolist()
    others = [rest[place] for place in places] if rest else []  # from the best to the worst
    courses, lines = [sums.course(arm) for arm in few], [sums.course(arm) for arm in others]
    low, high = _height(courses, lines)
    if not math.isfinite(high - low):
        return nothing_yet(ax, TOO_LARGE)
    unit = time_axis(ax, story.standing.elapsed)
    falls = story.milestones.falls
    _draw_others(ax, lines, [arm in falls for arm in others], unit)
    handles = [
        _draw_arm(ax, rank, course, high - low, unit, fell=arm in falls)
        for rank, (arm, course) in enumerate(zip(few, courses, strict=True))
    ]
    ax.set_xlim(0, max(story.standing.elapsed, 1e-9) / unit)
    ax.set_ylim(low, high)
    ax.set_ylabel("mean")
    tidy(ax)
    legend_above(ax, handles, [name(story.standing.arms[arm].label) for arm in few])
    _draw_survivors(ax, story, unit)
    drawn = f"{len(few) + len(others)} of {count(len(arms), 'arm')}"
    remarks = [drawn] if len(others) < len(rest) else []
    note(ax, "; ".join([*remarks, "a cross: out"] if falls else remarks))
    return ax


class _Sums:
    """The values of all arms by the time at which they came, summed up."""

    def __init__(self, story: Story) -> None:
        self.story = story
        values = story.values
        order = np.lexsort((values.at, values.arm))
        self.at, self.value = values.at[order], values.value[order]
        arms = np.arange(len(story.standing.arms) + 1)
        self.begins: Ints = np.searchsorted(values.arm[order], arms)

    def known(self, arm: int) -> bool:
        """Whether an arm has a value."""
        return bool(self.begins[arm] < self.begins[arm + 1])

    def course(self, arm: int) -> Course:
        """The mean and the interval of an arm from its first value until it fell."""
        own = slice(int(self.begins[arm]), int(self.begins[arm + 1]))
        at, value = self.at[own], self.value[own]
        end = self.story.milestones.falls.get(arm, self.story.standing.elapsed)
        end = max(end, float(at[0]))
        even = np.linspace(at[0], end, _MOMENTS)
        moments = np.unique(np.r_[even, at[: _MOMENTS // 4]])  # the first values change most
        moments = moments[moments <= end]
        known = np.searchsorted(at, moments, side="right")
        # Around the mean, so that the sum of squares keeps its digits.
        middle = mean_of(value)
        share = self.story.level / len(self.story.standing.arms)
        with np.errstate(all="ignore"):  # values near the largest floats
            sums, squares = np.cumsum(value - middle), np.cumsum((value - middle) ** 2)
            total = sums[known - 1]
            spreads = np.maximum(squares[known - 1] - total**2 / known, 0.0)
            tally = Tally(known, total + known * middle, np.zeros(known.size), spreads)
            low, high = self.story.noise.intervals(tally, share)
        return Course(moments, middle + total / known, low, high)


def _draw_arm(
    ax: Axes, rank: int, course: Course, height: float, unit: float, *, fell: bool
) -> Any:
    """One of the best; return its line."""
    colour, at = COLOURS[rank % len(COLOURS)], course.at / unit
    if rank < _MOST_BANDS:
        narrow = course.high - course.low < height  # intervals of the first values would fill it
        style: dict[str, Any] = {"color": colour, "zorder": 10 - rank, "linewidth": 0}
        ax.fill_between(at, course.low, course.high, where=narrow, alpha=0.2, **style)
    width = 2.4 if rank == 0 else 1.5
    (line,) = ax.plot(at, course.means, color=colour, linewidth=width, zorder=20 - rank)
    if fell:
        ax.plot(at[-1:], course.means[-1:], "X", color=colour, markersize=7, zorder=30)
    return line


def _draw_others(ax: Axes, courses: list[Course], fallen: list[bool], unit: float) -> None:
    from matplotlib.collections import LineCollection

    if not courses:
        return
    lines = [np.column_stack([one.at / unit, one.means]) for one in courses]
    strength = 0.6 if len(lines) < 30 else 0.35
    ax.add_collection(LineCollection(lines, colors=GREY, linewidths=0.8, alpha=strength, zorder=1))
    ends = np.array([line[-1] for line in lines])[fallen]
    ax.plot(*ends.T, "x", color=GREY, markersize=4, alpha=min(2 * strength, 1.0), zorder=2)


def _height(courses: list[Course], others: list[Course]) -> tuple[float, float]:
    """Enough for the final intervals, and the better half of the others.

    The intervals of the first values may be far wider.
    """
    means = np.concatenate([one.means[one.means.size // 3 :] for one in courses])
    means = np.r_[means, [one.means[-1] for one in others[: len(others) // 2]]]
    late = [one.at.size // 2 for one in courses]
    low = np.concatenate([one.low[at:] for one, at in zip(courses, late, strict=True)])
    high = np.concatenate([one.high[at:] for one, at in zip(courses, late, strict=True)])
    return span(means, low, high)


def _draw_survivors(ax: Axes, story: Story, unit: float) -> None:
    """How many arms are still in, on an axis of its own."""
    falls = np.sort(np.array(list(story.milestones.falls.values())))
    if not falls.size:
        return
    total = len(story.standing.arms)
    other = ax.twinx()
    at = np.r_[0.0, falls, max(story.standing.elapsed, falls[-1])] / unit
    left = np.r_[total, total - 1 - np.arange(falls.size), total - falls.size]
    other.step(at, left, where="post", color=GREY, linestyle="--", linewidth=1.2)
    other.set_ylabel("arms still in (dashed)", color=GREY)
    other.tick_params(axis="y", colors=GREY)
    if total > 100:
        other.set_yscale("log")
        other.set_ylim(0.9, total * 1.1)
    else:
        other.set_ylim(0, total * 1.05)
        other.yaxis.get_major_locator().set_params(integer=True)
    for side in ("top", "left"):
        other.spines[side].set_visible(False)
    other.spines["right"].set_color(GREY)
    ax.set_zorder(other.get_zorder() + 1)  # the arms are in front
    ax.patch.set_visible(False)
