"""An engine in virtual time whose pulls take as long, and fail, as they are told."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from paceline.engines.events import Event, Failed, Failure, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.simulated import Outcome, SimulatedEngine, SimulatedWorkers
from paceline.engines.workload import Workload
from paceline.policies.base import Pacer, Policy, Task

AnyPolicy = TypeVar("AnyPolicy", bound=Policy)
Duration = Callable[[random.Random, int], float]  # of a pull on so many cores


class VirtualEngine(SimulatedEngine):
    """`faults` is the probability that an attempt at a pull goes wrong, in any of nine ways.

    `fatal` says of which pulls every attempt fails.
    """

    def __init__(
        self,
        cores: int = 4,
        duration: Duration = lambda rng, cores: rng.uniform(0.5, 1.5) / cores**0.5,
        faults: float = 0.0,
        seed: int = 0,
        fatal: Callable[[int, int], bool] = lambda arm, pull: False,
    ) -> None:
        super().__init__(cores, script=self._play, group=4)
        self.duration = duration
        self.faults = faults
        self.seed = seed
        self.fatal = fatal
        self.workers: list[VirtualWorkers] = []

    def open(self, workload: Workload, cores: int) -> "VirtualWorkers":
        self.workers.append(VirtualWorkers(self, workload, cores))
        self.rng = random.Random(self.seed)
        self.attempts: dict[tuple[int, int], int] = {}
        return self.workers[-1]

    def _play(self, workload: Workload, job: Job, arm: int, pull: int) -> Outcome:
        seconds = self.duration(self.rng, job.cores)
        failure = self._fault(arm, pull)
        if failure == "hang":
            return math.inf, 0.0  # nothing is heard of it until it is killed
        if failure is not None:
            return seconds, failure
        return seconds, float(workload.call(arm, pull, job.cores))

    def _fault(self, arm: int, pull: int) -> Any:
        attempt = self.attempts[arm, pull] = self.attempts.get((arm, pull), 0) + 1
        if self.fatal(arm, pull):
            return Failure("exception", "raised ValueError: broken", "Traceback: broken")
        # The same whatever else happens: a retry must be able to succeed in any order.
        lot = random.Random(hash((self.seed, arm, pull, attempt)))
        if lot.random() >= self.faults:
            return None
        return lot.choice(
            [
                Failure("exception", "raised ValueError: no", ""),
                Failure("no number", "gave nan", ""),
                Failure("exit status", "ended with status 3", ""),
                Failure("died", "the worker process ended with signal 9", ""),
                "hang",
                # What the machine may have done: nobody is charged with these at once, or ever.
                Failure("machine", "a worker could not be started", ""),
                Failure("killed", "the worker process was killed by signal 9", ""),
                Failure("shortage", "raised MemoryError", ""),
                Failure("died after others", "the worker process ended with signal 11", ""),
            ]
        )


class VirtualWorkers(SimulatedWorkers):
    """Checks, as it goes, that never more cores are used than there are; one event at a time."""

    def __init__(self, engine: SimulatedEngine, workload: Workload, cores: int) -> None:
        super().__init__(engine, workload, (cores,))
        self.cores = cores
        self.in_use: dict[int, int] = {}
        self.most_in_use = 0
        self.closed = False

    def start(self, job: Job) -> None:
        assert not self.closed
        assert 1 <= job.pulls <= 4
        self.in_use[job.number] = job.cores
        self.most_in_use = max(self.most_in_use, sum(self.in_use.values()))
        assert sum(self.in_use.values()) <= self.cores
        super().start(job)

    def end(self, job: int) -> None:
        assert job in self.in_use
        super().end(job)

    def wait(self, seconds: float | None) -> list[Event]:
        events = super().wait(seconds)
        for event in events:
            if isinstance(event, Finished | Failed | Lost):
                del self.in_use[event.job]
        return events

    def close(self) -> None:
        self.closed = True


def pulls_of(runs: Sequence[Any]) -> list[tuple[int, int]]:
    """Every pull of recorded runs."""
    return [
        (run.arm, run.first + i) for run in (Run(*one) for one in runs) for i in range(run.pulls)
    ]


def watched(policy: AnyPolicy) -> tuple[AnyPolicy, list[Pacer]]:
    """A policy, and the pacers that it will start: they know what they were told of."""
    pacers: list[Pacer] = []
    start = policy._pacer

    def starting(task: Task) -> Pacer:
        pacers.append(start(task))
        return pacers[-1]

    object.__setattr__(policy, "_pacer", starting)
    return policy, pacers
