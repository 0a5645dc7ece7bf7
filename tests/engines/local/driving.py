"""Giving jobs to local workers, and hearing of them until they are over."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paceline.engines.events import Event, Failed, Failure, Finished, Lost, Values
from paceline.engines.jobs import Job, Run
from paceline.engines.local.processors import Processors
from paceline.engines.local.workers import LocalWorkers
from paceline.engines.workload import Workload

PATIENCE_SECONDS = 20.0


def seeds(arm: int, first: int, pulls: int) -> list[int]:
    """Seeds that tell which pull they are of."""
    return [100 * arm + first + number for number in range(pulls)]


def workload(evaluate: Any, arms: Sequence[Any] = (0.0, 1.0)) -> Workload:
    """The workload of a function or a command."""
    return Workload(evaluate, arms, seeds)


def opened(
    evaluate: Any, arms: Sequence[Any] = (0.0, 1.0), cores: int = 2, *, share: bool = True
) -> LocalWorkers:
    """Workers that are pinned to nothing."""
    return LocalWorkers(workload(evaluate, arms), Processors((), cores), cores, share=share)


def job(number: int, arm: int = 0, pulls: int = 1, cores: int = 1) -> Job:
    """The first pulls of one arm."""
    return Job(number, (Run(arm, 0, pulls),), cores)


def until(workers: LocalWorkers, enough: Callable[[list[Event]], object]) -> list[Event]:
    """What happens until it is enough."""
    events: list[Event] = []
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not enough(events):
        assert time.monotonic() < give_up, f"only this happened: {events}"
        events += workers.wait(1.0)
    return events


def ends(events: Iterable[Event]) -> dict[int, Finished | Failed | Lost]:
    """How jobs ended."""
    return {event.job: event for event in events if isinstance(event, Finished | Failed | Lost)}


def run(workers: LocalWorkers, *jobs: Job) -> list[Event]:
    """Start jobs, and hear what happens until all are over."""
    for one in jobs:
        workers.start(one)
    return until(workers, lambda events: ends(events).keys() >= {one.number for one in jobs})


def values(events: Iterable[Event]) -> list[float]:
    """All values, in the order in which they came."""
    return [value for event in events if isinstance(event, Values) for value in event.values]


def failure(events: Iterable[Event]) -> Failure:
    """Why the one job failed."""
    (end,) = ends(events).values()
    assert isinstance(end, Failed)
    return end.failure
