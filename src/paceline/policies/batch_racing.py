"""Batch Racing (Jun et al. 2016): APR's elimination with a batch of fixed size."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, whole
from paceline.core.rounds import Round, Verdict
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.elimination import Elimination, check_interval


@dataclass(frozen=True)
class BatchRacing(Policy):
    """Every round has `batch` pulls, dealt to the open arms with the fewest pulls first.

    `limit` is the most pulls of one arm in a round. `deviation` and `sigma` as for `APR`.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.9, 0.5], policy=BatchRacing(batch=32), scaling=PowerLaw(0.5)).correct
    array([ True])
    """

    batch: int = 64
    deviation: float = 1.0
    limit: int | None = None
    sigma: float | None = None

    name = "batch-racing"
    goal = "confidence"
    learns_sigma = True
    finds_top = True
    takes_tolerance = True

    def __post_init__(self) -> None:
        whole(self.batch, "batch")
        check_interval(self.deviation, self.sigma)
        if self.limit is not None:
            whole(self.limit, "limit")

    def _pacer(self, task: Task) -> Pacer:
        return _BatchRacingPacer(self, task)


class _BatchRacingPacer(Pacer):
    def __init__(self, policy: BatchRacing, task: Task) -> None:
        super().__init__(task)
        self.batch = policy.batch
        self.limit = policy.limit or MOST_PULLS_PER_ARM
        self.elimination = Elimination(task, policy.deviation, policy.sigma)

    def opening(self) -> Round:
        # The order of dealing is random: by index, sorted arms would gain or lose by their place.
        self.alive = self.elimination.alive = self.rng.permutation(self.alive)
        return self._deal()

    def decide(self) -> Round | Verdict:
        verdict = self.elimination.update(self.tally)
        if verdict is not None:
            return verdict
        self.alive = self.elimination.alive
        return self._deal()

    def _deal(self) -> Round:
        arms = self.alive
        each, rest = divmod(min(self.batch, arms.size * self.limit), arms.size)
        if rest == 0:
            return Round(arms, np.full(arms.size, each, dtype=np.int64))
        # The open arms' pulls never differ by more than one, so one pass deals fairly.
        order = arms[np.argsort(self.tally.pulls[arms], kind="stable")]
        if each == 0:
            return Round(order[:rest], np.ones(rest, dtype=np.int64))
        return Round(order, each + (np.arange(arms.size) < rest))
