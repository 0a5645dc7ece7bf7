"""Summaries of repeated measurements."""

import math

import numpy as np

from paceline.core.arrays import Floats

# Times that differ only by rounding have no spread worth a number.
_ROUNDING = 1e-9


def standard_error(values: Floats) -> float:
    """The standard error of the mean of `values`; NaN for fewer than two.

    >>> standard_error(np.array([1.0, 2.0, 3.0, 2.0])), standard_error(np.full(9, 0.1))
    (0.408248290463863, 0.0)
    """
    if values.size < 2:
        return math.nan
    error = float(np.std(values, ddof=1) / math.sqrt(values.size))
    return error if error > _ROUNDING * abs(float(np.mean(values))) else 0.0


def mean_of(values: Floats) -> float:
    """The mean of some values; it is finite, also if their sum is not.

    >>> mean_of(np.array([1.0, 2.0])), mean_of(np.array([1.5e308, 1.5e308, 0.0]))
    (1.5, 1e+308)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        if math.isfinite(mean):
            return mean
        return float(np.clip((values / values.size).sum(), values.min(), values.max()))
