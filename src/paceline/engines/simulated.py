"""An engine in virtual time: pulls are evaluated here, and take as long as they are told to.

Nothing sleeps and no process is started, so a race on hundreds of cores is over in a moment. It is
for tests, and for trying out how a race would go on a pool that you do not have.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import ClassVar

from paceline.engines.base import Abilities
from paceline.engines.events import Event, Failed, Failure, Finished, Lost, Resized, Values
from paceline.engines.jobs import Job, in_turn
from paceline.engines.pulling import pull
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores

_REPORT_SECONDS = 0.02  # a job that takes longer reports in between
_ENDING_SECONDS = 0.001  # from being told to end until it is over

# How a pull of a job goes: its seconds (infinite if it hangs), and its value or why it has none.
Outcome = tuple[float, float | Failure]
Script = Callable[[Workload, Job, int, int], Outcome]


class SimulatedEngine:
    """Runs pulls on any number of imaginary cores.

    `seconds` takes a number of cores and says how long a pull on them takes. `script`, if given,
    says instead how each pull goes, from the workload, the job, the arm and the pull's number.

    >>> from paceline import race
    >>> from paceline.core.seeds import pull_seeds
    >>> engine = SimulatedEngine(cores=400, seconds=lambda cores: 60 / cores**0.5)
    >>> def evaluate(arm, *, seed):
    ...     return arm + (seed % 1000) / 1000
    >>> result = race(evaluate, [0.0, 1.0, 2.0], engine=engine)
    >>> result.best, result.elapsed > 1.0
    (2.0, True)

    A cluster has `nodes` instead of `cores`. They change as `changes` says, a list of moments and
    the nodes from then on:

    >>> engine = SimulatedEngine(nodes=(20, 20), changes=[(1.5, (20, 0)), (3.0, (20, 0, 20))])
    >>> result = race(evaluate, [0.0, 0.1, 0.2], engine=engine)
    >>> result.best, result.timeline.pool
    (0.2, ((0.0, 40), (1.5, 20), (3.0, 40)))
    """

    name: ClassVar[str] = "simulated"

    def __init__(
        self,
        cores: int = 0,
        seconds: Callable[[int], float] = lambda cores: 1.0 / cores**0.5,
        script: Script | None = None,
        *,
        nodes: Sequence[int] = (),
        changes: Sequence[tuple[float, Sequence[int]]] = (),
        group: int = 128,
    ) -> None:
        self.abilities = Abilities(
            kill=True,
            pin=True,
            commands=False,
            group=group,
            survives_driver=False,
            resizes=bool(changes),
        )
        self.time = 0.0
        self.nodes = tuple(nodes) or (cores,)
        self.changes = [(when, tuple(then)) for when, then in changes]
        self._cores = sum(self.nodes)
        self._seconds = seconds
        self._script = script or self._evaluate

    def available(self) -> AvailableCores:
        """As many cores as it was made with."""
        nodes = self.nodes if len(self.nodes) > 1 or self.changes else ()
        return AvailableCores(self._cores, "simulated", (), nodes)

    def open(self, workload: Workload, cores: int) -> "SimulatedWorkers":
        """Workers on any number of cores; the nodes change while they are there."""
        nodes = self.nodes if len(self.nodes) > 1 or self.changes else (cores,)
        return SimulatedWorkers(self, workload, nodes)

    def now(self) -> float:
        """The virtual time, which moves while workers are waited for."""
        return self.time

    def outcome(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        """How a pull goes."""
        return self._script(workload, job, arm, number)

    def _evaluate(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        return self._seconds(job.cores), pull(workload, arm, number, job.cores)


class SimulatedWorkers:
    """Knows at once how a job will go, and reports it when its time has come."""

    def __init__(self, engine: SimulatedEngine, workload: Workload, nodes: tuple[int, ...]) -> None:
        self.nodes = nodes
        self.free = list(nodes)
        self._engine = engine
        self._workload = workload
        self._jobs: dict[int, Job] = {}  # those under way
        self._queue: list[tuple[float, int, Event]] = []  # when, in which order, what
        self._order = count()
        for when, then in engine.changes:
            heapq.heappush(self._queue, (when, next(self._order), Resized(then)))

    def start(self, job: Job) -> None:
        """Play a job through."""
        self.free[job.node] -= job.cores
        assert self.free[job.node] >= 0, "more cores are in use than a node has"
        self._jobs[job.number] = job
        for when, event in self._story(job):
            heapq.heappush(self._queue, (when, next(self._order), event))

    def _story(self, job: Job) -> Iterator[tuple[float, Event]]:
        when = reported = self._engine.time
        values: list[float] = []
        took: list[float] = []
        for arm, number in in_turn(job.runs):
            seconds, value = self._engine.outcome(self._workload, job, arm, number)
            if values and when + seconds - reported > _REPORT_SECONDS:
                yield when, Values(job.number, values, took)
                values, took, reported = [], [], when
            when += seconds
            if math.isinf(when):
                return  # it is silent until it is ended
            if isinstance(value, Failure):
                if values:
                    yield when, Values(job.number, values, took)
                yield when, Failed(job.number, value)
                return
            values.append(value)
            took.append(seconds)
        yield when, Values(job.number, values, took)
        yield when, Finished(job.number)

    def end(self, job: int) -> None:
        """Forget what a job would have reported."""
        self._forget(job)
        when = self._engine.time + _ENDING_SECONDS
        heapq.heappush(self._queue, (when, next(self._order), Lost(job)))

    def _forget(self, job: int) -> None:
        self._queue = [one for one in self._queue if getattr(one[2], "job", None) != job]
        heapq.heapify(self._queue)

    def wait(self, seconds: float | None) -> list[Event]:
        """Move to the next moment when something happens, or by `seconds`."""
        engine = self._engine
        until = math.inf if seconds is None else engine.time + seconds
        if not self._queue or self._queue[0][0] > until:
            assert until < math.inf, "it would wait forever"
            engine.time = max(engine.time, until)
            return []
        engine.time = max(engine.time, self._queue[0][0])
        events: list[Event] = []
        while self._queue and self._queue[0][0] <= engine.time:
            event = heapq.heappop(self._queue)[2]
            events.append(event)
            if isinstance(event, Finished | Failed | Lost):
                self._release(event.job)
            elif isinstance(event, Resized):
                events += self._resize(event.nodes)
        return events

    def _release(self, job: int) -> None:
        ended = self._jobs.pop(job)
        self.free[ended.node] += ended.cores

    def _resize(self, nodes: tuple[int, ...]) -> list[Event]:
        """Nodes come and go; what ran on those that are gone is lost."""
        before = [*self.nodes, *[0] * (len(nodes) - len(self.nodes))]
        self.free += [0] * (len(nodes) - len(self.free))
        self.free = [
            free + now - was for free, now, was in zip(self.free, nodes, before, strict=True)
        ]
        self.nodes = nodes
        gone = [job for job in self._jobs.values() if not nodes[job.node]]
        for job in gone:
            self._forget(job.number)
            self._release(job.number)
        return [Lost(job.number, "its node is gone") for job in gone]

    def close(self) -> None:
        """Nothing is open."""
