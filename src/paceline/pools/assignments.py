"""The jobs that workers have now, and the cores that are free.

Nothing here grows with the number of jobs when one is added, heard of or removed: thousands may be
under way.
"""

import heapq
import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paceline.engines.events import Loading
from paceline.engines.jobs import Job, Run
from paceline.pools.allocation import OVERDUE, RunningJob

_LOADING_SECONDS = 60.0  # the least that a worker gets to start and import
_LOADING_TIMEOUTS = 10.0  # what it gets if the timeout of pulls is long


@dataclass(eq=False)
class Assignment:
    """A job that a worker has, and how far it is; moments are on the engine's clock."""

    job: Job
    left: list[Run]  # pulls without a value yet
    began: float
    heard: float  # when it began, or last gave a value
    expected: float  # seconds
    worked: float = 0.0  # seconds that went into values
    waits: Loading | None = None  # what was said of it, if it has not begun yet
    quiet: bool = True  # whether no other job has been under way beside it
    is_probe: bool = False  # whether its cores are a trial
    cancelled: bool = False
    timed_out: bool = False
    is_backup: bool = False  # whether it does a pull that another job does already
    has_backup: bool = False  # whether it is the one that was there before, now or earlier
    twin: "Assignment | None" = None  # the other one
    beaten: bool = False  # whether its twin was first: what it says does not count

    @property
    def loading(self) -> bool:
        """Whether its worker is not ready yet."""
        return self.waits is not None

    @property
    def idle(self) -> bool:
        """Whether nobody works on that: it is to be asked for."""
        return self.waits is not None and self.waits.idle

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self.cancelled or self.timed_out or self.beaten

    def unused_seconds(self, now: float) -> float:
        """How long it has had its cores without giving a value."""
        return max(0.0, now - self.began - self.worked)

    def times_out_at(self, timeout: float) -> float:
        """When its pull has taken too long; while its worker loads, it gets more time."""
        if self.is_ending or self.idle:
            return math.inf
        return self.heard + (loading_limit(timeout) if self.loading else timeout)

    def running(self, now: float) -> RunningJob:
        """What an allocator needs to know."""
        return RunningJob(self.job.cores, self.expected, now - self.began, self.job.node)

    def part(self) -> None:
        """It and its twin, if it has one, have nothing to do with each other any more."""
        if self.twin is not None:
            self.twin.twin = None
            self.twin = None


def loading_limit(timeout: float) -> float:
    """How many seconds a worker may load before its first pull: a minute, or ten timeouts.

    >>> loading_limit(1.0), loading_limit(30.0)
    (60.0, 300.0)
    """
    return max(_LOADING_SECONDS, _LOADING_TIMEOUTS * timeout)


