import math

import numpy as np
import pytest
from scipy import stats

from paceline import Bernoulli, Distributions, Evaluated, InvalidInput, Normal, Problem
from paceline.core.arrays import Floats
from paceline.testing import ProblemContract


def draw_many(problem: Problem, arm: int, pulls: int, times: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    drawn = [
        problem.draw(np.array([arm]), np.array([pulls]), np.array([0]), rng) for _ in range(times)
    ]
    return np.array([sums[0] for sums, _ in drawn]), np.array([squares[0] for _, squares in drawn])


class TestBernoulli(ProblemContract):
    problem = Bernoulli([0.3, 0.8])


class TestSureBernoulli(ProblemContract):
    problem = Bernoulli([0.0, 1.0])


class TestNormal(ProblemContract):
    problem = Normal([0.3, -2.0], sigma=1.5)


class TestNormalWithSomethingInCommon(ProblemContract):
    problem = Normal([0.3, -2.0, 5.0], sigma=1.5, common=0.8)


class TestDistributions(ProblemContract):
    problem = Distributions([stats.uniform(0, 1), stats.beta(2, 2)])


class TestUnboundedDistributions(ProblemContract):
    problem = Distributions([stats.norm(0, 1), stats.norm(1, 1.5)], sigma=2.0)


def noisy(arm: float, *, seed: int) -> float:
    return arm + float(np.random.default_rng(seed).normal())


class TestEvaluated(ProblemContract):
    problem = Evaluated(noisy, arms=[0.0, 1.0], sigma=1.0, means=[0.0, 1.0])
    times = 300


def test_the_variances_of_sums_are_the_textbooks() -> None:
    """The contract knows the means, and of the variance at most a bound."""
    for problem, variance in (
        (Bernoulli([0.3, 0.8]), 0.16),
        (Distributions([stats.uniform(0, 1), stats.beta(2, 2)]), 0.05),
    ):
        sums, squares = draw_many(problem, 1, 20, 4000)
        spread = (squares - sums**2 / 20) / 19
        assert abs(spread.mean() - variance) < 5 * spread.std() / math.sqrt(4000)
        assert np.var(sums) == pytest.approx(20 * variance, rel=0.15)


def test_many_arms_are_drawn_as_one_array() -> None:
    arms = np.arange(1000)
    sums, _ = Bernoulli(np.linspace(0, 1, 1000)).draw(
        arms, np.full(1000, 10**12), arms, np.random.default_rng(0)
    )
    assert np.abs(sums / 10**12 - np.linspace(0, 1, 1000)).max() < 1e-4


def test_distributions_know_their_means_and_half_widths() -> None:
    problem = Distributions([stats.uniform(-1, 4), stats.bernoulli(0.5)])
    assert problem.means is not None
    assert problem.means.tolist() == [1.0, 0.5]
    assert problem.sigma == 2.0
    assert Distributions([stats.norm(0, 1), stats.norm(1, 1)], sigma=1.0).sigma == 1.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Bernoulli([]), "no arms"),
        (lambda: Bernoulli([0.5]), "only one arm"),
        (lambda: Bernoulli([0.5, math.nan]), r"number 1 .* is nan"),
        (lambda: Bernoulli([0.5, 1.2]), "arm 1 has 1.2"),
        (lambda: Bernoulli("many"), "must be numbers"),
        (lambda: Bernoulli([[0.5, 0.2]]), "flat list"),
        (lambda: Normal([0.5, math.inf]), "finite"),
        (lambda: Normal([0.5, 0.2], sigma=0.0), "sigma"),
        (lambda: Distributions([stats.norm(0, 1), stats.norm(1, 1)]), "needs sigma"),
        (lambda: Distributions([0.5, 0.2]), "frozen scipy distribution"),
        (lambda: Evaluated("f", [1, 2], sigma=1.0), "function"),  # type: ignore[arg-type]
        (lambda: Evaluated(max, [1, 2], sigma=1.0, means=[1.0, 2.0, 3.0]), "one per arm"),
        (lambda: Evaluated(max, [1], sigma=1.0), "only one arm"),
    ],
)
def test_bad_problems_are_refused(make: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()  # type: ignore[operator]


def test_an_evaluation_that_gives_nan_says_which_arm_and_seed() -> None:
    problem = Evaluated(lambda arm, seed: math.nan, arms=["a", "b"], sigma=1.0)
    with pytest.raises(InvalidInput, match=r"arm 1 \('b'\) with seed \d+"):
        problem.draw(np.array([1]), np.array([1]), np.array([0]), np.random.default_rng(0))


def test_an_evaluation_that_gives_no_number_says_so() -> None:
    problem = Evaluated(lambda arm: None, arms=["a", "b"], sigma=1.0)  # type: ignore[arg-type,return-value]
    with pytest.raises(InvalidInput, match="gave None for arm 0"):
        problem.draw(np.array([0]), np.array([1]), np.array([0]), np.random.default_rng(0))
