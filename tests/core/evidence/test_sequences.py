import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaln

from paceline.core.arrays import Floats
from paceline.core.evidence.lil import LilInterval
from paceline.core.evidence.sequences import _BETS, _MIXING, _MIXING_T, _WEIGHTS
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.noise.unknown import UnknownNoise
from paceline.core.tally import Tally

UNIT = BoundedNoise(bounds=(0.0, 1.0))
NORMAL = NormalNoise()
NOISES = [BERNOULLI, UNIT, NormalNoise(sigma=2.0), SubgaussianNoise(sigma=0.5), NORMAL]
COUNTS = np.array([10, 100, 1000, 10**4, 10**6, 10**9, 2**53])


def tally_of(pulls: ArrayLike, mean: ArrayLike, variance: ArrayLike = 0.25) -> Tally:
    """Arms with so many pulls, and values with this mean and this variance, divided by N."""
    count = np.atleast_1d(np.asarray(pulls, dtype=np.int64))
    return Tally(
        count, count * np.asarray(mean), np.zeros(count.size), count * np.asarray(variance)
    )


def halves(tally: Tally, noise: Noise, alpha: float) -> Floats:
    low, high = noise.intervals(tally, alpha)
    return (high - low) / 2


def ids(noise: Noise) -> str:
    return f"{noise.kind}-{noise.variance}"


# Against what the intervals are derived from.


def test_one_zero_by_hand() -> None:
    # Against 1 − p = q: (½ + 5q)/6q = 20 at q = ½/115.
    low, high = BERNOULLI.intervals(tally_of(1, 0.0), 0.05)
    assert low[0] == 0
    assert high[0] == pytest.approx(1 - 0.5 / 115)


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-9])
@pytest.mark.parametrize(
    ("ones", "pulls"), [(1, 1), (1, 2), (3, 3), (1, 50), (20, 50), (499, 500), (7, 10**5)]
)
def test_bernoulli_bounds_are_where_the_beta_mixture_is_enough(
    ones: int, pulls: int, alpha: float
) -> None:
    def excess(p: float) -> float:
        a, b = 0.5 + _MIXING * p, 0.5 + _MIXING * (1 - p)
        ratio = betaln(a + ones, b + pulls - ones) - betaln(a, b)
        return float(
            ratio - ones * math.log(p) - (pulls - ones) * math.log1p(-p) - math.log(1 / alpha)
        )

    low, high = BERNOULLI.intervals(tally_of(pulls, ones / pulls), alpha)
    assert low[0] == pytest.approx(brentq(excess, 1e-15, ones / pulls - 1e-13, xtol=1e-15), 1e-6)
    if ones < pulls:
        assert high[0] == pytest.approx(brentq(excess, ones / pulls, 1 - 1e-13), 1e-6)
    else:
        assert high[0] == 1


def bets_on_all_values(values: Floats, m: float) -> float:
    """The wealth against m of who sees the values one by one and bets that they are larger."""
    logs = np.log1p(_BETS * values).sum(axis=1) - values.size * np.log1p(_BETS[:, 0] * m)
    return float(np.sum(_WEIGHTS[:, 0] * np.exp(logs)))


@pytest.mark.parametrize("seed", range(20))
def test_bounded_bounds_never_claim_more_than_the_values_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.beta(rng.uniform(0.1, 5), rng.uniform(0.1, 5), int(rng.integers(2, 200)))
    low, high = UNIT.intervals(tally_of(values.size, values.mean(), values.var()), 0.05)
    if low[0] > 0:
        assert bets_on_all_values(values, float(low[0])) >= 2 / 0.05 * (1 - 1e-6)
    if high[0] < 1:
        assert bets_on_all_values(1 - values, float(1 - high[0])) >= 2 / 0.05 * (1 - 1e-6)
    assert low[0] > 0 or high[0] < 1 or values.size < 10


def test_for_zeros_and_ones_the_bounded_bound_is_that_of_the_values_themselves() -> None:
    values = np.repeat([0.0, 1.0], [70, 30])
    low, _ = UNIT.intervals(tally_of(100, 0.3, 0.21), 0.05)
    # Some of the smallest bets are left out: they would be worth less than 1%.
    assert bets_on_all_values(values, float(low[0])) == pytest.approx(2 / 0.05, rel=0.01)


