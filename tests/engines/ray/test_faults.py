"""Nodes of a real Ray cluster are killed and added in the midst of a race."""

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'paceline[ray]'")

import paceline
from paceline.core.seeds import pull_seeds
from paceline.engines.ray import RayEngine
from paceline.engines.simulated import SimulatedEngine

from .clusters import CORES, Nodes, cluster

REPEATS = int(os.environ.get("PACELINE_RAY_REPEATS", "2"))
ARMS = [arm / 64 for arm in range(64)]
GIVEN: dict[str, Any] = {
    "noise": "normal",
    "paired": False,
    "cores_per_pull": 4,
    "progress": False,
}


def value(arm: float, seed: int) -> float:
    return arm + 0.03 * float(np.random.default_rng(seed).normal())


class Held:
    """Pulls that sleep. Those of the best arm wait while there is a file: the race cannot end."""

    def __init__(self, gate: Path) -> None:
        self.gate = gate

    def __call__(self, arm: float, *, seed: int, cores: int) -> float:
        time.sleep(0.4 * cores**-0.5)
        while arm == ARMS[-1] and self.gate.exists():
            time.sleep(0.05)
        return value(arm, seed)


def quick(arm: float, *, seed: int, cores: int) -> float:
    return value(arm, seed)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with cluster() as made:
        yield made


def records(journal: Path) -> list[dict[str, Any]]:
    """What is in a journal; its last line may be half written."""
    return [json.loads(line) for line in journal.read_text().splitlines(True) if line[-1] == "\n"]


def recorded(journal: Path) -> dict[tuple[int, int], float]:
    """The values in a journal by arm and pull; none may be there twice."""
    found: dict[tuple[int, int], float] = {}
    for record in records(journal):
        runs, values = record.get("pulls"), record.get("values")
        if runs and values:
            keys = [(arm, first + k) for arm, first, pulls in runs for k in range(pulls)]
            assert not set(keys) & set(found), "a pull has two values"
            found |= dict(zip(keys, values, strict=True))
    return found


def sizes(journal: Path) -> list[int]:
    """The cores of the pool whenever it has changed."""
    return [sum(record["nodes"]) for record in records(journal) if record["kind"] == "pool"]


@pytest.mark.engines
@pytest.mark.parametrize("repeat", range(REPEATS))
def test_a_node_is_killed_and_one_added(nodes: Nodes, tmp_path: Path, repeat: int) -> None:
    """No recorded result is lost, and the verdict is that of an undisturbed race."""
    undisturbed = paceline.race(quick, ARMS, engine=SimulatedEngine(2 * CORES), **GIVEN)
    journal, gate = tmp_path / "race.jsonl", tmp_path / "gate"

    def race() -> paceline.Result:
        engine = RayEngine()
        while len(engine.available().nodes) > 2:  # until Ray knows which died the last time
            time.sleep(0.5)
        return paceline.race(Held(gate), ARMS, engine=engine, journal=journal, **GIVEN)

    with ThreadPoolExecutor(1) as pool:  # Ray adds nodes from the main thread only
        racing = pool.submit(race)

        def until(reached: Callable[[], bool]) -> None:
            while not racing.done() and not (journal.exists() and reached()):
                time.sleep(0.05)

        until(lambda: len(recorded(journal)) > 100)
        gate.touch()
        before = recorded(journal)
        nodes.kill(repeat % 2)
        until(lambda: sizes(journal) == [20])
        nodes.add()
        until(lambda: sizes(journal) == [20, 40])
        gate.unlink()
        result = racing.result(timeout=240)
    assert (result.index, result.verdict) == (undisturbed.index, undisturbed.verdict)
    assert [cores for _, cores in result.timeline.pool] == [40, 20, 40]
    values = recorded(journal)
    assert before.items() <= values.items()
    for (arm, pull), got in values.items():
        assert got == value(ARMS[arm], pull_seeds(0, arm, pull, 1)[0])
    for place, record in enumerate(result.arms):  # what was recorded has counted
        counted = [values[place, pull] for pull in range(record.pulls)]
        assert record.mean == pytest.approx(np.mean(counted))
    assert not any(arm.status == "failed" for arm in result.arms)
