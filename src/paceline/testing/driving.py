"""What the laws of engines are tested with: a workload that shows what pulls are given."""

import math
from collections.abc import Sequence
from itertools import count

from paceline.core.seeds import pull_seeds
from paceline.engines.base import Engine, Workers
from paceline.engines.events import (
    Began,
    Failed,
    Finished,
    JobEvent,
    Loading,
    Lost,
    Resized,
    Values,
)
from paceline.engines.jobs import Job, Run, in_turn

ARMS = (10.0, 20.0, 30.0)


def seeds(arm: int, first: int, pulls: int) -> list[int]:
    """The seeds of a race with the seed 5."""
    return pull_seeds(5, arm, first, pulls)


def answer(arm: float, *, seed: int, cores: int) -> float:
    """A value that shows what the pull was given."""
    return arm + seed % 1000 + cores / 100


def expected(job: Job) -> list[float]:
    """The values of all pulls of a job of `answer`, in order."""
    return [
        answer(ARMS[arm], seed=seeds(arm, pull, 1)[0], cores=job.cores)
        for arm, pull in in_turn(job.runs)
    ]


class Driver:
    """Gives out jobs, keeps the events of each, and checks that they break no law."""

    def __init__(self, engine: Engine, workers: Workers, patience: float) -> None:
        self.workers = workers
        self.heard: dict[int, list[JobEvent]] = {}
        self.resized: list[Resized] = []
        self._engine = engine
        self._patience = patience
        self._numbers = count()

    def start(self, *runs: Run, cores: int = 1, fresh: bool = False, node: int = 0) -> Job:
        """Start a job of these runs."""
        job = Job(next(self._numbers), runs, cores, fresh, node)
        self.heard[job.number] = []
        self.workers.start(job)
        return job

    def listen(self, seconds: float | None) -> None:
        """Wait for events, once."""
        for event in self.workers.wait(seconds):
            if isinstance(event, Resized):
                self.resized.append(event)
                continue
            events = self.heard[event.job]
            assert not is_over(events), f"{event} came after the job had ended"
            assert not isinstance(event, Loading) or not events, "Loading comes first"
            assert not isinstance(event, Began) or events, "Began comes only after Loading"
            if isinstance(event, Values):
                waits = bool(events) and isinstance(events[-1], Loading)
                assert not waits, "values before it had begun"
                assert len(event.values) == len(event.seconds)
                assert all(type(value) is float for value in event.values)
                assert all(one >= 0 and math.isfinite(one) for one in event.seconds)
            events.append(event)

    def finish(self, *jobs: Job) -> None:
        """Listen until these jobs are over."""
        until = self._engine.now() + self._patience
        while not all(is_over(self.heard[job.number]) for job in jobs):
            assert self._engine.now() < until, f"no more events come: {self.heard}"
            self.listen(1.0)

    def run(self, *runs: Run, cores: int = 1, node: int = 0) -> JobEvent:
        """Run a job to its end; return its last event."""
        job = self.start(*runs, cores=cores, node=node)
        self.finish(job)
        return self.heard[job.number][-1]

    def values(self, job: int) -> list[float]:
        """All values that the job has given."""
        events = self.heard[job]
        return [value for event in events if isinstance(event, Values) for value in event.values]

    def printed(self, job: int) -> dict[int, str]:
        """What pulls of the job have printed that gave values, by their places among these."""
        found: dict[int, str] = {}
        before = 0
        for event in self.heard[job]:
            if isinstance(event, Values):
                found |= {before + place: text for place, text in event.printed}
                before += len(event.values)
        return found


def is_over(events: Sequence[JobEvent]) -> bool:
    """Whether the last of these ends its job."""
    return bool(events) and isinstance(events[-1], Finished | Failed | Lost)
