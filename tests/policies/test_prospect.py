"""How long a race still takes: whether the range holds it as often as it says."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from paceline import APR, CorePool, Normal, Racing
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Conditions
from paceline.loop import run
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.prospect import foreseen, seconds_left
from paceline.pools.virtual import VirtualRunner

POOL = CorePool(4, lambda cores: cores**-0.7)
RACING = Racing()
PROBLEMS = (
    [0.0, 0.5, 0.6, 1.0],
    [0.0] * 19 + [1.0],
    list(np.linspace(0, 1, 10)),
    [0.0, 0.1, 0.2, 0.95, 1.0],
)


def followed(
    means: list[float], seed: int, said: Callable[[Pacer, VirtualRunner], None],
    policy: Policy = RACING,
) -> float:  # fmt: skip
    """Race, and have `said` called at every look; return the seconds that it took."""
    task = Task(arms=len(means), scaling=POOL, confidence=0.95, noise=NormalNoise(), seed=seed)
    pacer = policy.start(task)
    runner = VirtualRunner(Normal(means), POOL, np.random.default_rng(seed))
    return run(pacer, runner, on_results=lambda: said(pacer, runner)).seconds


def forecasts(means: list[float], seed: int) -> list[tuple[float, float, float, float, float]]:
    """After each look: the seconds since the start, the range, and the seconds that were left."""
    found: list[tuple[float, tuple[float, float, float]]] = []

    def say(pacer: Pacer, runner: VirtualRunner) -> None:
        left = foreseen(pacer)
        if left is not None:
            now = runner.now()
            found.append((now, seconds_left(left, POOL, elapsed=now, pulls=runner.pulls)))

    total = followed(means, seed, say)
    return [(now, *span, total - now) for now, span in found]


def test_the_range_holds_the_time_left_about_as_often_as_it_says() -> None:
    """It is to hold 80 %. Looks of one race depend on each other, so the test is a coarse one."""
    rows = [row for means in PROBLEMS for seed in range(12) for row in forecasts(means, seed)]
    _, low, median, high, left = np.array(rows).T
    assert len(rows) > 200
    held = np.mean((low <= left) & (left <= high))
    assert 0.68 < held < 0.93
    # A range a third as wide, in logarithms, would be caught.
    narrow = (median * (low / median) ** 0.3 <= left) & (left <= median * (high / median) ** 0.3)
    assert narrow.mean() < 0.6


def test_the_median_is_of_the_right_size_once_a_tenth_of_the_race_is_over() -> None:
    for means in PROBLEMS:
        rows = np.array([row for seed in range(12) for row in forecasts(means, seed)])
        late = rows[(rows[:, 0] > 0.1 * (rows[:, 0] + rows[:, 4])) & (rows[:, 4] > 0)]
        ratio = float(np.median(late[:, 2] / late[:, 4]))
        assert 0.4 < ratio < 2.5, means


def test_it_depends_on_nothing_but_what_was_told() -> None:
    assert forecasts(PROBLEMS[0], 3) == forecasts(PROBLEMS[0], 3)


def test_ties_have_no_end_in_sight_or_a_far_one() -> None:
    rows = []

    class Enough(Exception):
        pass

    def say(pacer: Pacer, runner: VirtualRunner) -> None:
        left = foreseen(pacer)
        if left is not None and runner.now() > 2000:
            rows.append((runner.now(), float(np.quantile(left, 0.9, method="inverted_cdf"))))
        if runner.now() > 20_000:
            raise Enough

    with pytest.raises(Enough):
        followed([0.0, 0.0], 1, say)
    assert all(high > 5 * 4 * now for now, high in rows)  # in pulls, of which 4 take a second


def test_the_papers_policies_have_one_too() -> None:
    seen: list[float] = []

    def say(pacer: Pacer, runner: VirtualRunner) -> None:
        left = foreseen(pacer)
        if left is not None:
            seen.append(float(np.median(left)) / POOL.cores - (total - runner.now()))

    total = followed(PROBLEMS[0], 0, lambda *_: None, APR())
    followed(PROBLEMS[0], 0, say, APR())
    assert seen


def test_it_is_too_early_before_the_first_look_and_too_late_after_the_verdict() -> None:
    task = Task(arms=2, scaling=POOL, confidence=0.95, noise=NormalNoise())
    pacer = Racing().start(task)
    assert foreseen(pacer) is None
    followed([0.0, 5.0], 0, lambda one, _: one.adjust(Conditions(0.0, POOL)))
    run(pacer, VirtualRunner(Normal([0.0, 5.0]), POOL, np.random.default_rng(0)))
    assert foreseen(pacer) is None


def test_a_slow_race_stays_slow() -> None:
    left = np.array([100.0, 200.0, math.inf])
    as_said = seconds_left(left, POOL, elapsed=25.0, pulls=100)
    slow = seconds_left(left, POOL, elapsed=50.0, pulls=100)
    assert slow[0] == pytest.approx(2 * as_said[0])
    assert math.isinf(slow[2])
