"""How many cores the next pull gets when some are in use: pure, so that it can be tested."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paceline.core.pool import CorePool

# A pull that has taken this many times its expected seconds is no longer waited for.
OVERDUE = 1.5


class RunningJob(NamedTuple):
    """A job under way: its cores, the seconds it was expected to take and has taken, its node."""

    cores: int
    expected: float
    elapsed: float
    node: int = 0

    @property
    def left(self) -> float:
        """The seconds until its cores are free, as far as one can tell."""
        if self.elapsed > OVERDUE * self.expected:
            return math.inf
        return max(self.expected - self.elapsed, 0.1 * self.expected)


class Allocator:
    """Gives each pull the cores that the pool's plan of waves gives it, as soon as they are free.

    >>> allocator = Allocator(CorePool(4, lambda cores: 1 / cores**0.5))
    >>> allocator.next_cores(queued=8, free_on=[1], running=[])
    1
    >>> allocator.next_cores(queued=1, free_on=[4], running=[])
    4
    """

    def __init__(self, pool: CorePool) -> None:
        self.pool = pool
        self._planned: dict[int, int] = {}

    def next_cores(self, queued: int, free_on: Sequence[int], running: Sequence[RunningJob]) -> int:
        """The cores for the next of `queued` pulls, if so many are free on each node.

        0 if it had better wait. It waits for its planned cores if, in spite of the wait, it would
        be done sooner on them than on those that are free now.
        """
        planned, free = self.planned(queued), max(free_on)
        if planned <= free or free <= 0:
            return planned if free > 0 else 0
        seconds = self.pool.runtime_seconds
        least = 1 + int(np.argmax(np.isfinite(seconds)))
        at_once = min(max(free // min(queued, free), least), free)
        wait, freed = math.inf, [*free_on]
        for job in sorted(running, key=lambda job: job.left):
            freed[job.node] += job.cores
            if freed[job.node] >= planned:
                wait = job.left
                break
        sooner = float(seconds[at_once - 1]) <= wait + float(seconds[planned - 1])
        return at_once if sooner and math.isfinite(seconds[at_once - 1]) else 0

    def planned(self, queued: int) -> int:
        """The cores of a pull in the first wave, if the whole pool were free."""
        many = min(queued, 4 * self.pool.cores)  # beyond that only more of the same waves follow
        if many not in self._planned:
            self._planned[many] = self.pool.waves(many)[0].cores
        return self._planned[many]
