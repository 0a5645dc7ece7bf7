"""The jobs that workers have now, and the cores that are free."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paceline.engines.jobs import Job, Run
from paceline.pools.allocation import RunningJob, reconsider_after

_LOADING_SECONDS = 120.0  # for a worker to start and import, on top of the timeout


@dataclass(eq=False)
class Assignment:
    """A job that a worker has, and how far it is; moments are on the engine's clock."""

    job: Job
    left: list[Run]  # pulls without a value yet
    began: float
    heard: float  # when it began, or last gave a value
    expected: float  # seconds
    worked: float = 0.0  # seconds that went into values
    loading: bool = False  # whether its worker is not ready yet
    cancelled: bool = False
    timed_out: bool = False

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self.cancelled or self.timed_out

    def unused_seconds(self, now: float) -> float:
        """How long its cores were in use without giving a value."""
        return 0.0 if self.loading else max(0.0, now - self.began - self.worked)

    def times_out_at(self, timeout: float) -> float:
        """When its pull has taken too long; while its worker loads, it gets more time."""
        if self.is_ending:
            return math.inf
        return self.heard + timeout + (_LOADING_SECONDS if self.loading else 0.0)

    def running(self, now: float) -> RunningJob:
        """What an allocator needs to know."""
        return RunningJob(self.job.cores, self.expected, now - self.began)


class Assignments:
    """All jobs under way on a pool of `cores` cores, by their numbers."""

    def __init__(self, cores: int, now: Callable[[], float]) -> None:
        self.free = cores
        self._now = now
        self._jobs = 0
        self._by_job: dict[int, Assignment] = {}

    def __len__(self) -> int:
        return len(self._by_job)

    def __iter__(self) -> Iterator[Assignment]:
        return iter(list(self._by_job.values()))  # jobs may end meanwhile

    def __getitem__(self, job: int) -> Assignment:
        return self._by_job[job]

    @property
    def working_cores(self) -> int:
        """The cores of jobs whose workers are ready."""
        return sum(one.job.cores for one in self._by_job.values() if not one.loading)

    def add(self, runs: list[Run], cores: int, seconds_each: float | None) -> Job:
        """Make a job of these pulls; it has its cores from now on."""
        job = Job(self._jobs, tuple(runs), cores)
        self._jobs += 1
        now = self._now()
        expected = (seconds_each or math.inf) * job.pulls
        self._by_job[job.number] = Assignment(job, runs, now, now, expected)
        self.free -= cores
        return job

    def remove(self, job: int) -> Assignment:
        """Remove a job that is over; its cores are free."""
        assignment = self._by_job.pop(job)
        self.free += assignment.job.cores
        return assignment

    def wait_for_worker(self, job: int) -> None:
        """Note that a job cannot begin yet."""
        self._by_job[job].loading = True

    def begin(self, job: int) -> None:
        """Note that a job which had to wait for its worker has begun."""
        assignment = self._by_job[job]
        assignment.loading = False
        assignment.began = assignment.heard = self._now()

    def running(self) -> list[RunningJob]:
        """What an allocator needs to know about all jobs."""
        now = self._now()
        return [one.running(now) for one in self._by_job.values()]

    def unanswered(self) -> list[tuple[int, float]]:
        """The cores of each job, and the seconds since it was last heard from."""
        now = self._now()
        return [(one.job.cores, now - one.heard) for one in self._by_job.values()]

    def overdue(self, timeout: float) -> list[Assignment]:
        """The jobs that have taken too long."""
        if timeout == math.inf:
            return []
        now = self._now()
        return [one for one in self._by_job.values() if now >= one.times_out_at(timeout)]

    def next_moment(self, timeout: float) -> float:
        """When to act even if nothing is heard, on the engine's clock."""
        moment = math.inf
        if timeout < math.inf:
            moments = (one.times_out_at(timeout) for one in self._by_job.values())
            moment = min(moments, default=math.inf)
        if self.free and self._by_job:
            moment = min(moment, self._now() + reconsider_after(self.running()))
        return moment
