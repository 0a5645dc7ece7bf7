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

    δ is chosen so that the error that its theorem allows, 4√(cδ) + 4cδ, is the requested one. The
    winner's lead is the larger of the published choices, ((2+β)/β)² times
    1 + log(2 log(((2+β)/β)²/δ))/log(1/δ); experiments often leave out the second factor.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.95, 0.05], policy=LilUCB(), scaling=PowerLaw(0.5), confidence=0.9).index
    array([0])
    """

    epsilon: float = 0.01
    beta: float = 1.0

    name = "lil-ucb"
    goal = "confidence"

    def __post_init__(self) -> None:
        if not 1e-6 <= positive(self.epsilon, "epsilon") < 1:
            raise InvalidInput(f"epsilon of lil-ucb must lie in [1e-6, 1), got {self.epsilon!r}")
        if not 0 < positive(self.beta, "beta") <= 3:
            raise InvalidInput(f"beta of lil-ucb must lie in (0, 3], got {self.beta!r}")

    def _pacer(self, task: Task) -> Pacer:
        return _LilUCBPacer(self, task)


class _LilUCBPacer(IndexPacer):
    def __init__(self, policy: LilUCB, task: Task) -> None:
        super().__init__(task)
        assert task.sigma is not None  # `start` refuses a task without it
        epsilon, beta = policy.epsilon, policy.beta
        c = (2 + epsilon) / epsilon * (1 / math.log1p(epsilon)) ** (1 + epsilon)  # theorem 2
        self.delta = ((math.sqrt(1 + task.delta) - 1) / 2) ** 2 / c
        self.growth = 1 + epsilon
        self.width = (1 + beta) * (1 + math.sqrt(epsilon)) * task.sigma
        square = ((2 + beta) / beta) ** 2
        logs = math.log(2 * math.log(square / self.delta)) / math.log(1 / self.delta)
        self.lead = square * (1 + logs)

    def index(self, mean: float, pulls: int) -> float:
        log_log = math.log(math.log(self.growth * pulls) / self.delta)
        return mean + self.width * math.sqrt(2 * self.growth * log_log / pulls)

    def finished(self, arm: int, pulls: int) -> Verdict | None:
        # Every round is one pull.
        if pulls < 1 + self.lead * (self.rounds - pulls):
            return None
        return Verdict(np.array([arm]), decided=True, confidence=self.task.confidence)
