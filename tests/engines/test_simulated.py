"""The engine in virtual time."""

import pytest

from paceline import race
from paceline.engines.base import Engine
from paceline.engines.simulated import SimulatedEngine
from paceline.testing import EngineContract


class TestSimulated(EngineContract):
    long_seconds = 0.0  # of this process: in virtual time it is long all the same
    has_processes = False
    is_real = False
    patience = 1000.0

    def engine(self) -> Engine:
        return SimulatedEngine(cores=4)


def test_pulls_take_the_seconds_they_are_told_to_and_nobody_waits() -> None:
    engine = SimulatedEngine(cores=1000, seconds=lambda cores: 3600 / cores**0.5)
    result = race(lambda arm, *, seed: arm + seed % 10, [0.0, 5.0], engine=engine, progress=False)
    assert result.best == 5.0
    assert result.elapsed == pytest.approx(engine.now())
    assert result.elapsed > 100.0
    assert result.cores == 1000


def test_more_cores_than_there_are_are_a_mistake_of_whoever_gives_them_out() -> None:
    from paceline.engines.jobs import Job, Run
    from paceline.engines.workload import Workload

    workers = SimulatedEngine(cores=2).open(Workload(abs, [1], lambda *_: [0]), cores=2)
    workers.start(Job(0, (Run(0, 0, 1),), 2))
    with pytest.raises(AssertionError, match="more cores are in use"):
        workers.start(Job(1, (Run(0, 1, 1),), 1))
