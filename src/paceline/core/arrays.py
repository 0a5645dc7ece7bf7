"""Array types, and the checks that turn what a user gave into arrays."""

import math
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from paceline.errors import InvalidInput, seen

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

# Beyond this many pulls of one arm a float64 sum of ones is no longer exact.
MOST_PULLS_PER_ARM = 2**53

# Sizes of values whose squares floating-point numbers can still hold and add up.
LEAST_SIZE, LARGEST_SIZE = 1e-145, 1e150


def finite_floats(values: Any, what: str) -> Floats:
    """Turn `values` into a one-dimensional float array, refusing NaN, infinity and other shapes."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} must be numbers, got {seen(values)}") from error
    if array.ndim != 1:
        raise InvalidInput(f"{what} must be a flat list of numbers, got shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        where = int(bad[0])
        raise InvalidInput(
            f"{what} must be finite, but number {where} (counting from 0) is {array[where]}: "
            "remove or repair it"
        )
    return array


def positive(value: float, what: str) -> float:
    """Return `value` as a float if it is a finite number above zero; else raise."""
    number = _number(value, what)
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(f"{what} must be a finite number above 0, got {seen(value)}")
    return number


def non_negative(value: float, what: str) -> float:
    """Return `value` as a float if it is finite and at least zero; else raise."""
    number = _number(value, what)
    if not (math.isfinite(number) and number >= 0):
        raise InvalidInput(f"{what} must be a finite number of at least 0, got {seen(value)}")
    return number


def squarable(value: float, what: str, *, least: float = LEAST_SIZE) -> float:
    """Return `value` if it is of a size that can be squared; else raise."""
    if not least <= abs(value) <= LARGEST_SIZE:
        raise InvalidInput(
            f"{what} must lie between {least:g} and {LARGEST_SIZE:g} in size, got {seen(value)}: "
            "scale the values to about 1"
        )
    return value


def whole(value: int, what: str, *, least: int = 1, most: int | None = None) -> int:
    """Return `value` if it is an integer of at least `least` and at most `most`; else raise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInput(f"{what} must be a whole number of at least {least}, got {seen(value)}")
    if most is not None and value > most:
        raise InvalidInput(f"{what} must be at most {most:,}, got {seen(value)}")
    return int(value)


def failure_probability(confidence: float) -> float:
    """Turn a confidence into δ, refusing values outside (0, 1).

    >>> round(failure_probability(0.95), 12)
    0.05
    """
    number = _number(confidence, "confidence")
    if not 0 < number < 1:
        raise InvalidInput(
            f"confidence must lie strictly between 0 and 1, got {seen(confidence)}: "
            "0.95 means at most 5 % error"
        )
    return 1.0 - number


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidInput(f"{what} must be a number, got {seen(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if cast(Any, value) > 0 else -math.inf
