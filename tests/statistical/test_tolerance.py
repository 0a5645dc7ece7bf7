"""With a tolerance ε, the answer is worse than the best by more than ε in at most δ of the races.

The means are made to get it wrong: others just too bad, ladders in which each step is allowed but
two are not, variances that differ. As in test_guarantee.py a test fails when so many errors would
be a chance of less than one in a million, and controls must be caught.
"""

import numpy as np
import pytest

from benchmarks.problems import Unequal
from paceline import Bernoulli, Normal, Problem, Simulation, simulate
from paceline.core.arrays import Floats, Ints
from paceline.core.evidence import closed
from paceline.core.evidence.horizon import enough
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from tests.statistical.test_guarantee import refutes

DELTA, EPSILON, RUNS = 0.1, 0.3, 200


def races(problem: Problem, **changes: object) -> Simulation:
    """As users run them, but for the numbers."""
    return simulate(
        problem,
        confidence=1 - DELTA,
        tolerance=EPSILON,
        seed=41,
        replications=RUNS,
        processes=1,
        **changes,  # type: ignore[arg-type]
    )


def wrong(problem: Problem, **changes: object) -> int:
    result = races(problem, **changes)
    assert (result.index >= 0).all(), "a tolerance ends every race"
    return int((~result.correct).sum())


TOO_BAD = EPSILON + 1e-9
SLIPPAGE = np.r_[TOO_BAD, np.zeros(7)]
MEANS = {
    "two, one too bad": SLIPPAGE[:2],
    "all others too bad": SLIPPAGE,
    "steps of 0.6 ε": -0.6 * EPSILON * np.arange(8),  # the third is too bad, the second is not
    "half good, half too bad": np.r_[np.full(4, 1.01 * EPSILON), np.zeros(4), 2 * EPSILON],
}


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("paired", [False, True], ids=["alone", "paired"])
def test_normal_values_with_unknown_variances(name: str, paired: bool) -> None:
    problem = Normal(MEANS[name], 1.0, common=0.5 if paired else 0.0)
    assert not refutes(wrong(problem, noise="normal", paired=paired), RUNS, DELTA)


@pytest.mark.parametrize("best_varies", ["most", "least"])
def test_variances_may_differ(best_varies: str) -> None:
    own, others = (1.0, 0.3) if best_varies == "most" else (0.3, 1.0)
    problem = Unequal(SLIPPAGE, np.r_[own, np.full(7, others)])
    assert not refutes(wrong(problem, noise="normal"), RUNS, DELTA)


def test_a_known_variance() -> None:
    assert not refutes(wrong(Normal(SLIPPAGE), noise=NormalNoise(1.0)), RUNS, DELTA)
    assert not refutes(wrong(Normal(SLIPPAGE), noise=SubgaussianNoise(1.0)), RUNS, DELTA)


@pytest.mark.parametrize("paired", [False, True], ids=["alone", "paired"])
def test_zeros_and_ones(paired: bool) -> None:
    assert not refutes(wrong(Bernoulli(0.3 + SLIPPAGE), paired=paired), RUNS, DELTA)


@pytest.mark.parametrize("paired", [False, True], ids=["alone", "paired"])
def test_each_of_the_top_two_is_good(paired: bool) -> None:
    problem = Normal(np.r_[2 * TOO_BAD, TOO_BAD, np.zeros(5)])
    assert not refutes(wrong(problem, top=2, noise="normal", paired=paired), RUNS, DELTA)


def test_tied_arms_are_all_right_and_the_race_ends() -> None:
    assert wrong(Normal(np.zeros(8)), noise="normal") == 0


def too_early(constant: float, variance: float | Floats, tolerance: float) -> Ints:
    """A horizon shrunk fivefold."""
    return enough(constant, np.asarray(variance) / 5, tolerance)


@pytest.mark.parametrize("paired", [False, True], ids=["alone", "paired"])
def test_control_a_horizon_shrunk_fivefold_is_caught(
    paired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two arms, if paired: of many pairs the noisiest counts, which makes up for much of it."""
    monkeypatch.setattr(closed, "enough", too_early)
    means = SLIPPAGE[:2] if paired else SLIPPAGE
    assert refutes(wrong(Normal(means), noise="normal", paired=paired), RUNS, DELTA)
