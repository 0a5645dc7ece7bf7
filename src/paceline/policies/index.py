"""Sequential index policies: one pull at a time, on the whole pool, of the arm with the top index.

Shared by UCB-E and lil'UCB. Only the pulled arm's index changes, so a heap finds the next.
"""

import heapq
from abc import abstractmethod

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.rounds import Round, Verdict
from paceline.policies.base import Pacer

_ONE: Ints = np.ones(1, dtype=np.int64)
_WHOLE_POOL = 1.0


class IndexPacer(Pacer):
    """Pull every arm once, in random order, then always the one with the highest index."""

    _heap: list[tuple[float, int]] | None = None

    @abstractmethod
    def index(self, mean: float, pulls: int) -> float:
        """How much an arm with that mean after so many pulls deserves the next one."""

    def finished(self, arm: int, pulls: int) -> Verdict | None:
        """The verdict, if the last pull of `arm` (it has `pulls` now) settled the race."""
        return None

    def opening(self) -> Round:
        """Every arm once, one after the other."""
        order = self.rng.permutation(self.alive)
        return Round(order, np.ones(order.size, dtype=np.int64), _WHOLE_POOL)

    def decide(self) -> Round | Verdict:
        """Re-rank the arm just pulled, and take the top of the heap."""
        if self._heap is None:
            means = self.tally.means(self.alive).tolist()
            self._heap = [(-self.index(mean, 1), arm) for arm, mean in enumerate(means)]
            heapq.heapify(self._heap)
        else:
            arm = self._heap[0][1]
            pulls = int(self.tally.pulls[arm])
            verdict = self.finished(arm, pulls)
            if verdict is not None:
                return verdict
            mean = float(self.tally.sums[arm]) / pulls
            heapq.heapreplace(self._heap, (-self.index(mean, pulls), arm))
        return Round(np.array([self._heap[0][1]]), _ONE, _WHOLE_POOL)
