"""How often pulls have failed or were lost, and which arms are out because they failed."""

from collections.abc import Sequence

from paceline.engines.jobs import Run
from paceline.journal.records import ArmOut, PullFailed, PullsLost


class Attempts:
    """A fold over the failures and losses of a race.

    >>> attempts = Attempts()
    >>> attempts.take(PullFailed(1.0, arm=0, pull=3, attempt=1, what="died", message="", detail=""))
    >>> attempts.next(arm=0, pull=3), attempts.next(arm=0, pull=4)
    (2, 1)
    >>> attempts.take(PullsLost(1.0, (Run(0, 4, 1),), "killed", "killed by signal 9"))
    >>> attempts.next(arm=0, pull=4), attempts.suspicions(arm=0, pull=4)
    (1, 1)
    """

    def __init__(self) -> None:
        self.failures: list[PullFailed] = []
        self.lost: list[PullsLost] = []
        self.out: dict[int, PullFailed] = {}  # the arms that are out, and what put them out
        self._attempts: dict[tuple[int, int], int] = {}  # by arm and pull
        # Of pulls that were lost as the only ones of their jobs: how often they may be the cause.
        self._suspicions: dict[tuple[int, int], int] = {}

    def next(self, arm: int, pull: int) -> int:
        """The number of the next attempt at a pull."""
        return self._attempts.get((arm, pull), 0) + 1

    def suspicions(self, arm: int, pull: int) -> int:
        """How often a pull was killed, or ran out of something, by its own work or by chance."""
        return self._suspicions.get((arm, pull), 0)

    def wants_fresh(self, runs: Sequence[Run], retries: int) -> bool:
        """Whether a job needs a worker that other arms cannot have damaged.

        That is so if its one pull was lost before, or if its arm is out when it fails again.
        """
        if len(runs) > 1 or runs[0].pulls > 1:
            return False
        pull = (runs[0].arm, runs[0].first)
        return pull in self._suspicions or self._attempts.get(pull, 0) >= max(retries, 1)

    def take(self, record: PullFailed | PullsLost | ArmOut) -> None:
        """Take into account that pulls failed or were lost, or that an arm is out."""
        if isinstance(record, PullFailed):
            self.failures.append(record)
            self._attempts[record.arm, record.pull] = record.attempt
            self._suspect(record.arm, record.pull, record.what)
        elif isinstance(record, PullsLost):
            self.lost.append(record)
            if record.what != "machine" and sum(run.pulls for run in record.pulls) == 1:
                (run,) = record.pulls
                self._suspicions.setdefault((run.arm, run.first), 0)
                self._suspect(run.arm, run.first, record.what)
        else:
            mine = [failure for failure in self.failures if failure.arm == record.arm]
            self.out[record.arm] = mine[-1]

    def _suspect(self, arm: int, pull: int, what: str) -> None:
        if what in ("killed", "shortage"):
            self._suspicions[arm, pull] = self.suspicions(arm, pull) + 1

    def forgive(self) -> None:
        """Take the arms that are out back in; their attempts count from the start again."""
        for counts in (self._attempts, self._suspicions):
            for key in [key for key in counts if key[0] in self.out]:
                del counts[key]
        self.out.clear()
