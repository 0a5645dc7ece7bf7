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
