"""Arms take turns, pull by pull: a machine that warms up or slows down affects all alike."""

import random
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paceline
from paceline.cli import main
from tests.races.virtual import VirtualEngine


def order_of(log: Path, words: list[str]) -> str:
    """Race three commands that note their turns, on one core; in which order they ran."""
    commands = [f"echo {name} >> {log}" for name in "abc"]
    assert main(["race", *commands, "--value", "time", "--minimize", "--cores", "1", *words]) < 4
    return log.read_text().replace("\n", "")


@pytest.mark.parametrize(
    "goal", [["--max-pulls", "60"], ["-d", "1.5s"], ["-d", "1.5s", "-c", "0.99"]]
)
def test_commands_that_are_timed_take_turns_by_default(goal: list[str], tmp_path: Path) -> None:
    order = order_of(tmp_path / "log", goal)
    first = order[:18]  # while all arms are in
    counts = Counter(first)
    assert len(counts) == 3
    assert max(counts.values()) - min(counts.values()) <= 2
    assert max(len(list(same)) for _, same in groupby(first)) <= 2


class Drifting:
    """A machine that gets slower with every pull; the arms are equal."""

    def __init__(self) -> None:
        self.turns: list[int] = []

    def __call__(self, arm: int, *, seed: int) -> float:
        self.turns.append(arm)
        return 0.002 * len(self.turns) + random.Random(seed).gauss(0, 1)


@pytest.mark.parametrize(
    "goal", [{"max_pulls": 600}, {"deadline": 300}, {"deadline": 300, "confidence": 0.99}]
)
def test_a_drift_affects_all_arms_alike(goal: dict[str, Any]) -> None:
    evaluate = Drifting()
    result = paceline.race(
        evaluate, range(4), direction="minimize", engine=VirtualEngine(1), progress=False, **goal
    )
    fell = min(result.story.milestones.falls.values(), default=result.elapsed)
    together = int((result.values.at <= fell).sum())  # pulls while all arms were in
    assert together >= 60
    turns = np.array(evaluate.turns[:together])
    middles = [np.flatnonzero(turns == arm).mean() for arm in range(4)]
    # In blocks, one arm after the other, they would lie a quarter of all pulls apart.
    assert np.ptp(middles) <= 2
