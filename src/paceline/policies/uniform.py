"""Uniform: the same pulls for every arm, to the end. The others must beat it."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM
from paceline.core.rounds import Round, Verdict
from paceline.errors import InvalidInput, at_least
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.clock import ClockPacer, check_growth
from paceline.policies.elimination import Elimination, check_interval


@dataclass(frozen=True)
class Uniform(Policy):
    """With a deadline, one round of all arms fills it; the best mean is the answer.

    With a confidence, it runs rounds of all arms on APR's clock until the best arm stands clear:
    this is APR without dropping arms. `beta` and `deviation` are for that.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.9, 0.2], policy=Uniform(), scaling=PowerLaw(0.5), deadline=10).pulls
    array([100])
    """

    beta: float = 2.0
    deviation: float = 1.0

    name = "uniform"
    goal = None
    learns_sigma = True

    def __post_init__(self) -> None:
        check_growth(self.beta)
        check_interval(self.deviation)

    def _pacer(self, task: Task) -> Pacer:
        if task.confidence is None:
            return _OneRoundPacer(task)
        elimination = Elimination(task, self.deviation, None)
        return ClockPacer(task, self.beta, elimination, drop=False)


class _OneRoundPacer(Pacer):
    def opening(self) -> Round:
        assert self.task.deadline is not None
        arms = self.task.arms
        per_arm = self.task.scaling.whole_pulls(self.task.deadline) // arms
        if per_arm == 0:
            least = self.task.scaling.seconds(float(arms))
            raise InvalidInput(
                f"deadline {self.task.deadline:g} s is too short for one pull of each of the "
                f"{arms} arms: raise the deadline to at least {at_least(least)} s"
            )
        return Round(self.alive, np.full(arms, min(per_arm, MOST_PULLS_PER_ARM), dtype=np.int64))

    def decide(self) -> Verdict:
        return Verdict(self.ranked(self.alive, self.rng)[:1], decided=True, confidence=None)
