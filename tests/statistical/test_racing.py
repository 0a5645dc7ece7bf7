"""Racing loses the best arm in at most δ of the races, on instances made to lose it.

The best arm is a little ahead of others that tie, or nearly so. An error is a race that lost it,
whether the race is decided or not: most are stopped by a cap long before. As in test_guarantee.py a
test fails when so many errors would be a chance of less than one in a million, and controls must be
caught.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from benchmarks.problems import Points, Unequal
from paceline import Bernoulli, Normal, Policy, PowerLaw, Problem, Simulation, simulate
from paceline.core.arrays import Floats
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.opponents import Opponents
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Results
from paceline.policies.base import Task
from paceline.policies.racing import Racing
from tests.statistical.test_guarantee import one_against_many, refutes

DELTA = 0.1


def races(
    problem: Problem, policy: Policy, runs: int, pulls_per_arm: float, **changes: object
) -> Simulation:
    """Few, long rounds, which are quick to simulate; looks within them are many."""
    return simulate(
        problem,
        policy,
        PowerLaw(0.1),
        confidence=1 - DELTA,
        seed=29,
        replications=runs,
        max_pulls=pulls_per_arm * problem.arms,
        processes=1,
        **changes,  # type: ignore[arg-type]
    )


def lost(result: Simulation, best: int = 1) -> int:
    """In how many races one of the first arms is neither returned nor still in."""
    pairs = zip(result.chosen.tolist(), result.still_in, strict=True)
    return sum(not set(range(best)) <= {*chosen, *alive.tolist()} for chosen, alive in pairs)


def errors_of(
    problem: Problem,
    runs: int,
    pulls_per_arm: float,
    policy: Policy | None = None,
    **changes: object,
) -> int:
    return lost(races(problem, policy or Racing(), runs, pulls_per_arm, **changes))


@pytest.mark.parametrize(("arms", "runs"), [(2, 500), (16, 400), (64, 400)])
def test_the_best_of_nearly_tied_arms_is_seldom_lost(arms: int, runs: int) -> None:
    assert not refutes(errors_of(Bernoulli(one_against_many(arms, 0.003)), runs, 2000), runs, DELTA)


@pytest.mark.parametrize("best_varies", ["most", "least"])
def test_unknown_variances_may_differ(best_varies: str) -> None:
    """Of normal values, one to ten."""
    runs, arms = 400, 8
    own, others = (1.0, 0.1) if best_varies == "most" else (0.1, 1.0)
    problem = Unequal(one_against_many(arms, 0.003), np.r_[own, np.full(arms - 1, others)])
    assert not refutes(errors_of(problem, runs, 1000, noise="normal"), runs, DELTA)


def test_bounded_rewards_may_be_skewed() -> None:
    runs = 300
    problem = Points(np.r_[0.0, np.full(4, 0.003)])
    assert not refutes(errors_of(problem, runs, 200), runs, DELTA)


def test_none_of_the_top_two_is_often_lost() -> None:
    runs = 400
    problem = Bernoulli(np.r_[0.5, 0.5, np.full(6, 0.497)])
    result = races(problem, Racing(), runs, 1000, top=2)
    assert not refutes(lost(result, best=2), runs, DELTA)


@pytest.mark.parametrize("kind", ["bets", "scores"])
def test_with_a_tolerance_the_answer_is_seldom_too_bad(kind: str) -> None:
    """The others are worse than the best by just more than is tolerated, and tie."""
    runs, tolerance = 400, 0.1
    means = one_against_many(6, tolerance + 1e-9)
    problem: Problem = Bernoulli(means) if kind == "bets" else Normal(means, 0.5)
    noise = BernoulliNoise() if kind == "bets" else NormalNoise()
    result = races(problem, Racing(), runs, 2000, tolerance=tolerance, noise=noise)
    decided = result.index >= 0
    assert decided.mean() > 0.9
    assert not refutes(int((decided & ~result.correct).sum()), runs, DELTA)


def test_common_noise_in_pairs_does_no_harm() -> None:
    runs = 400
    problem = Normal(one_against_many(4, 0.001), sigma=1.0, common=0.9)
    assert not refutes(errors_of(problem, runs, 400, noise="normal", paired=True), runs, DELTA)


# Controls.


class LowBar(Betting):
    """A fifth of the stake is enough."""

    def weigh(self, fresh: Results) -> Floats:
        return super().weigh(fresh) + math.log(5)


class Peeking(Betting):
    """Opponents chosen with the fresh values themselves."""

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Sequence[Opponents]:
        return super().opponents(fresh, fresh.sums / fresh.pulls, variances)


def made_by(kind: type[Betting]) -> Callable[[Task, float], Betting]:
    return lambda task, delta: kind(task.arms, delta, (0.0, 1.0))


@pytest.mark.parametrize(
    ("kind", "arms", "cap", "caught"),
    [
        (LowBar, 2, 20_000, True),
        (Peeking, 16, 1000, True),
        (Betting, 2, 20_000, False),
        (Betting, 16, 1000, False),
    ],
    ids=["a low bar", "peeking", "two tied arms", "sixteen tied arms"],
)
def test_controls_are_caught_and_the_honest_race_is_not(
    kind: type[Betting], arms: int, cap: float, caught: bool
) -> None:
    """All arms tie: the first is as good as any, so it is lost in δ of the races at most."""
    runs = 500
    tied = Bernoulli(np.full(arms, 0.5))
    errors = errors_of(tied, runs, cap, Racing(made_by(kind)))
    assert refutes(errors, runs, DELTA) is caught