class Assignments:
    """All jobs under way on a pool, by their numbers: one node of `cores` cores, or `nodes`."""

    def __init__(
        self,
        cores: int,
        now: Callable[[], float],
        nodes: tuple[int, ...] = (),
        at_once: int | None = None,
    ) -> None:
        self.cores = cores
        self._at_once = math.inf if at_once is None else at_once  # jobs, whatever the cores
        self.working_cores = 0  # of jobs whose workers are ready
        self._nodes = nodes or (cores,)
        self.free_on = list(self._nodes)  # below 0 if a node has shrunk while jobs run there
        self.now = now  # the engine's clock
        self._jobs = 0
        self._by_job: dict[int, Assignment] = {}
        # Those last heard of the longest ago come first; whether they load or work.
        self._silent: tuple[dict[int, Assignment], dict[int, Assignment]] = ({}, {})
        self._ends: list[tuple[float, int]] = []  # sorted: when jobs should end that are not late
        self._late_at: list[tuple[float, int]] = []  # a heap: when they will be late
        self._late: dict[int, Assignment] = {}
        self._unknown: dict[int, Assignment] = {}  # those of which nobody knows how long they take

    def __len__(self) -> int:
        return len(self._by_job)

    def __iter__(self) -> Iterator[Assignment]:
        return iter(list(self._by_job.values()))  # jobs may end meanwhile

    def __contains__(self, job: int) -> bool:
        return job in self._by_job

    @property
    def free(self) -> int:
        """The most cores that a job can have now: it runs within one node."""
        return max(self.free_on) if len(self._by_job) < self._at_once else 0

    def resize(self, nodes: tuple[int, ...]) -> None:
        """The pool has these nodes from now on: one that is gone has 0 cores."""
        used = [had - left for had, left in zip(self._nodes, self.free_on, strict=True)]
        used += [0] * (len(nodes) - len(used))
        self.cores, self._nodes = sum(nodes), nodes
        self.free_on = [has - busy for has, busy in zip(nodes, used, strict=True)]

    def _place(self, cores: int) -> int:
        """The node with the least room that suffices: large pulls find room elsewhere."""
        fitting = [node for node, free in enumerate(self.free_on) if free >= cores]
        return min(fitting, key=self.free_on.__getitem__) if len(fitting) > 1 else fitting[0]

    def __getitem__(self, job: int) -> Assignment:
        return self._by_job[job]

    def add(
        self,
        runs: list[Run],
        cores: int,
        seconds_each: float | None,
        twin: Assignment | None = None,
        is_probe: bool = False,
        *,
        fresh: bool = False,
    ) -> Job:
        """Make a job of these pulls; it has its cores from now on.

        If it does the pull that another does already, that one is its `twin`.
        """
        node = self._place(cores)
        job = Job(self._jobs, tuple(runs), cores, fresh, node)
        self._jobs += 1
        now = self.now()
        quiet = not self._by_job
        if len(self._by_job) == 1:  # if there are more, none of them is by itself any more
            next(iter(self._by_job.values())).quiet = False
        expected = (seconds_each or math.inf) * job.pulls
        one = Assignment(job, runs, now, now, expected, quiet=quiet, is_probe=is_probe)
        if twin is not None:
            one.is_backup, twin.has_backup = True, True
            one.twin, twin.twin = twin, one
        self._by_job[job.number] = one
        self._silent[one.loading][job.number] = one
        self._expect(one)
        self.free_on[node] -= cores
        self.working_cores += cores
        return job

    def remove(self, job: int) -> Assignment:
        """Remove a job that is over; its cores are free."""
        one = self._by_job.pop(job)
        del self._silent[one.loading][job]
        self._forget(one)
        self.free_on[one.job.node] += one.job.cores
        if not one.loading:
            self.working_cores -= one.job.cores
        return one

    def hear(self, job: int) -> Assignment:
        """Note that a job was heard of now, and return it."""
        one = self._by_job[job]
        one.heard = self.now()
        silent = self._silent[one.loading]
        silent[job] = silent.pop(job)  # to the end
        return one

    def wait_for_worker(self, job: int, *, idle: bool = False) -> None:
        """Note that a job cannot begin yet."""
        one = self._by_job[job]
        if not one.loading:
            self._silent[True][job] = self._silent[False].pop(job)
            one.waits = Loading(job, idle)
            self.working_cores -= one.job.cores
            self._forget(one)  # until it begins

    def begin(self, job: int) -> None:
        """Note that a job which had to wait for its worker has begun."""
        one = self.hear(job)
        if one.loading:
            self._silent[False][job] = self._silent[True].pop(job)
            one.waits = None
            self.working_cores += one.job.cores
        self._forget(one)
        one.began = one.heard
        self._expect(one)

    # What is expected of them.

    def _expect(self, one: Assignment) -> None:
        if one.expected < math.inf:
            insort(self._ends, (one.began + one.expected, one.job.number))
            late_at = one.began + OVERDUE * one.expected
            # A moment later, so that it is late by then in spite of rounding.
            heapq.heappush(self._late_at, (late_at + 0.001, one.job.number))
        else:
            self._unknown[one.job.number] = one

    def expect(self, seconds_each: Callable[[Sequence[Run], int], float | None]) -> None:
        """Expect something of jobs that began before anything was known, if that is known now.

        A pull that hangs from the first moment on would otherwise never be late.
        """
        for one in list(self._unknown.values()):
            each = seconds_each(one.left, one.job.cores) if one.left else None
            if each is not None:
                del self._unknown[one.job.number]
                one.expected = each * one.job.pulls
                if not one.loading:
                    self._expect(one)

    def _forget(self, one: Assignment) -> None:
        entry = (one.began + one.expected, one.job.number)
        place = bisect_left(self._ends, entry)
        if place < len(self._ends) and self._ends[place] == entry:
            del self._ends[place]
        self._late.pop(one.job.number, None)
        self._unknown.pop(one.job.number, None)

    def late(self) -> list[Assignment]:
        """The jobs that have taken much longer than expected."""
        now = self.now()
        while self._late_at and self._late_at[0][0] <= now:
            _, job = heapq.heappop(self._late_at)
            one = self._by_job.get(job)
            if one is not None and not one.loading and now > one.began + OVERDUE * one.expected:
                self._forget(one)
                self._late[job] = one
        return list(self._late.values())

    def soonest(self, cores: int) -> list[RunningJob]:
        """The jobs that should end first, until a node has that many cores; those late not at all.

        Jobs that end at the same moment come along.
        """
        self.late()
        now, found, free = self.now(), [], list(self.free_on)
        for _, job in self._ends:
            one = self._by_job[job].running(now)
            found.append(one)
            free[one.node] += one.cores
            if free[one.node] >= cores and one.left > 0.1 * one.expected:  # the next end later
                break
        return found

    def unanswered(self) -> list[tuple[int, float]]:
        """The cores of each job that has begun, and the seconds since it was last heard from."""
        now = self.now()
        return [
            (one.job.cores, now - one.heard) for one in self._by_job.values() if not one.loading
        ]

    def longest_silent(self) -> Assignment | None:
        """The job under way of which nothing was heard for the longest time."""
        return next(iter(self._silent[False].values()), None)

    def timed_out(self, timeout: float) -> list[Assignment]:
        """The jobs that have taken too long."""
        if timeout == math.inf:
            return []
        found, now = [], self.now()
        for silent in self._silent:
            for one in silent.values():
                if one.times_out_at(timeout) > now and not one.is_ending:
                    break  # the others were heard of later
                if not one.is_ending:
                    found.append(one)
        return found

    def next_moment(self, timeout: float) -> float:
        """When to act even if nothing is heard, on the engine's clock."""
        moment = math.inf
        if timeout < math.inf:
            for silent in self._silent:
                first = (one.times_out_at(timeout) for one in silent.values() if not one.is_ending)
                moment = min(moment, next(first, math.inf))
        self.late()
        while self._late_at and self._late_at[0][1] not in self._by_job:
            heapq.heappop(self._late_at)
        return min(moment, self._late_at[0][0]) if self._late_at else moment
