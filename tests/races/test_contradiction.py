"""A verdict that the table of means seems to contradict says why."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.inprocess import in_process
from paceline import RaceWarning, race
from paceline.races import read_journal
from paceline.races.contradiction import contradiction

ARMS = [0.0, 1.0, 0.2]
SAYS = r"the mean of \"1.0\" in it includes one value of -1e\+20, and would be 1.\d+ without it"


def with_outlier(sign: float = 1.0) -> Any:
    """The third pull of the best arm is a wild number."""
    pulls = 0

    def evaluate(arm: float, *, seed: int) -> float:
        nonlocal pulls
        pulls += arm == 1.0
        if arm == 1.0 and pulls == 3:
            return -1e20 * sign
        return sign * (arm + random.Random(f"{seed}-{arm}").gauss(0, 1))

    return evaluate


@pytest.mark.parametrize("noise", ["auto", "normal"])
def test_one_wild_value_in_the_best_arm(noise: str, tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"noise": noise, "paired": True, "progress": False}
    with pytest.warns(RaceWarning, match=SAYS):
        result = race(with_outlier(), ARMS, engine=in_process(), journal=path, **options)
    assert result.best == 1.0
    means = [arm.mean for arm in result.arms]
    assert means[1] < means[2]  # the table, at which a reader wonders
    (said,) = [text for text in result.warnings if "seems to contradict" in text]
    assert "where one value weighs little: see whether it is an error" in said
    assert said in read_journal(path).standing.warnings


def test_low_values_that_are_good() -> None:
    options: dict[str, Any] = {"paired": True, "direction": "minimize", "progress": False}
    with pytest.warns(RaceWarning, match=r"one value of 1e\+20, and would be -1.\d+ without it"):
        result = race(with_outlier(-1.0), ARMS, engine=in_process(), **options)
    assert result.best == 1.0


def test_a_table_that_agrees_needs_no_words() -> None:
    def evaluate(arm: float, *, seed: int) -> float:
        return arm + random.Random(f"{seed}-{arm}").gauss(0, 0.3)

    for paired in (True, False):
        result = race(evaluate, ARMS, engine=in_process(), paired=paired, progress=False)
        assert not any("contradict" in text for text in result.warnings)


def test_an_arm_that_was_out_early_keeps_the_mean_of_then() -> None:
    early, best, labels = np.array([0.6, 0.5, 0.7]), np.tile([0.3, 0.6], 50), ["x=1", "x=2"]
    said = contradiction([1], set(), [early, best], labels)
    assert "the mean of x=1 in it is better than that of x=2, but x=1 was out after 3 pulls" in said
    late = np.concatenate([np.full(3, 0.9), best])  # it was better then
    said = contradiction([1], set(), [early, late[:-1] - 0.1], labels)
    assert "but not over the first 3 pulls of both" in said
    assert contradiction([1], {0}, [early, best], labels) == ""  # it failed, and was not compared
    assert contradiction([1], set(), [early, best], labels, tolerance=0.2) == ""
    assert contradiction([0], set(), [early, best], labels) == ""
    assert contradiction([1], set(), [early, np.array([])], labels) == ""
    assert contradiction([0, 1], set(), [early, best], labels) == ""


def test_no_ordinary_value_is_called_an_error() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        best, other = rng.normal(0, 1, 12), rng.normal(0, 1, 12)
        assert "includes one value" not in contradiction([0], set(), [best, other], ["a", "b"])


def test_several_wild_values() -> None:
    wild = np.array([1.0, 1.1, -1e9, -1e9, 0.9, 1.0])
    said = contradiction([0], set(), [wild, np.full(6, 0.5)], ["x=1", "x=2"])
    assert "a few values that are far off weigh less than in a mean" in said
