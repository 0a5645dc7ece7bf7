"""Giving out pulls: which of them make the next job, and on how many cores."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from paceline.engines.jobs import Run
from paceline.pools.assignments import Assignment, Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.backups import Backups
from paceline.pools.books import Books
from paceline.pools.model import PoolModel
from paceline.pools.probing import Probing
from paceline.pools.rules import Rules

_WAVES_AHEAD = 4  # how many pulls on every core may be done ahead,
_LEAST_AHEAD = 64  # and how many of an arm in any case
_HANGING_TIMES = 5.0  # as long as expected: such a pull is no mere straggler
_AT_ONCE = 0.02  # of the time: above 0, so that arms that start at once still take turns


class Offer(NamedTuple):
    """Pulls for a worker, their cores, and how long each is expected to take."""

    runs: list[Run]
    cores: int
    seconds_each: float | None
    twin: Assignment | None = None  # the job that does these pulls already
    is_probe: bool = False  # whether its cores are a trial, not the plan's


class Giver:
    """Makes jobs of the pulls wanted, by what is known of the pool. `largest` limits a group.

    Pulls that are wanted come first, then backups of those that take too long; with the cores that
    would idle otherwise, it works ahead.
    """

    def __init__(
        self,
        rules: Rules,
        assignments: Assignments,
        backlog: Backlog,
        model: PoolModel,
        books: Books,
        largest: int,
        *,
        can_end: bool,
        group_seconds: float = 0.005,
        hurries: bool = True,
    ) -> None:
        self.rules = rules
        self.backlog = backlog
        self.model = model
        self.times = books.times
        self.costs = books.costs
        self.largest = largest
        self.hurries = hurries  # whether what takes far too long gives way to others
        self.group_seconds = group_seconds  # of work in a job of short pulls
        self.probing = Probing(books.times, assignments.now)
        self.backups = Backups(assignments, backlog, allowed=rules.backups and can_end)
        self._assignments = assignments
        self._in_quiet = False  # whether the job under way is to be the only one
        self._ahead_left = 0.0  # how many pulls may still be done ahead
        self._round_pulls = 1  # of the round, as it was last asked for

    def allow_ahead(self, due: Sequence[tuple[int, int]], most: float, round_pulls: int) -> None:
        """Let cores that would idle do pulls of these arms from these numbers on; `most` in all.

        No arm gets so far ahead that it would be in vain: while one hangs, the others do not run
        for ever.
        """
        self._round_pulls = max(round_pulls, 1)
        fair = -(-_WAVES_AHEAD * self.rules.cores // max(len(due), 1))
        self._ahead_left = most - self.backlog.allow_ahead(due, max(fair, _LEAST_AHEAD))

    def want(self, asked: Sequence[tuple[int, int]]) -> None:
        """Give out these pulls from now on: those of slow arms start early enough to end in time.

        Each arm's pulls are spread over the time that is left until its last one must start. So
        nobody waits for a slow pull that began last. The middle of the time in which an arm's pulls
        run is the same for all: a steady drift of the machine favours nobody.
        """
        self.backlog.want(asked)
        multiples, allocator = self.costs.current(self.model.pool), self.model.allocator
        if multiples is None or allocator is None or not self.backlog.waiting:
            return
        costs = {arm: float(multiples[arm]) for arm, _ in asked}
        slots = max(1, self.rules.cores // allocator.planned(self.backlog.waiting))
        work = sum(max(0, self.backlog.left(arm)) * cost for arm, cost in costs.items())
        seconds = max(work / slots, *costs.values())
        starting = {arm: max(1 - cost / seconds, _AT_ONCE) for arm, cost in costs.items()}
        self.backlog.want(asked, starting)

    def next_offer(self, share: float | None) -> Offer | None:
        """The next job, if there is one for the cores that are free.

        `share` says how much of the pool each pull is to have; None if the plan says it.
        """
        self._assignments.expect(self._seconds_of)
        self._in_quiet &= len(self._assignments) > 0 and not self._hanging()
        if self._in_quiet:
            return None
        self.backlog.hold(self._held_back())
        offer = self._wanted(share)
        if offer is None and share is None:
            slow = self.backups.next()
            offer = self._ahead() if slow is None else self._again(slow)
        return offer

    def next_moment(self) -> float:
        """When there may be another job even if nothing is heard, on the engine's clock."""
        if self.probing.give_up():  # here, too: `fits` is not asked while no core is free
            return self._assignments.now()
        slow = self.backups.next_moment() if self._assignments.free else math.inf
        now = self._assignments.now()
        hang_at = [one.began + _HANGING_TIMES * one.expected for one in self._assignments.late()]
        hangs = min((moment + 0.001 for moment in hang_at if moment >= now), default=math.inf)
        return min(slow, hangs, self.probing.next_moment())

    def _hanging(self) -> list[Assignment]:
        """Jobs that take so long that they seem to hang, the oldest first."""
        if not self.hurries:
            return []
        late, now = self._assignments.late(), self._assignments.now()
        found = [one for one in late if now - one.began > _HANGING_TIMES * one.expected]
        return sorted(found, key=lambda one: one.began)

    def _held_back(self) -> frozenset[int]:
        """Arms whose pulls hang, if these hold half of the pool: the others race on meanwhile."""
        hanging = self._hanging()
        held = sum(one.job.cores for one in hanging)
        if not hanging or held + self.rules.least_cores <= max(self.rules.cores // 2, 1):
            return frozenset()
        return frozenset(run.arm for one in hanging for run in one.left)

    def in_the_way(self) -> list[Assignment]:
        """Jobs that take far too long, and had better give way to others.

        To pulls that are wanted: those done ahead; backups; and probes that hold most of the pool,
        or any pull that does as long as nothing is known. To all pulls: what hangs beyond half of
        the pool, and backups there. On fewer cores, or later, it costs nobody else anything.
        """
        waiting = self.backlog.waiting
        may_be_ahead = self._ahead_left >= 1 and self.backlog.may_be_ahead
        if not self.hurries or not (waiting or may_be_ahead):
            return []
        half, unknown, held = max(self.rules.cores // 2, 1), self.model.allocator is None, 0
        found = []
        for one in self._hanging():
            held += one.job.cores
            if held > half and (one.is_backup or one.is_probe or one.job.cores < held):
                found.append(one)
        if waiting:
            found += [
                one
                for one in self._assignments.late()
                if one.is_backup
                or (one.job.cores > half and (one.is_probe or unknown))
                or not any(map(self.backlog.is_wanted, one.left))
            ]
        return found

    def _again(self, slow: Assignment) -> Offer | None:
        """The same pull once more, on as many cores if they are free."""
        cores = min(slow.job.cores, self._assignments.free)
        if cores < self.rules.least_cores:
            return None
        return Offer(list(slow.left), cores, self._seconds_of(slow.left, cores), slow)

    def _ahead(self) -> Offer | None:
        """Pulls that are not wanted yet, if nothing that is wanted waits."""
        waits = self.probing or self.backlog.waiting or self.backlog.wants_quiet
        if self._ahead_left < 1 or waits:
            return None
        allocator, least = self.model.allocator, self.rules.least_cores
        cores = least if allocator is None else allocator.planned(self._round_pulls)
        cores = max(min(cores, self._assignments.free), least)
        if cores > self._assignments.free:
            return None
        each = self._seconds_each(cores)
        most = min(self._group(cores, self.rules.cores * self.largest, each), self._ahead_left)
        runs = self.backlog.take_ahead(int(most))
        self._ahead_left -= sum(run.pulls for run in runs)
        return Offer(runs, cores, self._seconds_of(runs, cores)) if runs else None

    def _wanted(self, share: float | None) -> Offer | None:
        """Pulls that are wanted, if there are any and cores for them."""
        waiting, free = self.backlog.waiting, self._assignments.free
        # What must run in quiet comes last: in a round, there is a moment when nothing else is due.
        quiet = [] if waiting or len(self._assignments) else self.backlog.take_quiet()
        cores = self._cores(waiting or 1, free, share) if waiting or quiet else 0
        if cores == 0 or cores > free:
            self.backlog.give_back(quiet, quiet=True)
            return None
        each, is_probe = self._seconds_each(cores), bool(self.probing)
        if is_probe:
            cores, most = self.probing.take(free), 1
        else:
            most = self._group(cores, waiting, each)
        self._in_quiet = bool(quiet)
        runs = quiet or self.backlog.take(most)
        return Offer(runs, cores, self._seconds_of(runs, cores), is_probe=is_probe)

    def _seconds_each(self, cores: int) -> float | None:
        known = self.times.mean_seconds(cores) or self.model.expected_seconds(cores)
        return known or max(self.times.means(), default=None)

    def _seconds_of(self, runs: Sequence[Run], cores: int) -> float | None:
        """How long each of these pulls takes, on average: an arm's own time, if arms differ."""
        multiples, usual = self.costs.current(self.model.pool), self.model.expected_seconds(cores)
        if multiples is None or usual is None:
            return self._seconds_each(cores)
        times = sum(run.pulls * float(multiples[run.arm]) for run in runs)
        return usual * times / sum(run.pulls for run in runs)

    def _cores(self, waiting: int, free: int, share: float | None) -> int:
        rules, allocator = self.rules, self.model.allocator
        if self.probing and self.probing.fits(free):
            return free
        if self.probing:  # it waits
            return 0
        if share is not None:
            return rules.within(int(share * rules.cores + 1e-9))
        if allocator is None:  # nothing is known: aim for throughput, and let nobody have it all
            return rules.within(min(rules.cores // min(max(waiting, 2), rules.cores), free))
        if self._ahead_left >= 1 and self.backlog.may_be_ahead:
            waiting = max(waiting, self._round_pulls)
        planned, running = allocator.planned(waiting), self._assignments
        soonest = running.soonest(planned) if planned > free > 0 else []
        return allocator.next_cores(waiting, running.free_on, soonest)

    def _group(self, cores: int, waiting: int, each: float | None) -> int:
        """How many pulls to send at once: more than one only if they are very short."""
        if each is None or self.largest == 1:
            return 1
        slots = max(1, self.rules.cores // cores)
        fair = -(-waiting // slots)
        return max(1, min(int(self.group_seconds / max(each, 1e-9)), fair, self.largest))
