"""The state of a race: a fold over its records, whether they are new or read from a journal."""

from collections.abc import Sequence

import numpy as np

from paceline.engines.jobs import Run
from paceline.journal.records import ArmOut, PullFailed, PullsReturned, Record, TimeSpent
from paceline.pools.attempts import Attempts
from paceline.pools.ledger import Ledger
from paceline.pools.timekeeping import Timekeeper


class Books:
    """Values, failures and times. `sign` is −1 where low values are good.

    >>> books = Books(arms=2)
    >>> books.take(PullsReturned(1.0, 4, (Run(0, 0, 2),), values=[0.5, 0.7], seconds=[0.2, 0.3]))
    >>> books.take(TimeSpent(2.0, 4, seconds=0.5, arm=1, why="failed"))
    >>> books.pulls, books.core_seconds
    (2, 4.0)
    """

    def __init__(self, arms: int, sign: float = 1.0) -> None:
        self.ledger = Ledger(arms, sign)
        self.times = Timekeeper(arms)
        self.attempts = Attempts()
        self.pulls = 0  # that have given a value
        self.core_seconds = 0.0
        self.arm_seconds = np.zeros(arms)

    def take(self, record: Record) -> None:
        """Take a record into account."""
        if isinstance(record, PullsReturned):
            self._take_values(record)
        elif isinstance(record, TimeSpent):
            self.core_seconds += record.cores * record.seconds
        elif isinstance(record, PullFailed | ArmOut):
            self.attempts.take(record)

    def _take_values(self, record: PullsReturned) -> None:
        self.times.take(record.cores, record.pulls, record.seconds)
        self.core_seconds += record.cores * sum(record.seconds)
        for run, values, seconds in _by_run(record.pulls, record.values, record.seconds):
            self.arm_seconds[run.arm] += sum(seconds)
            self.pulls += run.pulls
            self.ledger.put(run.arm, run.first, values)


def _by_run(
    runs: Sequence[Run], values: Sequence[float], seconds: Sequence[float]
) -> list[tuple[Run, Sequence[float], Sequence[float]]]:
    parts, start = [], 0
    for run in runs:
        end = start + run.pulls
        parts.append((run, values[start:end], seconds[start:end]))
        start = end
    return parts
