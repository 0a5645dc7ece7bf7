"""How often pulls have failed, and which arms are out because of it."""

from paceline.journal.records import ArmOut, PullFailed


class Attempts:
    """A fold over the failures of a race.

    >>> attempts = Attempts()
    >>> attempts.take(PullFailed(1.0, arm=0, pull=3, attempt=1, what="died", message="", detail=""))
    >>> attempts.next(arm=0, pull=3), attempts.next(arm=0, pull=4)
    (2, 1)
    """

    def __init__(self) -> None:
        self.failures: list[PullFailed] = []
        self.out: dict[int, PullFailed] = {}  # the arms that are out, and what put them out
        self._attempts: dict[tuple[int, int], int] = {}  # by arm and pull

    def next(self, arm: int, pull: int) -> int:
        """The number of the next attempt at a pull."""
        return self._attempts.get((arm, pull), 0) + 1

    def take(self, record: PullFailed | ArmOut) -> None:
        """Take into account that a pull failed, or that an arm is out."""
        if isinstance(record, PullFailed):
            self.failures.append(record)
            self._attempts[record.arm, record.pull] = record.attempt
        else:
            mine = [failure for failure in self.failures if failure.arm == record.arm]
            self.out[record.arm] = mine[-1]

    def forgive(self) -> None:
        """Take the arms that are out back in; their attempts count from the start again."""
        for arm in self.out:
            for pull in [pull for of, pull in self._attempts if of == arm]:
                del self._attempts[arm, pull]
        self.out.clear()
