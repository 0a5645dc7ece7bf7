"""APR, Adaptive Parallel Racing: the paper's Algorithm 1, with top-k as in its remark."""

from dataclasses import dataclass

from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.clock import ClockPacer, check_growth
from paceline.policies.elimination import Elimination, check_interval


@dataclass(frozen=True)
class APR(Policy):
    """Round r lasts `beta`^(r−1) · λ(n); arms whose interval falls below the best are dropped.

    `deviation` multiplies the interval's width. At 1.0 the best arm is found with the requested
    confidence; the paper's experiments use 0.2, where nothing is guaranteed. `sigma` overrides the
    sub-Gaussian scale that the problem declares.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.9, 0.5, 0.4], policy=APR(beta=1.5), scaling=PowerLaw(0.5)).index
    array([0])
    """

    beta: float = 2.0
    deviation: float = 1.0
    sigma: float | None = None

    name = "apr"
    goal = "confidence"
    learns_sigma = True
    finds_top = True
    takes_tolerance = True

    def __post_init__(self) -> None:
        check_growth(self.beta)
        check_interval(self.deviation, self.sigma)

    def _pacer(self, task: Task) -> Pacer:
        return ClockPacer(task, self.beta, Elimination(task, self.deviation, self.sigma))
