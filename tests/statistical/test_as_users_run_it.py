"""The promise as users meet it: `paceline.race`, its default arguments, and values nobody chose.

Every user has the same seed, 0. So whatever a race derives from it, and from the place of an arm,
is the same for all of them; only the values are fresh. As in test_guarantee.py, a test fails when
as many errors would be a chance of less than one in a million; and a race whose luck is fixed by
its seed, as it once was, must be caught.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.inprocess import in_process
from benchmarks.users import Case, coin, lost, paired_coin
from paceline import Result, race
from paceline.core.arrays import Floats
from paceline.core.evidence.group_sequential import GroupSequential
from paceline.core.evidence.opponents import Opponents
from paceline.core.rounds import Results
from paceline.policies.base import Task
from paceline.policies.racing import Racing
from tests.statistical.test_guarantee import refutes

CONFIDENCE = 0.95
Make = Callable[[Case, int, int], Callable[..., float]]


def noisy(case: Case, place: int, entropy: int) -> Callable[..., float]:
    """Normal values, independent of the seed."""
    rng = random.Random(entropy)
    return lambda arm: case.mean(arm, place) + rng.gauss(0.0, 1.0)


def skewed(case: Case, place: int, entropy: int) -> Callable[..., float]:
    rng = random.Random(entropy)
    return lambda arm: case.mean(arm, place) + rng.expovariate(1.0)


def paired_noise(case: Case, place: int, entropy: int) -> Callable[..., float]:
    """Normal values of which a part is common to all pulls with the same seed."""

    def evaluate(arm: int, *, seed: int) -> float:
        shared = random.Random(f"{entropy} {seed}").gauss(0.0, case.common**0.5)
        own = random.Random(f"{entropy} {seed} {arm}").gauss(0.0, (1 - case.common) ** 0.5)
        return case.mean(arm, place) + shared + own

    return evaluate


def run(make: Make, case: Case, number: int, **more: Any) -> Result:
    """The best arm is at every place in its turn."""
    return race(
        make(case, number % case.arms, number),
        list(range(case.arms)),
        confidence=CONFIDENCE,
        max_pulls=case.cap,
        engine=in_process(),
        progress=False,
        **more,
    )


def errors(make: Make, case: Case, races: int, **more: Any) -> int:
    return sum(lost(run(make, case, number, **more), number % case.arms) for number in range(races))


@pytest.mark.parametrize(
    ("make", "case", "races"),
    [
        (coin, Case("0/1", 8, 0.1, 0.05, cap=10_000), 96),
        (coin, Case("0/1, rare", 8, 0.02, 0.01, cap=10_000), 96),
        (coin, Case("0/1, mostly 1", 3, 0.98, 0.96, cap=10_000), 96),
        (coin, Case("0/1, 16 arms", 16, 0.1, 0.05, cap=10_000), 96),
        (paired_coin, Case("0/1, paired", 8, 0.1, 0.05, 0.9, cap=6_000), 96),
        (noisy, Case("normal", 8, 0.05, 0.0, cap=4_000), 96),
        (skewed, Case("skewed", 4, 0.05, 0.0, cap=4_000), 96),
        (paired_noise, Case("paired", 8, 0.02, 0.0, 0.9, cap=4_000), 96),
    ],
    ids=lambda value: value.name.replace(" ", "-") if isinstance(value, Case) else "",
)
def test_the_best_arm_is_seldom_lost_wherever_it_stands(make: Make, case: Case, races: int) -> None:
    assert not refutes(errors(make, case, races), races, 1 - CONFIDENCE)


class FixedLuck(GroupSequential):
    """Fisher's exact test, its ties broken by numbers that depend on the race's seed alone."""

    def __init__(self, task: Task, delta: float) -> None:
        super().__init__(task.arms, delta)
        self.rng = np.random.default_rng((task.seed, 1))

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        theirs, both = opponents.total(fresh.sums), opponents.total(fresh.pulls.astype(np.float64))
        law = stats.hypergeom(
            (fresh.pulls + both).astype(int), (fresh.sums + theirs).astype(int), fresh.pulls
        )
        ones = fresh.sums.astype(int)
        p = law.cdf(ones - 1) + self.rng.random(ones.size) * law.pmf(ones)
        return np.asarray(stats.norm.isf(np.clip(p, 1e-300, 1 - 1e-16)))


def test_control_luck_that_is_the_same_for_everybody_is_caught() -> None:
    """Of rare successes; with the best at the place that luck disfavours, and fresh values."""
    case, races = Case("0/1, rare", 8, 0.02, 0.01, cap=10_000), 32
    wrong = 0
    for number in range(races):
        result = run(coin, case, 8 * number + 7, policy=Racing(FixedLuck))
        wrong += lost(result, 7)
    assert refutes(wrong, races, 1 - CONFIDENCE)


# Intervals.


def missed(result: Result, means: list[float], shrunk: float = 1.0) -> bool:
    """Whether an interval is without its mean, or would be at a part of its width."""
    for arm, mean in zip(result.arms, means, strict=True):
        low = arm.mean - shrunk * (arm.mean - arm.low)
        high = arm.mean + shrunk * (arm.high - arm.mean)
        if not low <= mean <= high:
            return True
    return False


@pytest.mark.parametrize(
    ("make", "case", "extra"),
    [
        (coin, Case("0/1", 8, 0.6, 0.3), 0.0),
        (noisy, Case("normal", 8, 1.0, 0.0), 0.0),
        (paired_noise, Case("paired", 8, 1.0, 0.0, 0.5), 0.0),
        (skewed, Case("skewed", 4, 1.0, 0.0), 1.0),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_intervals_hold_for_all_arms_at_once(make: Make, case: Case, extra: float) -> None:
    """And at a third of their width they do not."""
    races, wrong, narrow = 100, 0, 0
    for number in range(races):
        result = run(make, case, number)
        means = [extra + case.mean(arm, number % case.arms) for arm in range(case.arms)]
        wrong += missed(result, means)
        narrow += missed(result, means, shrunk=1 / 3)
    assert not refutes(wrong, races, 1 - CONFIDENCE)
    assert refutes(narrow, races, 1 - CONFIDENCE)
