"""Columns of numbers for charts: rounded to what a screen can show."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paceline.core.arrays import Floats

Columns = dict[str, list[Any]]

_DIGITS = 5  # of the width of a chart: zoomed in a hundred times, a pixel is still a pixel


def rounded(values: Any, width: float) -> list[float]:
    """Numbers of a chart that is so wide.

    >>> rounded([1.23456789, 20.0], width=20.0)
    [1.235, 20.0]
    """
    numbers: Floats = np.asarray(values, dtype=np.float64)
    if not (math.isfinite(width) and width > 0):
        return [float(one) for one in numbers]
    decimals = _DIGITS - 1 - math.floor(math.log10(width))
    if abs(decimals) > 300:
        return [float(one) for one in numbers]
    return [float(one) for one in np.round(numbers, decimals)]


def columns_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    """Rows as columns, also if there are none.

    >>> columns_of(("x", "y"), [(1, 2), (3, 4)]), columns_of(("x", "y"), [])
    ({'x': [1, 3], 'y': [2, 4]}, {'x': [], 'y': []})
    """
    whole = list(rows)
    return {name: [row[place] for row in whole] for place, name in enumerate(names)}
