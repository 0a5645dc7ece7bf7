"""A confidence and a deadline at once: what is stated holds, though a plan cuts arms.

The public calls with their default arguments, on instances where the plan often cuts the best arm
and the others are then soon told apart. As in test_guarantee.py, a test fails when as many errors
would be a chance of less than one in a million, and a control must be caught.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from paceline import Bernoulli, CorePool, Distributions, Normal, Problem, Simulation, race, simulate
from paceline.core.arrays import Ints
from paceline.core.evidence.base import Evidence
from paceline.policies.timed import TimedPacer
from tests.races.virtual import VirtualEngine
from tests.statistical.test_guarantee import refutes

POOL = CorePool(40, lambda cores: 0.2 * cores**-0.5)
RUNS = 300
CONFIDENCE = 0.95
LEVELS = (0.5, 0.3, 0.2, 0.1, 0.05)

# The best arm is so noisy that the plan often cuts it. Of those left, one is soon far ahead.
MEANS = [0.1, 0.0, *[-0.2] * 14]
NOISY_BEST = Distributions([stats.norm(0.1, 2.0), *(stats.norm(m, 0.1) for m in MEANS[1:])], 2.0)
# The first cut of many is by luck.
CROWD = Normal(np.r_[0.3, 0.0, np.full(58, -1.2)])
COINS = Bernoulli(np.r_[0.8, 0.7, np.full(58, 0.2)])


def races(problem: Problem, deadline: float, **more: Any) -> Simulation:
    options: dict[str, Any] = {"replications": RUNS, "seed": 17, "processes": 1}
    return simulate(
        problem, scaling=POOL, confidence=CONFIDENCE, deadline=deadline, **(options | more)
    )


def wrong_claims(result: Simulation, level: float) -> int:
    """How many wrong answers were said to be right with probability 1 − `level` or more."""
    return int(((result.confidences >= 1 - level - 1e-9) & ~result.correct).sum())


LEARNED = {"noise": "normal"}
CASES: list[Any] = [
    pytest.param(NOISY_BEST, 2.0, LEARNED, id="noisy best"),
    pytest.param(NOISY_BEST, 2.0, LEARNED | {"top": 2}, id="top 2"),
    pytest.param(NOISY_BEST, 2.0, LEARNED | {"tolerance": 0.05}, id="tolerance"),
    pytest.param(NOISY_BEST, 2.0, LEARNED | {"paired": True}, id="paired"),
    pytest.param(CROWD, 3.0, {}, id="known sigma"),
    pytest.param(COINS, 3.0, {}, id="0/1"),
    pytest.param(Normal([0.02, 0.0, 0.0]), 8.0, LEARNED, id="near ties"),
]


@pytest.mark.parametrize(("problem", "deadline", "more"), CASES)
def test_what_is_stated_holds(problem: Problem, deadline: float, more: dict[str, Any]) -> None:
    result = races(problem, deadline, **more)
    for level in LEVELS:
        assert not refutes(wrong_claims(result, level), RUNS, level)


def cuts_count_as_falls(patch: pytest.MonkeyPatch) -> None:
    """What a careless policy would do: forget the arms that its plan has cut."""

    def forget(evidence: Evidence, arms: Ints) -> Evidence:
        aside = set_aside(evidence, arms)
        aside.alive = arms[:0]
        return aside

    set_aside = Evidence.set_aside
    patch.setattr(Evidence, "set_aside", forget)
    patch.setattr(TimedPacer, "_answer", lambda pacer: pacer.alive if pacer._is_settled else None)


def test_control_cuts_that_count_as_falls_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts_count_as_falls(monkeypatch)
    assert refutes(wrong_claims(races(NOISY_BEST, 2.0, **LEARNED), 0.05), RUNS, 0.05)


# The same through `race`; too few of these are run for a control to be caught by them alone.


def noisy(entropy: int) -> Callable[[float], float]:
    rng = random.Random(entropy)
    return lambda arm: arm + rng.gauss(0.0, 2.0 if arm > 0 else 0.1)


def wrong_in_races(count: int) -> int:
    """The best arm is at every place in its turn."""
    wrong = 0
    for number in range(count):
        arms = np.roll(MEANS, number).tolist()
        result = race(
            noisy(number),
            arms,
            confidence=0.99,
            deadline=12,
            engine=VirtualEngine(cores=16, seed=number),
            progress=False,
        )
        wrong += result.confidence == 0.99 and result.best != max(MEANS)
    return wrong


def test_a_race_states_it_wrongly_no_more_often_than_promised() -> None:
    assert not refutes(wrong_in_races(100), 100, 0.01)
