"""lil'UCB (Jamieson, Malloy, Nowak and Bubeck 2014): sequential, one pull at a time."""

import math
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import positive
from paceline.core.rounds import Verdict
from paceline.errors import InvalidInput
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.index import IndexPacer


@dataclass(frozen=True)
class LilUCB(Policy):
    """Pull the highest upper bound until one arm has far more pulls than all others together.

    The defaults are the ones its theorem is stated for; δ is divided so that its guarantee,
    4√(cδ) + 4cδ, comes to the error asked for.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.95, 0.05], policy=LilUCB(), scaling=PowerLaw(0.5), confidence=0.9).index
    array([0])
    """

    epsilon: float = 0.01
    beta: float = 1.0

    name = "lil-ucb"
    goal = "confidence"

    def __post_init__(self) -> None:
        if not 0 < positive(self.epsilon, "epsilon") < 1:
            raise InvalidInput(f"epsilon of lil-ucb must lie in (0, 1), got {self.epsilon!r}")
        positive(self.beta, "beta")

    def _pacer(self, task: Task) -> Pacer:
        return _LilUCBPacer(self, task)


class _LilUCBPacer(IndexPacer):
    def __init__(self, policy: LilUCB, task: Task) -> None:
        epsilon, beta = policy.epsilon, policy.beta
        c = (2 + epsilon) / epsilon * (1 / math.log1p(epsilon)) ** (1 + epsilon)  # theorem 2
        self.delta = ((math.sqrt(1 + task.delta) - 1) / 2) ** 2 / c
        self.growth = 1 + epsilon
        self.width = (1 + beta) * (1 + math.sqrt(epsilon)) * task.sigma
        self.lead = ((2 + beta) / beta) ** 2
        self.total = task.arms
        super().__init__(task)

    def index(self, mean: float, pulls: int) -> float:
        log_log = math.log(math.log(self.growth * pulls) / self.delta)
        return mean + self.width * math.sqrt(2 * self.growth * log_log / pulls)

    def finished(self, arm: int, pulls: int) -> Verdict | None:
        self.total += 1
        if pulls < 1 + self.lead * (self.total - pulls):
            return None
        return Verdict(np.array([arm]), decided=True, confidence=self.task.confidence)