def test_known_sigma_is_robbins_formula() -> None:
    for noise in (NormalNoise(sigma=3.0), SubgaussianNoise(sigma=3.0)):
        radius = 3 * math.sqrt(45 / 40**2 * (2 * math.log(1 / 0.1) + math.log(45 / 5)))
        low, high = noise.intervals(tally_of(40, -7.0), 0.1)
        assert (low[0], high[0]) == pytest.approx((-7 - radius, -7 + radius))


@pytest.mark.parametrize("pulls", [6, 20, 1000, 10**6])
def test_unknown_variance_ends_where_the_t_mixture_is_enough(pulls: int) -> None:
    low, high = NORMAL.intervals(tally_of(pulls, 5.0, 4.0), 0.05)
    assert low[0] + high[0] == pytest.approx(10)
    s, v = pulls * (5 - low[0]), pulls * (4 + (5 - low[0]) ** 2)
    shrunk = -pulls / 2 * math.log1p(-(s**2) / ((pulls + _MIXING_T) * v))
    wealth = math.sqrt(_MIXING_T / (pulls + _MIXING_T)) * math.exp(shrunk)
    assert wealth == pytest.approx(1 / 0.05)


def test_the_t_mixture_does_not_grow_on_average() -> None:
    runs, r = 400_000, _MIXING_T
    values = np.random.default_rng(1).normal(0, 3, (runs, 4))
    for n in (1, 2, 4):
        s, v = values[:, :n].sum(axis=1), (values[:, :n] ** 2).sum(axis=1)
        wealth = np.sqrt(r / (n + r)) * (1 - s**2 / ((n + r) * v)) ** (-n / 2)
        assert wealth.mean() == pytest.approx(1, abs=1e-9 + 5 * wealth.std() / math.sqrt(runs))


# Laws that all of them keep.


@pytest.mark.parametrize("noise", NOISES, ids=ids)
def test_without_pulls_nothing_is_known(noise: Noise) -> None:
    low, high = noise.intervals(Tally.empty(2), 0.05)
    floor, ceiling = noise.limits or (-math.inf, math.inf)
    assert low.tolist() == [floor, floor]
    assert high.tolist() == [ceiling, ceiling]


@pytest.mark.parametrize("noise", NOISES, ids=ids)
@pytest.mark.parametrize("mean", [0.0, 1.0, 0.5, 1e-9, 1 - 1e-9])
@pytest.mark.parametrize("variance", [0.0, 1e-15, 0.25])
def test_the_mean_is_inside_and_nothing_is_nan(noise: Noise, mean: float, variance: float) -> None:
    pulls = np.array([0, 1, 2, 3, 29, 30, 100, 10**6 - 1, 10**6, 10**12, 2**53])
    tally = tally_of(pulls, mean, variance)
    for alpha in (0.9, 0.05, 1e-12):
        low, high = noise.intervals(tally, alpha)
        assert not np.isnan(low).any()
        assert not np.isnan(high).any()
        means = np.rint(pulls * mean) / np.maximum(pulls, 1) if noise is BERNOULLI else mean
        some = pulls > 0
        assert (low <= means + 1e-12)[some].all()
        assert (high >= means - 1e-12)[some].all()


@pytest.mark.parametrize("noise", NOISES, ids=ids)
def test_values_too_large_to_add_up_leave_everything_possible(noise: Noise) -> None:
    tally = Tally(np.array([3]), np.array([np.inf]), np.array([np.inf]), np.array([np.nan]))
    low, high = noise.intervals(tally, 0.05)
    if noise.limits is None:
        assert (low[0], high[0]) == (-math.inf, math.inf)
    assert not np.isnan([low, high]).any()


@pytest.mark.parametrize("noise", NOISES, ids=ids)
def test_values_with_their_sign_changed_have_the_mirrored_interval(noise: Noise) -> None:
    means = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    low, high = noise.intervals(tally_of([50] * 5, means, 0.09), 0.05)
    mirrored = noise.negated().intervals(tally_of([50] * 5, -means, 0.09), 0.05)
    assert mirrored[0] == pytest.approx(-high)
    assert mirrored[1] == pytest.approx(-low)


