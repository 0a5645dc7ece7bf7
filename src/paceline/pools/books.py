"""The state of a race: a fold over its records, whether they are new or read from a journal."""

from paceline.core.pool import CorePool
from paceline.journal.records import (
    ArmOut,
    PullFailed,
    PullsLost,
    PullsReturned,
    Record,
    TimeSpent,
)
from paceline.pools.attempts import Attempts
from paceline.pools.costs import Costs, relative
from paceline.pools.course import Course
from paceline.pools.ledger import Ledger
from paceline.pools.prints import Prints
from paceline.pools.timekeeping import Timekeeper
from paceline.pools.usage import Usage
from paceline.story.timeline import Timeline


class Books:
    """Values, failures and times. `sign` is −1 where low values are good.

    >>> from paceline.engines.jobs import Run
    >>> books = Books(arms=2)
    >>> books.take(PullsReturned(1.0, 4, (Run(0, 0, 2),), values=[0.5, 0.7], seconds=[0.2, 0.3]))
    >>> books.take(TimeSpent(2.0, 4, seconds=0.5, arm=1, why="failed"))
    >>> books.pulls, books.core_seconds
    (2, 4.0)
    """

    def __init__(self, arms: int, sign: float = 1.0) -> None:
        self.ledger = Ledger(arms, sign)
        self.times = Timekeeper(arms)
        self.costs = Costs(arms)
        self.attempts = Attempts()
        self.usage = Usage()
        self.course = Course()
        self.prints = Prints()
        self.pulls = 0  # that have given a value
        self.core_seconds = 0.0  # in which pulls ran
        self.arm_seconds = [0.0] * arms

    def take(self, record: Record) -> None:
        """Take a record into account."""
        self.usage.take(record)
        self.course.take(record)
        self.prints.take(record)
        if isinstance(record, PullsReturned):
            self._take_values(record)
        elif isinstance(record, TimeSpent) and record.why != "starting":
            self.core_seconds += record.cores * record.seconds
        elif isinstance(record, PullFailed | PullsLost | ArmOut):
            self.attempts.take(record)

    def told_costs(self, pool: CorePool) -> tuple[float, ...]:
        """What a policy may know of costs: by the pulls it was told of, and for its own arms."""
        return relative(self.costs.multiples(pool, self.ledger.told_until()), self.ledger.racing)

    def timeline(self, elapsed: float) -> Timeline:
        """What the cores of the pool did until now."""
        return self.usage.timeline(self.ledger.asked_until(), [*self.attempts.out], elapsed)

    def _take_values(self, record: PullsReturned) -> None:
        # Pull by pull: a sum must not depend on how many pulls a record has.
        cores, seconds, values = record.cores, record.seconds, record.values
        self.times.take(cores, record.pulls, seconds)
        self.costs.take(cores, record.pulls, seconds)
        self.pulls += len(values)
        total, of_arm, put = self.core_seconds, self.arm_seconds, self.ledger.put
        start = 0
        for arm, first, pulls in record.pulls:
            if pulls == 1:
                took = seconds[start]
                total += cores * took
                of_arm[arm] += took
                put(arm, first, values[start : start + 1])
            else:
                for took in seconds[start : start + pulls]:
                    total += cores * took
                    of_arm[arm] += took
                put(arm, first, values[start : start + pulls])
            start += pulls
        self.core_seconds = total
