"""UCB-E (Audibert, Bubeck and Munos 2010), as the paper's experiments scale it: sequential."""

import math
from dataclasses import dataclass

from paceline.core.arrays import positive
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.index import IndexPacer


@dataclass(frozen=True)
class UCBE(Policy):
    """Pull the arm with the highest mean + `scale`/√pulls until the deadline; answer the best mean.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.9, 0.2], policy=UCBE(), scaling=PowerLaw(0.5), deadline=200).pulls
    array([200])
    """

    scale: float = 1.0

    name = "ucb-e"
    goal = "deadline"

    def __post_init__(self) -> None:
        positive(self.scale, "scale")

    def _pacer(self, task: Task) -> Pacer:
        return _UCBEPacer(self.scale, task)


class _UCBEPacer(IndexPacer):
    def __init__(self, scale: float, task: Task) -> None:
        super().__init__(task)
        self.scale = scale

    def index(self, mean: float, pulls: int) -> float:
        return mean + self.scale / math.sqrt(pulls)
