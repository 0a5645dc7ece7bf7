"""The bound on σ, tested as a statistic: how often it fails at any time, with a control."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.lil import LilInterval
from paceline.core.evidence.sigma import largest_sigma
from paceline.core.rounds import Results
from paceline.core.tally import Tally

ALPHA = 0.1
PATHS = 2000
LONGEST = 200
CERTAIN = 1e-6


def tally_of(values: Floats) -> Tally:
    """Rows are arms, columns pulls."""
    pulls = np.full(values.shape[0], values.shape[1])
    return Tally(pulls, values.sum(axis=1), (values**2).sum(axis=1))


def bounds_along(values: Floats, alpha: float) -> Floats:
    """The bound of every path after 2, 3, … pulls."""
    arms: Ints = np.arange(values.shape[0])
    sums, squares = values.cumsum(axis=1), (values**2).cumsum(axis=1)
    columns = []
    for pulls in range(2, values.shape[1] + 1):
        count = np.full(arms.size, pulls)
        tally = Tally(count, sums[:, pulls - 1].copy(), squares[:, pulls - 1].copy())
        columns.append(largest_sigma(tally, arms, alpha))
    return np.stack(columns, axis=1)


def refutes(failures: int, allowed: float) -> bool:
    return bool(binomtest(failures, PATHS, allowed, alternative="greater").pvalue < CERTAIN)


@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 1.0), (-50.0, 0.01)])
def test_it_holds_at_all_times_at_once_and_a_third_less_does_not(mean: float, sigma: float) -> None:
    values = np.random.default_rng(7).normal(mean, sigma, (PATHS, LONGEST))
    bounds = bounds_along(values, ALPHA)
    assert not refutes(int((bounds < sigma).any(axis=1).sum()), ALPHA)
    shrunk = int((bounds * (2 / 3) < sigma).any(axis=1).sum())
    assert refutes(shrunk, ALPHA)
    # Nor is it so wide that the test could not fail: late in a path it is within a half.
    assert np.median(bounds[:, -1]) < 1.5 * sigma


def test_a_bound_for_one_time_only_is_caught() -> None:
    """The control of the control: without the union over N it fails too often, as it should."""
    values = np.random.default_rng(8).normal(0, 1, (PATHS, LONGEST))
    counts = np.arange(2, LONGEST + 1)
    spread = np.stack([values[:, :n].var(axis=1) * n for n in counts], axis=1)
    naive = np.sqrt(spread / chi2.ppf(ALPHA, counts - 1))
    assert refutes(int((naive < 1).any(axis=1).sum()), ALPHA)


@pytest.mark.parametrize("pulls", [2, 3, 10, 1000, 10**7])
def test_it_is_the_quantile_of_its_share_of_alpha(pulls: int) -> None:
    variance = 2.5
    squares = np.array([variance * (pulls - 1)])
    tally = Tally(np.array([pulls]), np.zeros(1), squares)
    share = 0.01 / (pulls * (pulls - 1))
    expected = math.sqrt(float(squares[0]) / chi2.ppf(share, pulls - 1))
    assert largest_sigma(tally, np.array([0]), 0.01) == pytest.approx([expected], rel=1e-6)


def test_it_has_the_unit_of_the_values_and_no_place() -> None:
    values = np.random.default_rng(0).normal(0, 1, (3, 20))
    arms: Ints = np.arange(3)
    plain = largest_sigma(tally_of(values), arms, 0.05)
    assert largest_sigma(tally_of(1e-9 * values), arms, 0.05) == pytest.approx(1e-9 * plain)
    assert largest_sigma(tally_of(1e9 * values), arms, 0.05) == pytest.approx(1e9 * plain)
    assert largest_sigma(tally_of(values + 1000), arms, 0.05) == pytest.approx(plain, rel=1e-6)


def test_it_is_asked_for_some_of_the_arms_in_any_order() -> None:
    values = np.random.default_rng(1).normal(0, [[1.0], [2.0], [4.0]], (3, 20))
    tally = tally_of(values)
    everyone = largest_sigma(tally, np.arange(3), 0.05)
    assert largest_sigma(tally, np.array([2, 0]), 0.05).tolist() == everyone[[2, 0]].tolist()


def test_below_two_pulls_nothing_is_known() -> None:
    tally = Tally(np.array([0, 1, 3]), np.array([0.0, 5.0, 0.0]), np.array([0.0, 25.0, 2.0]))
    sigma = largest_sigma(tally, np.arange(3), 0.1)
    assert sigma[:2].tolist() == [math.inf, math.inf]
    assert math.isfinite(sigma[2])
    low, high = LilInterval(0.1, 3, None).bounds(tally, np.arange(3))
    assert (low[1], high[1]) == (-math.inf, math.inf), "one pull excludes nothing"


def test_a_constant_arm_is_as_noisy_as_the_noisiest() -> None:
    rng = np.random.default_rng(2)
    values = np.stack([rng.normal(0, 1, 30), np.full(30, 0.7), rng.normal(0, 5, 30)])
    sigma = largest_sigma(tally_of(values), np.arange(3), 0.05)
    assert sigma[1] == max(sigma[0], sigma[2]) > 5


@pytest.mark.parametrize(("pulls", "sigma"), [(7, math.inf), (29, math.inf), (30, 0.0)])
def test_where_nothing_varies_that_is_believed_in_the_end(pulls: int, sigma: float) -> None:
    values = np.array([[0.1] * pulls, [0.3] * pulls])  # whose squares do not add up exactly
    assert largest_sigma(tally_of(values), np.arange(2), 0.05).tolist() == [sigma, sigma]


def test_an_unknown_arm_is_no_measure_for_a_constant_one() -> None:
    tally = Tally(np.array([40, 1]), np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    assert largest_sigma(tally, np.arange(2), 0.05).tolist() == [0.0, math.inf]


def test_each_constant_arm_needs_many_values_of_its_own() -> None:
    tally = Tally(np.array([30, 29, 1]), np.array([0.0, 29.0, 2.0]), np.array([0.0, 29.0, 4.0]))
    assert largest_sigma(tally, np.arange(3), 0.05).tolist() == [0.0, math.inf, math.inf]


@pytest.mark.parametrize("pulls", [3, 100])
def test_one_arm_that_varied_is_a_measure_for_all_constant_ones(pulls: int) -> None:
    """Values that are one of two look constant for a while: an arm alone proves nothing."""
    values = np.ones((3, pulls))
    values[1, 0] = 2.0
    sigma = largest_sigma(tally_of(values), np.arange(3), 0.05)
    assert 0 < sigma[1] < math.inf
    assert sigma.tolist() == [sigma[1]] * 3


def test_a_spread_too_small_to_be_seen_is_not_taken_for_none() -> None:
    """Far from zero squares drown it: results carry it around the arm's own mean."""
    values = np.random.default_rng(3).normal(1e6, 0.01, (2, 10))
    tally = Tally.empty(2)
    for half in (values[:, :4], values[:, 4:]):
        spreads = ((half - half.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        pulls = np.full(2, half.shape[1])
        tally.add(Results(np.arange(2), pulls, half.sum(axis=1), (half**2).sum(axis=1), spreads))
    assert tally.variances(np.arange(2)) == pytest.approx(values.var(axis=1, ddof=1), rel=1e-3)
    sigma = largest_sigma(tally, np.arange(2), 0.05)
    assert (sigma > 0.005).all()
