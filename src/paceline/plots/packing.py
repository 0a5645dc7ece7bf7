"""On which cores pulls may have run: a place for each, so that none overlap."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Floats, Ints


class Piece(NamedTuple):
    """`cores` neighbouring cores from `bottom` on that a span had; some spans have several."""

    span: int
    bottom: int
    cores: int


def pack(start: Floats, end: Floats, cores: Ints, nodes: Sequence[int]) -> list[Piece]:
    """Give each span the lowest free cores when it starts: within one node, side by side if it can.

    Times were measured in several processes. So if there is no room, a span has the cores that are
    free next.

    >>> start, end = np.array([0.0, 0.0, 1.0]), np.array([2.0, 1.0, 3.0])
    >>> pack(start, end, np.array([1, 1, 1]), nodes=(2,))
    [Piece(span=0, bottom=0, cores=1), Piece(span=1, bottom=1, ...), Piece(span=2, bottom=1, ...)]
    >>> [piece.bottom for piece in pack(start, end, np.array([2, 2, 2]), nodes=(3, 3))]
    [0, 3, 3]
    """
    node = np.repeat(np.arange(len(nodes)), nodes)
    free_at = np.full(node.size, -np.inf)
    slack = 1e-6 + 0.02 * float(np.median(end - start)) if start.size else 0.0
    pieces = []
    for one in np.argsort(start, kind="stable").tolist():
        wanted = min(int(cores[one]), node.size)
        found = _choose(free_at, node, float(start[one]) + slack, wanted)
        free_at[found] = end[one]
        breaks = np.flatnonzero(np.diff(found) != 1) + 1
        pieces += [Piece(one, int(run[0]), run.size) for run in np.split(found, breaks)]
    return pieces


def _choose(free_at: Floats, node: Ints, now: float, wanted: int) -> Ints:
    free = np.flatnonzero(free_at <= now)
    if free.size < wanted:
        return np.sort(np.argsort(free_at, kind="stable")[:wanted])
    if wanted == 1:
        return free[:1]
    ends = free[wanted - 1 :]
    begins = free[: ends.size]
    beside = np.flatnonzero((ends - begins == wanted - 1) & (node[ends] == node[begins]))
    if beside.size:
        return free[beside[0] : beside[0] + wanted]
    together = np.flatnonzero(np.bincount(node[free], minlength=int(node[-1]) + 1) >= wanted)
    some = free[node[free] == together[0]] if together.size else free
    return some[:wanted]
