"""Sequential index policies: one pull at a time, on the whole pool, of the arm with the top index.

UCB-E and lil'UCB share this. Only the pulled arm's index changes, so a heap finds the next.
"""

import heapq
from abc import abstractmethod

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.rounds import NO_ARMS, Round, Shares, Verdict
from paceline.policies.base import Pacer

_ONE: Ints = np.ones(1, dtype=np.int64)
_WHOLE_POOL = Shares(1.0)


class IndexPacer(Pacer):
    """Pull every arm once, in random order, then always the one with the highest index."""

    @abstractmethod
    def index(self, mean: float, pulls: int) -> float:
        """How much an arm with this mean after `pulls` pulls deserves the next one."""

    def finished(self, arm: int, pulls: int) -> Verdict | None:
        """The verdict, if the last pull of `arm` (it has `pulls` now) settled the race."""
        return None

    def ahead(self) -> Ints:
        """None: which arm comes next depends on the pull under way, which has the whole pool."""
        return NO_ARMS

    def opening(self) -> Round:
        """The first arm of a random order."""
        self._untried: list[int] = self.rng.permutation(self.alive).tolist()
        # Equal indices are common, for example after one pull of 0 or 1; a lot breaks the tie.
        self._lots: list[int] = self.rng.permutation(self.alive).tolist()
        self._ranking: list[tuple[float, int, int]] = []  # a heap of all but the arm being pulled
        return self._pull(self._untried.pop())

    def decide(self) -> Round | Verdict:
        """Rank the arm just pulled; then pull the next untried one, or the top of the ranking."""
        arm = self._under_way
        pulls = int(self.tally.pulls[arm])
        verdict = None if self._untried else self.finished(arm, pulls)
        if verdict is not None:
            return verdict
        mean = float(self.tally.sums[arm]) / pulls
        entry = (-self.index(mean, pulls), self._lots[arm], arm)
        if self._untried:
            heapq.heappush(self._ranking, entry)
            return self._pull(self._untried.pop())
        return self._pull(heapq.heappushpop(self._ranking, entry)[2])

    def _pull(self, arm: int) -> Round:
        self._under_way = arm
        return Round(np.array([arm]), _ONE, _WHOLE_POOL)
