"""The race over time: how many arms are in, and how the interval of each narrows until it falls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.tally import Tally
from paceline.durations import say_seconds
from paceline.report.colours import FALLEN
from paceline.report.columns import Columns, rounded
from paceline.report.markup import Markup, label, table
from paceline.report.scale import scale_of
from paceline.story.numbers import format_value
from paceline.story.story import Story

_MOMENTS = 60  # at which intervals are computed
_MOST_POINTS = 24_000  # of all paths together
_MOST_BANDS = 10  # intervals that are drawn; more would cover each other
_MOST_ROUNDS = 60  # that are marked
_TABLE_ROWS = 24
LEAST_ARMS = 0.8  # where the axis of arms begins: a logarithmic one has no 0


@dataclass(frozen=True, eq=False)
class Course:
    """Means and intervals of all arms (columns) at some moments (rows); NaN before a first pull."""

    story: Story
    moments: Floats
    pulls: Ints
    means: Floats
    low: Floats
    high: Floats

    @cached_property
    def falls(self) -> Floats:
        """When each arm fell; ∞ if it did not."""
        falls = np.full(self.pulls.shape[1], np.inf)
        for arm, at in self.story.milestones.falls.items():
            if self.story.standing.arms[arm].status in ("out", "failed"):
                falls[arm] = at
        return falls


def course_of(story: Story) -> Course:
    """Replay the values of a race."""
    moments, arms = _moments(story), len(story.standing.arms)
    with np.errstate(all="ignore"):  # values near the largest floats: nothing is said then
        pulls, means, spreads = _replayed(story, moments, arms)
        low, high = np.full_like(means, -np.inf), np.full_like(means, np.inf)
        for row in range(moments.size):
            sums = np.where(pulls[row] > 0, means[row] * pulls[row], 0.0)
            tally = Tally(pulls[row], sums, np.zeros(arms), spreads[row])
            low[row], high[row] = story.noise.intervals(tally, story.level / arms)
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    return Course(story, moments, pulls, means, low, high)


def _replayed(story: Story, moments: Floats, arms: int) -> tuple[Ints, Floats, Floats]:
    """The pulls, means and spreads of all arms by each moment."""
    values, many = story.values, moments.size
    # Around each arm's own mean, so that squares of large values do not drown their spread.
    totals = np.bincount(values.arm, values.value, arms)
    centre = totals / np.maximum(np.bincount(values.arm, minlength=arms), 1)
    place = np.minimum(np.searchsorted(moments, values.at), many - 1) * arms + values.arm
    apart = values.value - centre[values.arm]

    def summed(weights: Floats | None) -> Floats:
        each = np.bincount(place, weights, many * arms).reshape(many, arms)
        return np.asarray(np.cumsum(each, axis=0), dtype=np.float64)

    pulls, firsts, squares = summed(None).astype(np.int64), summed(apart), summed(apart**2)
    known = np.maximum(pulls, 1)
    means = np.where(pulls > 0, centre + firsts / known, np.nan)
    return pulls, means, np.maximum(squares - firsts**2 / known, 0.0)


def _moments(story: Story) -> Floats:
    """Half of them evenly in time, half evenly in pulls, since much happens early; falls, too."""
    ends, elapsed = np.sort(story.values.at), story.standing.elapsed
    by_time = np.linspace(0, elapsed, _MOMENTS // 2 + 1)[1:]
    by_pulls = ends[np.linspace(0, ends.size - 1, _MOMENTS // 2).astype(int)] if ends.size else []
    return np.unique(np.r_[by_time, by_pulls, elapsed])


def sources(course: Course, colours: Sequence[int]) -> dict[str, Columns]:
    """What the charts draw."""
    story = course.story
    elapsed, scale = story.standing.elapsed, scale_of(story.standing.arms)
    width = scale[1] - scale[0]
    order = [record.index for record in reversed(story.standing.ranked())]  # the best on top
    is_out = np.isfinite(course.falls)
    most = max(8, min(_MOMENTS, _MOST_POINTS // max(len(order), 1)))
    paths: Columns = {"xs": [], "ys": [], "arm": [], "color": []}
    bands: Columns = {"xs": [], "ys": [], "arm": [], "color": [], "alpha": []}
    leaders = set(order[-_MOST_BANDS:])
    for arm in order:
        rows = _rows_of(course, arm, most)
        if not rows.size:
            continue
        color = FALLEN if is_out[arm] else colours[arm]
        times = rounded(np.minimum(course.moments[rows], course.falls[arm]), elapsed)
        means = rounded(np.clip(course.means[rows, arm], *scale), width)
        _add(paths, xs=times, ys=means, arm=arm, color=color)
        if arm in leaders:
            low = rounded(np.clip(course.low[rows, arm], *scale), width)
            high = rounded(np.clip(course.high[rows, arm], *scale), width)
            alpha = 0.08 if is_out[arm] else 0.18
            xs, ys = times + times[::-1], low + high[::-1]
            _add(bands, xs=xs, ys=ys, arm=arm, color=color, alpha=alpha)
    ends = {arm: ys[-1] for arm, ys in zip(paths["arm"], paths["ys"], strict=True)}
    fell = [arm for arm in ends if is_out[arm]]
    rounds = story.milestones.rounds
    return {
        "paths": paths,
        "bands": bands,
        "falls": {
            "x": rounded(course.falls[fell], elapsed),
            "y": [ends[arm] for arm in fell],
            "arm": fell,
        },
        "survivors": _survivors(course),
        "rounds": {"x": rounded(rounds if len(rounds) <= _MOST_ROUNDS else (), elapsed)},
    }


def _rows_of(course: Course, arm: int, most: int) -> Ints:
    """The moments at which an arm's path has a point: until it fell, and where it had pulls."""
    is_known = np.isfinite(course.means[:, arm])
    has_more = (np.diff(course.pulls[:, arm], prepend=0) > 0) & is_known
    before = np.r_[-np.inf, course.moments[:-1]] < course.falls[arm]
    rows = np.flatnonzero(has_more & before)
    stays = np.flatnonzero(before & is_known)
    rows = np.union1d(rows, stays[-1:])  # an interval that no longer narrows is still there
    if rows.size > most:
        rows = rows[np.unique(np.linspace(0, rows.size - 1, most).astype(int))]
    return rows.astype(np.int64)


