"""Giving jobs to the steps of a real Slurm, and what races on it are compared with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.engines.events import Failed, Failure, Finished, Lost
from paceline.engines.jobs import Run
from paceline.engines.slurm import SlurmEngine
from paceline.engines.workload import Workload
from paceline.journal import read_records
from paceline.journal.records import PullsReturned
from paceline.testing.driving import Driver, seeds

PATIENCE_SECONDS = 60.0
Values = dict[tuple[int, int], float]


@contextmanager
def opened(
    evaluate: str | Callable[..., float], engine: SlurmEngine | None = None, **more: Any
) -> Iterator[Driver]:
    """A driver of the steps of a command, or of a function, with two arms: 0 and 1."""
    engine = engine or SlurmEngine()
    arms: list[Any] = [0.0, 1.0]
    if isinstance(evaluate, str):
        arms = [{"x": 0}, {"x": 1}]
        workload = Workload(Command.parse(evaluate, shell=True), arms, seeds, **more)
    else:
        workload = Workload(evaluate, arms, seeds, **more)
    with engine.open(workload, 40) as workers:
        yield Driver(engine, workers, PATIENCE_SECONDS)


def value(driver: Driver, arm: int = 0, cores: int = 1, node: int = 0, tries: int = 1) -> float:
    """The value of a pull; if it is lost, it is done again, as a race would, up to `tries`."""
    last = driver.run(Run(arm, 0, 1), cores=cores, node=node)
    while isinstance(last, Lost) and tries > 1:
        tries -= 1
        last = driver.run(Run(arm, 0, 1), cores=cores, node=node)
    assert isinstance(last, Finished), last
    return driver.values(last.job)[0]


def failure(driver: Driver, arm: int = 0) -> Failure:
    """Why a pull failed."""
    last = driver.run(Run(arm, 0, 1))
    assert isinstance(last, Failed), last
    return last.failure


def recorded(journal: Path) -> Values:
    """The values in a journal by arm and pull; no pull has two."""
    found: Values = {}
    for record in read_records(journal):
        if isinstance(record, PullsReturned):
            places = [(run[0], run[1] + k) for run in record.pulls for k in range(run[2])]
            for place, number in zip(places, record.values, strict=True):
                assert place not in found
                found[place] = number
    return found


def agree(one: Values, other: Values) -> bool:
    """Whether what both have is the same, and that is much."""
    both = one.keys() & other.keys()
    return len(both) >= min(len(one), len(other)) / 2 and all(one[at] == other[at] for at in both)
