"""How numbers are written for people."""

import math
from collections.abc import Sequence
from typing import Any

from paceline.story.standing import ArmRecord

_MOST_DECIMALS = 6


def format_value(value: Any) -> str:
    """Write a number for people, with about four digits.

    >>> [format_value(v) for v in (44782.3, 0.123456, 16, "apr", 1.25e9, float("nan"))]
    ['44782', '0.1235', '16', 'apr', '1.25e+09', '–']
    """
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return "–"
    if 1000 <= abs(value) < 1e7:
        return f"{value:.0f}"
    return f"{value:.4g}"


def estimates(arms: Sequence[ArmRecord]) -> list[tuple[str, str]]:
    """Means and intervals, with as many decimals as the intervals deserve.

    All means of a table have the same number of decimals. Each interval has its own, because those
    of arms with few pulls can be very wide.
    """
    halves = [(record.high - record.low) / 2 for record in arms]
    means = max((abs(record.mean) for record in arms if math.isfinite(record.mean)), default=0.0)
    # Two digits of the narrowest interval, and three of a mean whose interval says nothing yet.
    decimals = max([_decimals(means, 3), *(_decimals(half, 2) for half in halves)])
    return [
        (
            _say(record.mean, decimals),
            f"{_say(record.low, own)} … {_say(record.high, own)}" if math.isfinite(half) else "–",
        )
        for record, half in zip(arms, halves, strict=True)
        for own in [_decimals(half, 2)]
    ]


def _decimals(size: float, digits: int) -> int:
    """How many decimals show this many digits of a number of this size."""
    if not math.isfinite(size) or size <= 0:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(size)))


def _say(value: float, decimals: int) -> str:
    if not math.isfinite(value) or decimals > _MOST_DECIMALS or abs(value) >= 1e7:
        return format_value(value)
    return f"{value:.{decimals}f}"
