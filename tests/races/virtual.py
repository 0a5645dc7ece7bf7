"""A host in virtual time: pulls take as long, and fail, as they are told; nothing sleeps."""

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paceline.engines.crew import Failure, Job, Report, Run, in_turn
from paceline.engines.work import FunctionWork, Work

from paceline.machine import AvailableCores

Duration = Callable[[random.Random, int], float]  # of a pull on so many cores


@dataclass
class VirtualHost:
    """`faults` is the probability that an attempt at a pull goes wrong, in any of five ways."""

    cores: int = 4
    duration: Duration = lambda rng, cores: rng.uniform(0.5, 1.5) / cores**0.5
    faults: float = 0.0
    seed: int = 0
    fatal: Callable[[int, int], bool] = lambda arm, pull: False  # whether every attempt fails
    time: float = 0.0
    crews: "list[VirtualCrew]" = field(default_factory=list)

    def available(self) -> AvailableCores:
        return AvailableCores(self.cores, "virtual", tuple(range(self.cores)))

    def crew(self, work: Work, cores: int) -> "VirtualCrew":
        assert isinstance(work, FunctionWork)
        self.crews.append(VirtualCrew(self, work, cores))
        return self.crews[-1]

    def clock(self) -> float:
        return self.time


class VirtualCrew:
    """Checks, as it goes, that never more cores are used than there are."""

    largest_job = 4

    def __init__(self, host: VirtualHost, work: FunctionWork, cores: int) -> None:
        import pickle

        self.host = host
        self.evaluate, self.arms, *_ = pickle.loads(work.blob)
        self.seeds = work.seeds
        self.cores = cores
        self.in_use: dict[int, int] = {}
        self.most_in_use = 0
        self.done: list[tuple[int, int, int]] = []  # arm, pull, seed of every value reported
        self.attempts: dict[tuple[int, int], int] = {}
        self.rng = random.Random(host.seed)
        self.events: list[tuple[float, int, Report]] = []
        self.number = 0
        self.closed = False

    def start(self, job: Job) -> bool:
        assert not self.closed
        assert 1 <= job.pulls <= self.largest_job
        self.in_use[job.number] = job.cores
        self.most_in_use = max(self.most_in_use, sum(self.in_use.values()))
        assert sum(self.in_use.values()) <= self.cores
        when = self.host.time
        pulls = in_turn(job.runs)
        for place, (arm, pull) in enumerate(pulls):
            seconds = self.host.duration(self.rng, job.cores)
            when += seconds
            failure = self._fault(arm, pull)
            last = place == len(pulls) - 1
            if failure == "hang":
                return True  # nothing is heard of it until it is killed
            if failure is not None:
                self._later(when, Report(job.number, [], [], failure, finished=True))
                return True
            seed = self.seeds(arm, pull, 1)[0]
            value = float(self.evaluate(self.arms[arm], seed=seed))
            self._later(when, Report(job.number, [value], [seconds], None, finished=last))
        return True

    def _fault(self, arm: int, pull: int) -> Any:
        attempt = self.attempts[arm, pull] = self.attempts.get((arm, pull), 0) + 1
        if self.host.fatal(arm, pull):
            return Failure("exception", "raised ValueError: broken", "Traceback: broken")
        # The same whatever else happens: a retry must be able to succeed in any order.
        lot = random.Random(hash((self.host.seed, arm, pull, attempt)))
        if lot.random() >= self.host.faults:
            return None
        return lot.choice(
            [
                Failure("exception", "raised ValueError: no", ""),
                Failure("no number", "gave nan", ""),
                Failure("exit status", "ended with status 3", ""),
                Failure("died", "the worker process ended with signal 9", ""),
                "hang",
            ]
        )

    def _later(self, when: float, report: Report) -> None:
        heapq.heappush(self.events, (when, self.number, report))
        self.number += 1

    def kill(self, job: int) -> None:
        assert job in self.in_use
        self.events = [event for event in self.events if event[2].job != job]
        heapq.heapify(self.events)
        self._later(self.host.time + 0.001, Report(job, [], [], None, finished=True))

    def wait(self, seconds: float | None) -> list[Report]:
        until = math.inf if seconds is None else self.host.time + seconds
        if not self.events or self.events[0][0] > until:
            assert until < math.inf, "it would wait for ever"
            self.host.time = max(self.host.time, until)
            return []
        when, _, report = heapq.heappop(self.events)
        self.host.time = max(self.host.time, when)
        if report.finished:
            del self.in_use[report.job]
        return [report]

    def close(self) -> None:
        self.closed = True


def pulls_of(runs: list[Any]) -> list[tuple[int, int]]:
    """Every pull of recorded runs."""
    return [
        (run.arm, run.first + i) for run in (Run(*one) for one in runs) for i in range(run.pulls)
    ]
