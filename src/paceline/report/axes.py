"""Where the values of a parameter stand on an axis: numbers by size, all else side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.report.markup import shown
from paceline.story.numbers import format_value

_MOST_KINDS = 40  # of words on an axis; more cannot be told apart
_MOST_TICKS = 6
_WIDE = 50.0  # from this ratio on, numbers stand by their logarithms
_LONGEST = 16


@dataclass(frozen=True)
class Axis:
    """Places from 0 to 1: of each arm (NaN if it lacks the parameter), and of marks with words."""

    name: str
    places: tuple[float, ...]
    marks: tuple[tuple[float, str], ...]


def axis_of(name: str, values: Sequence[Any]) -> Axis | None:
    """The axis of a parameter; None if all arms have the same value, or too many different words.

    >>> axis_of("x", [1, 2, 5]).places
    (0.0, 0.25, 1.0)
    >>> axis_of("x", ["1e-3", "1e-1"]).marks
    ((0.0, '0.001'), (1.0, '0.1'))
    >>> axis_of("mode", ["fast", None, "slow"])
    Axis(name='mode', places=(0.0, nan, 1.0), marks=((0.0, 'fast'), (1.0, 'slow')))
    """
    numbers = [number_of(value) for value in values]
    pairs = zip(numbers, values, strict=True)
    if all(number is not None for number, value in pairs if value is not None):
        return _of_numbers(name, [math.nan if one is None else one for one in numbers])
    kinds = list(dict.fromkeys(str(value) for value in values if value is not None))
    if not 1 < len(kinds) <= _MOST_KINDS:
        return None
    place = {kind: one / (len(kinds) - 1) for one, kind in enumerate(kinds)}
    return Axis(
        name,
        tuple(math.nan if value is None else place[str(value)] for value in values),
        tuple((place[kind], chart_text(kind)) for kind in kinds),
    )


def _of_numbers(name: str, numbers: Sequence[float]) -> Axis | None:
    known = np.array([one for one in numbers if math.isfinite(one)])
    if not known.size or known.min() == known.max():
        return None
    distinct = np.unique(known)
    is_log = distinct[0] > 0 and distinct[-1] / distinct[0] >= _WIDE
    low, high = (float(_moved(one, is_log)) for one in (distinct[0], distinct[-1]))
    if not 0 < high - low < math.inf:
        return None

    def place(value: float) -> float:
        at = (_moved(value, is_log) - low) / (high - low) if math.isfinite(value) else math.nan
        return round(at, 5)

    marks = distinct.tolist() if distinct.size <= _MOST_TICKS else _ticks(low, high, is_log)
    within = [(place(mark), format_value(float(mark))) for mark in marks]
    return Axis(
        name, tuple(place(one) for one in numbers), tuple(m for m in within if 0 <= m[0] <= 1)
    )


def _moved(value: float, is_log: bool) -> float:
    return math.log10(value) if is_log else value


def _ticks(low: float, high: float, is_log: bool) -> list[float]:
    if is_log and high - low >= 2:
        each = math.ceil((high - low) / _MOST_TICKS)
        return [10.0**power for power in range(math.ceil(low), math.floor(high) + 1, each)]
    if is_log:
        return [float(f"{10**one:.2g}") for one in np.linspace(low, high, 4)]
    ideal = (high - low) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(ideal))
    step = next(size * power for size in (1.0, 2.0, 5.0, 10.0) if size * power >= ideal)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{one * step:.6g}") for one in range(first, last + 1)]


def number_of(value: Any) -> float | None:
    """The number that a parameter is, or that it is written as; None for all else.

    >>> number_of("1e-3"), number_of(True), number_of("adam")
    (0.001, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def chart_text(text: str, most: int = _LONGEST) -> str:
    r"""A name inside a chart: short, and never taken for a formula, which Bokeh would typeset.

    >>> chart_text("$$x$$") == "$$x$$"
    False
    """
    said = shown(text, most)
    for mark in ("$$", "\\(", "\\["):
        said = said.replace(mark, f"{mark[0]}\u2060{mark[1]}")
    return said
