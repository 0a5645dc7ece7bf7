"""Guarantees are tested as statistics: by counting errors, with a control that must be caught.

A test fails when errors as many as were seen would be a chance of less than one in a million
under the guarantee; a control shows that the test bites.
"""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from paceline import APR, SSH, BatchRacing, LilUCB, Policy, PowerLaw, Uniform, simulate
from paceline.core.arrays import Floats
from paceline.core.evidence.lil import omega, radius
from paceline.theory import gaps_of, hardness, success_bound

DELTA = 0.1
RUNS = 2000
CERTAIN = 1e-6


def one_against_many(arms: int, gap: float, best: float = 0.5) -> Floats:
    return np.concatenate([[best], np.full(arms - 1, best - gap)])


def refutes(errors: int, runs: int, allowed: float) -> bool:
    """Whether so many errors refute that they are at most `allowed`."""
    return bool(binomtest(errors, runs, allowed, alternative="greater").pvalue < CERTAIN)


def errors_of(
    policy: Policy, means: Floats, *, rewards: str = "bernoulli", runs: int = RUNS
) -> int:
    """How often another arm than the best was declared the best, or the best one was lost.

    Once it is lost the others tie, and a fixed batch would go on to the default cap.
    """
    result = simulate(
        means,
        policy,
        PowerLaw(0.5),
        confidence=1 - DELTA,
        rewards=rewards,
        replications=runs,
        max_rounds=5e3,
    )
    return int((~result.correct).sum())


@pytest.mark.parametrize(
    ("means", "rewards"),
    [
        (one_against_many(64, 0.003), "bernoulli"),
        (one_against_many(16, 0.01), "bernoulli"),
        (one_against_many(2, 0.01, best=0.95), "bernoulli"),
        (one_against_many(16, 0.05), "normal"),
    ],
    ids=["64 arms", "16 arms", "2 arms", "normal"],
)
def test_apr_errs_no_more_than_delta_allows(means: Floats, rewards: str) -> None:
    assert not refutes(errors_of(APR(deviation=1.0), means, rewards=rewards), RUNS, DELTA)


def test_control_the_papers_scaled_deviation_is_caught() -> None:
    """At 0.2 of the deviation the best of 64 arms, 0.003 ahead, is lost far too often."""
    means = one_against_many(64, 0.003)
    assert refutes(errors_of(APR(deviation=0.2), means), RUNS, DELTA)


def test_control_an_interval_for_half_the_noise_is_caught() -> None:
    """The paper's D on the unit-variance normal rewards that its model allows, as printed."""
    means = one_against_many(64, 0.003)
    policy = APR(deviation=0.2, sigma=0.5)
    assert refutes(errors_of(policy, means, rewards="normal", runs=300), 300, 0.5)


@pytest.mark.parametrize(
    ("honest", "scaled"),
    [
        (BatchRacing(batch=2**23), BatchRacing(batch=2**14, deviation=0.1)),
        (Uniform(), Uniform(deviation=0.1)),
    ],
    ids=["batch-racing", "uniform"],
)
def test_the_other_racing_policies_keep_their_confidence(honest: Policy, scaled: Policy) -> None:
    """Each with its honest bound; the scaled one is the control."""
    means, runs = one_against_many(64, 0.003), 400
    assert not refutes(errors_of(honest, means, runs=runs), runs, DELTA)
    assert refutes(errors_of(scaled, means, runs=runs), runs, DELTA)


def test_lil_ucb_keeps_its_confidence() -> None:
    """No control: its bounds are too wide for any of its parameters to make it err here."""
    runs = 100
    assert not refutes(errors_of(LilUCB(), np.array([0.9, 0.5, 0.4]), runs=runs), runs, DELTA)


@pytest.mark.parametrize(("deviation", "holds"), [(1.0, True), (0.2, False)])
def test_the_interval_holds_at_all_times_at_once(deviation: float, holds: bool) -> None:
    """1 − 6ω² for one arm; the control is the same interval at a fifth of its width."""
    runs, pulls = 4000, 4000
    w = omega(0.3, 1)  # 6ω² = 0.3
    count = np.arange(1, pulls + 1)
    width = radius(count, w, deviation=deviation)
    crossed = 0
    for start in range(0, runs, 500):
        rewards = np.random.default_rng(start).random((500, pulls)) < 0.5
        means = np.cumsum(rewards, axis=1) / count
        crossed += int((np.abs(means - 0.5) > width).any(axis=1).sum())
    assert refutes(crossed, runs, 0.3) is not holds


NEAR = np.array([0.6, 0.5, 0.5, 0.5])


def ssh_failures(means: Floats, k: int, deadline: float, runs: int) -> int:
    result = simulate(means, SSH(k=k), PowerLaw(0.5), deadline=deadline, replications=runs)
    return int((~result.correct).sum())


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("arms", [4, 6])  # a power of 2^k and none
def test_ssh_fails_no_more_often_than_theorem_3_allows(arms: int, k: int) -> None:
    means = one_against_many(arms, 0.1, best=0.6)
    bounds = []
    for deadline in (40.0, 110.0, 200.0, 600.0):
        bound = success_bound(gaps_of(means), deadline, PowerLaw(0.5), k=k, sigma=0.5)
        bounds.append(bound)
        assert not refutes(ssh_failures(means, k, deadline, RUNS), RUNS, 1 - bound)
    assert bounds[-1] > 0.5  # it does say something about the last of them


def test_control_a_bound_with_32_times_the_exponent_is_caught() -> None:
    """Theorem 3 is loose; but what it would claim if it were much less so is refuted."""
    deadline, units = 40.0, 100  # x(1): a stage has 20² pulls, for 4 arms
    exponent = 2 * 4 * units / (8 * hardness(gaps_of(NEAR)))
    assert refutes(ssh_failures(NEAR, 1, deadline, RUNS), RUNS, 6 * math.exp(-32 * exponent))
