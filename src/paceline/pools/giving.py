"""Giving out pulls: which of them make the next job, and on how many cores."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from paceline.engines.jobs import Run
from paceline.pools.assignments import Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.model import PoolModel
from paceline.pools.rules import Rules
from paceline.pools.timekeeping import Timekeeper

_GROUP_SECONDS = 0.005  # of work in a group: the overhead of a job is then about one per cent


class Offer(NamedTuple):
    """Pulls for a worker, their cores, and how long each is expected to take."""

    runs: list[Run]
    cores: int
    seconds_each: float | None


class Giver:
    """Makes jobs of the pulls wanted, by what is known of the pool. `largest` limits a group."""

    def __init__(
        self, rules: Rules, backlog: Backlog, model: PoolModel, times: Timekeeper, largest: int
    ) -> None:
        self.rules = rules
        self.backlog = backlog
        self.model = model
        self.times = times
        self.largest = largest
        self._probe: deque[int] = deque()

    def probe(self, cores: Sequence[int]) -> None:
        """Run the next pulls on these numbers of cores, in turn, to learn how they scale."""
        self._probe = deque(cores)

    def next_offer(self, assignments: Assignments, share: float | None) -> Offer | None:
        """The next job, if there are pulls to do and cores for them."""
        waiting = self.backlog.waiting
        cores = self._cores(waiting, assignments, share) if waiting else 0
        if cores == 0 or cores > assignments.free:
            return None
        each = self.times.mean_seconds(cores) or self.model.expected_seconds(cores)
        runs = self.backlog.take(self._group(cores, waiting, each))
        if self._probe:
            self._probe.popleft()
        return Offer(runs, cores, each)

    def _cores(self, waiting: int, assignments: Assignments, share: float | None) -> int:
        rules = self.rules
        if self._probe:
            return self._probe[0]
        if share is not None:
            return rules.within(int(share * rules.cores + 1e-9))
        if self.model.allocator is None:  # nothing is known yet: aim for throughput
            return rules.within(rules.cores // min(waiting, rules.cores))
        return self.model.allocator.next_cores(waiting, assignments.free, assignments.running())

    def _group(self, cores: int, waiting: int, each: float | None) -> int:
        """How many pulls to send at once: more than one only if they are very short."""
        if each is None or self._probe or self.largest == 1:
            return 1
        slots = max(1, self.rules.cores // cores)
        fair = -(-waiting // slots)
        return max(1, min(int(_GROUP_SECONDS / max(each, 1e-9)), fair, self.largest))