def test_bounds_of_any_size_are_rescaled() -> None:
    low, high = UNIT.intervals(tally_of([20, 500], 0.3, 0.1), 0.05)
    wide = BoundedNoise((-70, 30)).intervals(tally_of([20, 500], 30 - 70, 0.1 * 100**2), 0.05)
    assert wide[0] == pytest.approx(-70 + 100 * low)
    assert wide[1] == pytest.approx(-70 + 100 * high)


@pytest.mark.parametrize("noise", NOISES, ids=ids)
def test_a_smaller_alpha_has_the_wider_interval(noise: Noise) -> None:
    tally = tally_of([1, 5, 20, *COUNTS], 0.3, 0.2)
    widths = [halves(tally, noise, alpha) for alpha in (0.5, 0.1, 0.05, 0.001, 1e-9)]
    for narrow, wide in pairwise(widths):
        assert (narrow <= wide).all()


@pytest.mark.parametrize("noise", NOISES, ids=ids)
def test_width_falls_as_the_square_root_of_the_pulls_but_for_a_logarithm(noise: Noise) -> None:
    scaled = halves(tally_of(COUNTS, 0.5), noise, 0.05) * np.sqrt(COUNTS)
    assert (scaled[2:] > scaled[1:-1] * 0.95).all()
    assert (scaled[2:] < scaled[1:-1] * 1.5).all()


@pytest.mark.parametrize("noise", NOISES, ids=ids)
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.003])
def test_narrower_than_by_the_iterated_logarithm(noise: Noise, alpha: float) -> None:
    tally = tally_of(COUNTS[:5], 0.5, 0.25 if noise.limits else 1.0)
    low, high = LilInterval(alpha, 1, noise.scale).bounds(tally, np.arange(5))
    assert (halves(tally, noise, alpha) < 0.6 * (high - low) / 2).all()


# Variances.


def test_bounded_values_that_vary_little_have_a_narrow_interval() -> None:
    half = halves(tally_of([100] * 3, 0.5, [0.25, 0.01, 0.0]), UNIT, 0.05)
    assert half[1] < 0.4 * half[0]
    assert half[2] < half[1]


def test_squares_do_as_well_as_spreads() -> None:
    values = np.random.default_rng(2).random(300)
    exact = tally_of(300, values.mean(), values.var())
    raw = Tally(exact.pulls, exact.sums, np.array([values @ values]))
    for noise in (UNIT, NORMAL):
        assert halves(raw, noise, 0.05) == pytest.approx(halves(exact, noise, 0.05))


def test_a_spread_that_rounding_hides_does_not_count_as_none() -> None:
    values = 1e7 + np.random.default_rng(3).random(300)
    noise = BoundedNoise(bounds=(1e7, 1e7 + 1))
    exact = tally_of(300, values.mean(), values.var())
    raw = Tally(exact.pulls, exact.sums, np.array([values @ values]))
    assert (halves(raw, noise, 0.05) >= halves(exact, noise, 0.05)).all()


def test_constant_values_are_believed_late_and_only_if_another_arm_varies() -> None:
    still = tally_of([29, 30, 3000], 2.0, 0.0)
    assert [one.tolist() for one in NORMAL.intervals(still, 0.05)] == [
        [-math.inf] * 3,
        [math.inf] * 3,
    ]
    mixed = tally_of([29, 30, 30, 30], 2.0, [0.0, 0.0, 1.0, 0.5])
    half = halves(mixed, NORMAL, 0.05)
    assert half[0] == math.inf
    assert half[1] == half[2] > half[3] > 0


def test_unknown_variance_needs_some_pulls() -> None:
    half = halves(tally_of(np.arange(1, 12), 0.0, 1.0), NORMAL, 0.05)
    assert np.isinf(half[:5]).all()
    assert np.isfinite(half[5:]).all()
    assert (np.diff(half[5:]) < 0).all()
    assert np.isinf(halves(tally_of([8, 9], 0.0, 1.0), NORMAL, 0.003)).tolist() == [True, False]


def test_noise_not_known_yet_is_taken_as_normal() -> None:
    tally = tally_of(COUNTS, 0.5)
    assert halves(tally, UnknownNoise(), 0.05).tolist() == halves(tally, NORMAL, 0.05).tolist()
