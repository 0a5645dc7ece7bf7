"""Sequential halving (Karnin, Koren and Somekh 2013), on the time scale: SSH with k = 1."""

from dataclasses import dataclass

from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.ssh import SSH, TooShort


@dataclass(frozen=True)
class SequentialHalving(Policy):
    """⌈log₂ n⌉ stages of equal time; after each, the better half stays. Options as for `SSH`.

    >>> from paceline import PowerLaw, simulate
    >>> result = simulate([0.9, 0.5, 0.4, 0.3], policy=SequentialHalving(),
    ...                   scaling=PowerLaw(0.25), deadline=4)
    >>> result.pulls, result.rounds
    (array([32]), array([2]))
    """

    keep_samples: bool = False
    too_short: TooShort = "refuse"

    name = "sequential-halving"
    goal = "deadline"

    def __post_init__(self) -> None:
        self._as_ssh()

    def _as_ssh(self) -> SSH:
        return SSH(k=1, keep_samples=self.keep_samples, too_short=self.too_short)

    def _pacer(self, task: Task) -> Pacer:
        return self._as_ssh()._pacer(task)
