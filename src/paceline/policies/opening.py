"""How a race begins if its λ or noise is not known: with the same few pulls of every arm.

It is not in the catalog because it decides nothing: once these pulls are back, the real policy
takes its place.
"""

from dataclasses import dataclass

import numpy as np

from paceline.core.rounds import TOGETHER, Round, Until, Verdict
from paceline.policies.base import Pacer, Policy, Task

_FIRST_BOX = 0.05  # of the deadline
_MOST_ARMS = 0.8


@dataclass(frozen=True)
class Opening(Policy):
    """Pull each arm `pulls` times.

    With only a deadline it does not wait for the slowest pulls once most arms have a value. It
    checks this at a twentieth of the time, a tenth, and so on.

    >>> from paceline import PowerLaw
    >>> pacer = Opening(pulls=2).start(Task(arms=3, scaling=PowerLaw(0.5), deadline=60.0))
    >>> pacer.ask().pulls, pacer.ask().how
    (array([2, 2, 2]), Until(moment=3.0))
    """

    pulls: int = 1

    name = "opening"
    goal = None
    finds_top = True
    takes_tolerance = True
    learns_sigma = True

    def _pacer(self, task: Task) -> Pacer:
        return OpeningPacer(task, self.pulls)


class OpeningPacer(Pacer):
    """The first pulls; its verdict says only that they are back."""

    def __init__(self, task: Task, pulls: int) -> None:
        super().__init__(task)
        self.pulls = pulls

    def opening(self) -> Round:
        """The same pulls of every arm."""
        return self._missing_pulls()

    def decide(self) -> Round | Verdict:
        """End once most arms have a value; then the real policy takes over."""
        heard = np.count_nonzero(self.tally.pulls)
        if heard > self.task.top and heard >= _MOST_ARMS * self.task.arms:
            return self.stop("the first pulls are back")
        return self._missing_pulls()

    def _missing_pulls(self) -> Round:
        missing = np.maximum(self.pulls - self.tally.pulls, 0)
        if self.task.confidence is not None or self.task.deadline is None:
            return Round(self.alive, missing, TOGETHER)
        return Round(self.alive, missing, Until(_FIRST_BOX * 2**self.rounds * self.task.deadline))
