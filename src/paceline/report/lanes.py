"""Which rows of the picture a pull takes: the record says how many cores it had, not which.

Rows are cores, node after node. Pulls are laid, in the order in which they began, where cores are
free: side by side on one node if that is possible, else wherever.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paceline.core.arrays import Floats, Ints

Piece = tuple[int, int, int]  # of a span: its place, its lowest row, and how many rows
_Rows = npt.NDArray[np.bool_]
_ROUNDING = 2e-6  # seconds: times are recorded in millionths


@dataclass(frozen=True)
class Layout:
    """The nodes of a pool, each as a band of rows, and how many cores it has from a time on."""

    first_rows: tuple[int, ...]
    rows: int
    periods: tuple[tuple[float, tuple[int, ...]], ...]


def layout_of(periods: Sequence[tuple[float, tuple[int, ...]]]) -> Layout:
    """Bands that have room for each node when it is largest.

    >>> layout_of([(0.0, (4, 2)), (9.0, (4, 0, 8))])
    Layout(first_rows=(0, 4, 6), rows=14, periods=((0.0, (4, 2)), (9.0, (4, 0, 8))))
    """
    count = max((len(nodes) for _, nodes in periods), default=0)
    largest = [max(_size(nodes, node) for _, nodes in periods) for node in range(count)]
    ends = np.cumsum([0, *largest]).tolist()
    return Layout(tuple(ends[:-1]), ends[-1], tuple(periods))


def _size(nodes: Sequence[int], node: int) -> int:
    return nodes[node] if node < len(nodes) else 0


def laid_out(layout: Layout, start: Floats, end: Floats, cores: Ints) -> list[Piece]:
    """The rows of each span, in one piece if possible."""
    pieces: list[Piece] = []
    if not layout.rows:
        return pieces
    free_at = np.full(layout.rows, -np.inf)
    periods = list(layout.periods)
    is_there = np.zeros(layout.rows, dtype=bool)
    starts: dict[int, _Rows] = {}  # by cores: rows at which so many begin within one node
    for place in np.argsort(start, kind="stable").tolist():
        begin, finish, wanted = float(start[place]), float(end[place]), int(cores[place])
        while periods and periods[0][0] <= begin + _ROUNDING:
            is_there = _there(layout, periods.pop(0)[1])
            starts.clear()
        if wanted not in starts:
            starts[wanted] = _starts(layout, is_there, wanted)
        for first, many in _rows(free_at, begin + _ROUNDING, is_there, starts[wanted], wanted):
            free_at[first : first + many] = finish
            pieces.append((place, first, many))
    return pieces


def _there(layout: Layout, nodes: Sequence[int]) -> _Rows:
    there = np.zeros(layout.rows, dtype=bool)
    for node, first in enumerate(layout.first_rows):
        there[first : first + _size(nodes, node)] = True
    return there


def _starts(layout: Layout, is_there: _Rows, wanted: int) -> _Rows:
    ends = [*layout.first_rows[1:], layout.rows]
    starts = np.zeros(layout.rows, dtype=bool)
    for first, end in zip(layout.first_rows, ends, strict=True):
        size = int(is_there[first:end].sum())
        starts[first : first + max(size - wanted + 1, 0)] = True
    return starts


def _rows(
    free_at: Floats, now: float, is_there: _Rows, starts: _Rows, wanted: int
) -> list[tuple[int, int]]:
    """Free rows, as runs: where each begins, and how long it is."""
    free = (free_at <= now) & is_there
    if wanted > 1:
        taken = np.cumsum(np.r_[0, ~free])
        ahead = np.minimum(np.arange(free.size) + wanted, free.size)
        fits = starts & (taken[ahead] == taken[:-1])
    else:
        fits = free
    first = int(np.argmax(fits)) if fits.size else 0
    if fits.size and fits[first]:
        return [(first, wanted)]
    chosen = np.flatnonzero(free)[:wanted]
    if chosen.size < wanted:  # clocks of nodes differ: rows that end first
        chosen = np.sort(np.argsort(np.where(is_there, free_at, np.inf), kind="stable")[:wanted])
    breaks = np.flatnonzero(np.diff(chosen) > 1) + 1
    return [(int(run[0]), int(run.size)) for run in np.split(chosen, breaks) if run.size]
