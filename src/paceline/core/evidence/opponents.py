"""Whom each arm is compared with: leading arms, chosen from what was known before."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints

_MOST = 64  # arms in a group
_SIZES: Ints = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, _MOST])
_FEW = 200
_TINY = 1e-300


class Opponents(Protocol):
    """For every arm, some of the others."""

    @property
    def size(self) -> Ints:
        """How many."""

    def total(self, values: Floats) -> Floats:
        """The sum of `values` (one of each arm, or a row) over each arm's opponents."""


@dataclass(frozen=True)
class Group:
    """The first `size` arms of a ranking, without the arm itself.

    `within` says whether an arm would be in its own group: the next one then takes its place.

    >>> ranking = Group(np.array([1, 0, 2]), np.array([1, 1, 2]), np.array([False, True, False]))
    >>> ranking.total(np.array([10.0, 20.0, 30.0]))
    array([20., 10., 30.])
    """

    order: Ints
    size: Ints
    within: Bools

    def total(self, values: Floats) -> Floats:
        """Sums over the ranking, minus the arm's own value."""
        sums = np.cumsum(values[self.order], axis=0)
        found: Floats = sums[self.size - 1 + self.within]
        within = self.within if values.ndim == 1 else self.within[:, None]
        return found - np.where(within, values, 0.0)


@dataclass(frozen=True)
class Rival:
    """One opponent for each arm."""

    index: Ints

    @property
    def size(self) -> Ints:
        """One."""
        return np.ones(self.index.size, dtype=np.int64)

    def total(self, values: Floats) -> Floats:
        """The opponent's own value."""
        return values[self.index]


def leading_group(means: Floats, variances: Floats, pulls: Ints | Floats) -> Group | Rival:
    """The group that is expected to speak loudest against each arm, by earlier values.

    `pulls` are those that each arm will have in the comparison. A larger group varies less, but its
    mean is lower: what counts is the distance in standard deviations.

    >>> leading_group(np.array([0.9, 0.8, 0.1]), np.full(3, 0.2), np.full(3, 10)).size
    array([1, 1, 2])
    """
    if means.size == 2:
        return Rival(np.array([1, 0]))
    order, place = _ranking(means)
    sizes = _SIZES[order.size > _SIZES]
    weight = pulls.astype(np.float64)
    columns = np.array([weight, weight * means, weight * variances])
    sums = np.cumsum(columns[:, order[: sizes[-1] + 1]], axis=1)
    # Arms behind all groups meet the same ones; those in front meet one arm further.
    front = order[: sizes[-1]]
    loudness = np.empty((order.size, sizes.size))
    if order.size > _FEW:
        together, high, noise = sums[:, None, sizes - 1]
        loudness = _loudness(together, high, noise, means, variances / weight)
    else:  # two passes cost more than they save
        front = order
    within = place[front, None] < sizes
    totals = sums[:, sizes - 1 + within] - np.where(within, columns[:, front, None], 0.0)
    together, high, noise = totals
    loudness[front] = _loudness(together, high, noise, means[front], (variances / weight)[front])
    best = np.argmax(loudness, axis=1)
    return Group(order, sizes[best], place < sizes[best])


def _loudness(
    together: Floats, high: Floats, noise: Floats, means: Floats, own_noise: Floats
) -> Floats:
    """By how many standard deviations groups (columns) are expected to be above arms (rows)."""
    apart = high / together - means[:, None]
    loudness: Floats = apart / np.sqrt(np.maximum(own_noise[:, None] + noise / together**2, _TINY))
    return loudness


def leaders(means: Floats, count: int) -> list[Rival]:
    """The `count` best of the others, for each arm, one after the other.

    >>> [rival.index.tolist() for rival in leaders(np.array([0.1, 0.9, 0.5]), count=2)]
    [[1, 2, 1], [2, 0, 0]]
    """
    order, place = _ranking(means)
    return [Rival(order[rank + (place <= rank)]) for rank in range(count)]


def _ranking(means: Floats) -> tuple[Ints, Ints]:
    """The arms, the best first; and each arm's place among them."""
    order = np.argsort(-means, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return order, place