def _add(columns: Columns, **row: Any) -> None:
    for name, value in row.items():
        columns[name].append(value)


def _survivors(course: Course) -> Columns:
    """A point before and after each fall, so that a line through them is a staircase."""
    elapsed, arms = course.story.standing.elapsed, course.falls.size
    falls, counts = np.unique(course.falls[np.isfinite(course.falls)], return_counts=True)
    left = arms - np.cumsum(counts)
    before = np.r_[arms, left[:-1]] if falls.size else left
    times = np.r_[0.0, np.repeat(falls, 2), elapsed]
    numbers = np.r_[arms, np.column_stack([before, left]).ravel(), left[-1] if left.size else arms]
    counted = [int(one) for one in numbers]
    heights = [max(one, LEAST_ARMS) for one in counted]
    return {"x": rounded(times, elapsed), "y": heights, "arms": counted}


def course_table(course: Course) -> Markup:
    """The same in numbers: who was ahead, and how many were left."""
    rows = np.unique(np.linspace(0, course.moments.size - 1, _TABLE_ROWS).astype(int))
    lines = []
    for row in rows.tolist():
        at = float(course.moments[row])
        line = [say_seconds(at), f"{int(course.pulls[row].sum()):,}"]
        line += [f"{int(np.sum(course.falls > at)):,}", *_ahead(course, row, at)]
        lines.append(line)
    return table(("At", "Pulls", "Arms in", "Ahead", "Mean", "from", "to"), lines, words=(3,))


def _ahead(course: Course, row: int, at: float) -> list[str]:
    """The arm with the best mean of those that were in, and its interval."""
    story, means = course.story, course.means[row]
    known = np.flatnonzero((course.falls > at) & np.isfinite(means))
    if not known.size:
        return ["–"] * 4
    pick = np.argmin if story.standing.minimize else np.argmax
    arm = int(known[pick(means[known])])
    numbers = (float(one[row, arm]) for one in (course.means, course.low, course.high))
    said = [format_value(one) if math.isfinite(one) else "–" for one in numbers]
    return [label(story.standing.arms[arm].label), *said]
