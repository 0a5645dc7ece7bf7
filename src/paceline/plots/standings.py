"""The arms by their means, with intervals: the best on top."""

import math
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.words import count
from paceline.plots.drawing import (
    COLOURS,
    FAILED,
    GREY,
    TOO_LARGE,
    Axes,
    foreground,
    names_of,
    note,
    nothing_yet,
    plain,
    tidy,
)
from paceline.story.standing import ArmRecord
from paceline.story.story import Story

MOST_ARMS = 30


def draw(ax: Axes, story: Story, most: int = MOST_ARMS) -> Axes:
    """A row per arm, the best on top: its mean, its interval, and how often it was pulled."""
    arms = story.standing.ranked()
    few = arms[: max(most, 1)]
    if not any(math.isfinite(record.mean) for record in few):
        return nothing_yet(ax, "no values")
    low, high = limits(few)
    if not math.isfinite(high - low):
        return nothing_yet(ax, TOO_LARGE)
    for row, record in enumerate(few):
        _draw_arm(ax, row, record, low, high)
    ax.set_xlim(low, high)
    ax.set_ylim(len(few) - 0.4, -0.6)
    ax.set_yticks(range(len(few)), names_of(few))
    for tick, record in zip(ax.get_yticklabels(), few, strict=True):
        tick.set_color(GREY if record.status in ("out", "failed") else foreground())
        tick.set_fontweight("bold" if record.status == "best" else "normal")
    ax.tick_params(axis="y", length=0)
    together = "all arms together" if len(arms) > 1 else "the arm"
    sure = plain(f"{100 * (1 - story.level):.4g} %")
    ax.set_xlabel(f"mean, with {sure} intervals for {together}")
    ax.margins(y=0)
    tidy(ax)
    ax.spines["left"].set_visible(False)
    _write_pulls(ax, few)
    if len(arms) > len(few):
        note(ax, f"the best {len(few)} of {count(len(arms), 'arm')}")
    return ax


def limits(arms: Sequence[ArmRecord]) -> tuple[float, float]:
    """How much of the axis to show: all means, and as much of the intervals as leaves them apart.

    The interval of an arm with two values may be a thousand times as wide as all others.

    >>> wide = ArmRecord(0, "a", 1.0, -900.0, 900.0, 2, "out", 1.0)
    >>> narrow = ArmRecord(1, "b", 2.0, 1.5, 2.5, 50, "best", 1.0)
    >>> low, high = limits([wide, narrow])
    >>> low > -2, high < 5
    (True, True)
    """
    known = [record for record in arms if math.isfinite(record.mean)]
    return span(*np.array([(one.mean, one.low, one.high) for one in known]).T)


def span(means: Floats, lows: Floats, highs: Floats) -> tuple[float, float]:
    """The same for any means and intervals; without an end, or NaN, if they are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _span(means, lows, highs)


def _span(means: Floats, lows: Floats, highs: Floats) -> tuple[float, float]:
    halves = (highs - lows)[np.isfinite(highs - lows)] / 2
    narrow = float(np.quantile(halves, 0.25, method="lower")) if halves.size else 0.0
    room = 1.2 * max(float(np.ptp(means)), narrow, 1e-9 * float(np.abs(means).max()))
    room = room or 1.0  # all means are 0, and nothing is known about them
    lows, highs = lows[np.isfinite(lows)], highs[np.isfinite(highs)]
    low = max(min([means.min(), *lows]), means.min() - room)
    high = min(max([means.max(), *highs]), means.max() + room)
    edge = 0.04 * ((high - low) or 2 * room)
    return float(low - edge), float(high + edge)


def _draw_arm(ax: Axes, row: int, record: ArmRecord, low: float, high: float) -> None:
    colour = {"best": COLOURS[0], "in": foreground(), "out": GREY, "failed": FAILED}[record.status]
    if not math.isfinite(record.mean):
        words = "failed" if record.status == "failed" else "no values"
        ax.text(low, row, f" {words}", color=colour, va="center", fontsize="small")
        return
    left, right = max(record.low, low), min(record.high, high)
    width = 2.6 if record.status == "best" else 1.6
    ax.plot([left, right], [row, row], color=colour, linewidth=width, solid_capstyle="butt")
    for end, edge, sign in ((record.low, low, "<"), (record.high, high, ">")):
        if (end < edge) if sign == "<" else (end > edge):  # it goes on
            ax.plot([edge], [row], sign, color=colour, markersize=5, clip_on=False)
    marker = "X" if record.status == "failed" else "o"
    ax.plot([record.mean], [row], marker, color=colour, markersize=6)


def _write_pulls(ax: Axes, arms: Sequence[ArmRecord]) -> None:
    """The number of pulls of each arm, at the right."""
    style = {"ha": "left", "va": "center", "fontsize": "x-small", "color": GREY}
    place = {"xytext": (8, 0), "textcoords": "offset points", "annotation_clip": False}
    across = ax.get_yaxis_transform()
    for row, record in enumerate(arms):
        ax.annotate(f"{record.pulls:,}", (1.0, row), xycoords=across, **place, **style)
    ax.annotate("pulls", (1.0, -0.9), xycoords=across, **place, **style)
