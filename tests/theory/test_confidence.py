import math

import numpy as np
import pytest

from paceline import APR, Amdahl, InvalidInput, PowerLaw, simulate
from paceline.paper.instances import linear_means
from paceline.theory import (
    gaps_of,
    lower_bound,
    optimal_seconds,
    oracle_seconds,
    pulls_needed,
    sequential_seconds,
    upper_bound,
)

GAPS = [0.1, 0.2, 0.4]


def test_pulls_needed_is_the_papers_formula() -> None:
    w = math.sqrt(0.1 / 24)
    for gap, needed in zip(GAPS, pulls_needed(GAPS, 0.9), strict=True):
        square = gap**-2
        paper = 1 + math.floor(64 * square * math.log(2 / w * math.log2(192 * square / w)))
        assert needed == paper


def test_after_that_many_pulls_the_interval_does_separate() -> None:
    """Lemma 2 of Jun et al., of which N̄ comes: on the good event, N̄ pulls drop the arm."""
    from paceline.core.evidence.lil import omega, radius

    for gap in (0.01, 0.1, 0.5):
        for sigma in (0.5, 1.0):
            needed = pulls_needed([gap], 0.9, sigma=sigma)
            half = radius(needed.astype(np.int64), omega(0.1, 2), sigma=sigma)[0]
            assert 4 * half < gap


def test_a_wider_interval_acts_like_a_smaller_gap() -> None:
    assert pulls_needed([0.2], 0.9, sigma=1.0) == pulls_needed([0.1], 0.9, sigma=0.5)
    assert pulls_needed([0.1], 0.9, deviation=0.5) == pulls_needed([0.2], 0.9)


def test_both_forms_of_theorem_1() -> None:
    scaling, beta, n = PowerLaw(0.5), 2.0, 4
    w = math.sqrt(0.1 / (6 * n))
    growth = beta ** (3 + 4 * math.sqrt(math.log(n, beta))) / (beta - 1)
    program = 4 * growth * oracle_seconds(pulls_needed(GAPS, 0.9), scaling)
    logs = math.log(2 / w * math.log2(192 / (0.1**2 * w)))
    optimum = 512 * growth * logs * optimal_seconds(GAPS, scaling)
    assert upper_bound(GAPS, scaling, 0.9) == pytest.approx(program)
    assert upper_bound(GAPS, scaling, 0.9, form="optimum") == pytest.approx(optimum)
    assert program < optimum


@pytest.mark.parametrize("q", [0.9, 0.5, 0.25, 0.1])
def test_simulated_times_lie_between_the_bounds(q: float) -> None:
    scaling = 0.1 * PowerLaw(1.0) + 0.9 * PowerLaw(q)
    means = linear_means(0.1)
    gaps = gaps_of(means)
    result = simulate(means, APR(), scaling, confidence=0.9, replications=50)
    assert result.seconds.max() < upper_bound(gaps, scaling, 0.9)
    assert result.mean_seconds > lower_bound(gaps, scaling, 0.9, sigma=0.5)


def test_the_lower_bound_with_and_without_its_constant() -> None:
    scaling = Amdahl(0.75)  # c_λ = α₁/λ(1) = 0.25
    whole = lower_bound(GAPS, scaling, 0.9, with_constant=False)
    assert whole == pytest.approx(2 * math.log(1 / 0.24) * optimal_seconds(GAPS, scaling))
    assert lower_bound(GAPS, scaling, 0.9) == pytest.approx(0.25 * whole)
    assert lower_bound(GAPS, PowerLaw(0.5), 0.9) == 0.0  # a power law has no least work


def test_the_sequential_time_of_example_1() -> None:
    needed = pulls_needed(GAPS, 0.9)
    scaling = PowerLaw(0.5, unit_seconds=3.0)
    both = 3.0 * (needed[0] + needed.sum())
    assert sequential_seconds(GAPS, scaling, 0.9) == both
    # The paper's other way to write it: λ(1) Σ i (N̄_i − N̄_{i+1}).
    padded = np.r_[needed, 0.0]
    assert both == 3.0 * sum((i + 2) * (padded[i] - padded[i + 1]) for i in range(3))


def test_gaps_are_those_of_the_other_arms() -> None:
    assert gaps_of([0.2, 0.9, 0.5]).tolist() == pytest.approx([0.4, 0.7])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: gaps_of([0.5, 0.5, 0.1]), "unique"),
        (lambda: gaps_of([0.5]), "at least two"),
        (lambda: optimal_seconds([], PowerLaw(0.5)), "no gaps"),
        (lambda: upper_bound(GAPS, PowerLaw(0.5), 1.5), "strictly between 0 and 1"),
        (lambda: upper_bound(GAPS, PowerLaw(0.5), 0.9, beta=1.0), r"beta in \(1, n\]"),
        (lambda: upper_bound(GAPS, PowerLaw(0.5), 0.9, beta=5.0), r"beta in \(1, n\]"),
        (lambda: upper_bound(GAPS, PowerLaw(0.5), 0.9, form="x"), "form"),  # type: ignore[arg-type]
        (lambda: lower_bound(GAPS, PowerLaw(0.5), 0.8), "at most 0.15"),
        (lambda: upper_bound(GAPS, PowerLaw(0.5), 0.9, form="optimum", sigma=-1.0), "sigma"),
    ],
)
def test_bad_input_is_refused(call: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        call()  # type: ignore[operator]


def test_a_gap_beyond_the_model_needs_at_least_one_pull() -> None:
    assert pulls_needed([1000.0], 0.9).tolist() == [1.0]
