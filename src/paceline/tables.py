"""Tables of plain values, and how numbers are written for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values; the first `keys` columns say what a row is about."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    keys: int = 1


def format_value(value: Any) -> str:
    """Write a number for people: four digits, no more.

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
