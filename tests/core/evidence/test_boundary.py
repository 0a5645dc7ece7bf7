import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtri

from paceline.core.arrays import Floats
from paceline.core.evidence.boundary import DEPTHS, PILOT, TIMES, Boundary, boundary, spending

DELTAS = [0.5, 0.1, 0.01, 1e-4, 1e-6]


def test_the_looks_start_at_eight_pulls_and_grow_by_half() -> None:
    depths = DEPTHS.tolist()
    assert depths[0] == 8
    countable = [depth for depth in depths if depth <= 2**53]
    assert len(countable) > 80
    for before, after in pairwise(countable):
        assert after == (3 * before + 1) // 2  # ⌈1.5 N⌉, in integers
    assert depths[-1] > 2**53  # more than can be counted
    assert TIMES.tolist() == [float(depth - PILOT) for depth in depths]


@pytest.mark.parametrize("delta", DELTAS)
def test_the_looks_spend_less_than_delta_for_ever(delta: float) -> None:
    shares = spending(delta)
    assert shares.size == DEPTHS.size
    assert (shares > 0).all()
    # From look 50 on 1/(g (g+1)) of 0.02 · 0.999 δ · 50, and of that all from g on sum to 1/g.
    looks = np.arange(50, shares.size)
    assert shares[50:] == pytest.approx(0.02 * 0.999 * delta * 50 / (looks * (looks + 1)))
    for_ever = shares.sum() + 0.02 * 0.999 * delta * 50 / shares.size
    assert 0.998 * delta < for_ever < delta


def test_the_first_bar_is_the_quantile_of_its_share() -> None:
    """Before the first look there is nothing to integrate."""
    for delta in DELTAS:
        assert boundary(delta).at(0) == pytest.approx(-ndtri(spending(delta)[0]), abs=1e-9)


def test_the_bars_at_a_tenth() -> None:
    """Figures that are promised: a new grid or another spending would move them."""
    bars = [boundary(0.1).at(look) for look in (0, 5, 10, 20, 30)]
    assert bars == pytest.approx([2.06, 2.37, 2.62, 2.91, 3.07], abs=0.005)


def first_crossings(bars: Floats, paths: int, seed: int) -> Floats:
    """How many Brownian motions cross first at each look."""
    rng = np.random.default_rng(seed)
    height, inside = np.zeros(paths), np.ones(paths, dtype=bool)
    found = np.zeros(bars.size)
    for look, bar in enumerate(bars):
        step = TIMES[look] - (TIMES[look - 1] if look else 0.0)
        height += math.sqrt(step) * rng.standard_normal(paths)
        over = inside & (height >= bar * math.sqrt(TIMES[look]))
        found[look] = over.sum()
        inside &= ~over
    return found


def errors_of(share: float, expected: float, paths: int) -> float:
    """By how many standard errors a share is off."""
    return (share - expected) / math.sqrt(expected * (1 - expected) / paths)


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_a_brownian_motion_crosses_as_often_as_is_spent(delta: float) -> None:
    looks, paths = 25, 200_000
    bars, expected = boundary(delta).up_to(looks), spending(delta)[:looks]
    found = first_crossings(bars, paths, seed=1) / paths
    assert abs(errors_of(found.sum(), expected.sum(), paths)) < 4
    for early in (1, 5, 12):  # and neither too early nor too late
        assert abs(errors_of(found[:early].sum(), expected[:early].sum(), paths)) < 4
    # Control: bars a tenth lower are crossed too often.
    lower = first_crossings(0.9 * bars, paths, seed=1) / paths
    assert errors_of(lower.sum(), expected.sum(), paths) > 10


@pytest.mark.parametrize("delta", [1e-4, 1e-6])
def test_small_deltas_are_right_too(delta: float) -> None:
    """Too rare to count: paths are drawn with a drift, and weighed by how likely they are without.

    Given that a path ends at W after the time τ, the drift θ made it exp(θ W − θ² τ/2) times as
    likely. Of several drifts, one for each stretch of looks, the mean of the likelihoods counts.
    """
    looks, paths = 12, 200_000
    bars, expected = boundary(delta).up_to(looks), spending(delta)[:looks].sum()
    drifts = bars / np.sqrt(TIMES[:looks])
    rng = np.random.default_rng(2)
    drift = rng.choice(drifts, paths)
    height, weight = np.zeros(paths), np.zeros(paths)
    inside = np.ones(paths, dtype=bool)
    for look, bar in enumerate(bars):
        now = TIMES[look]
        step = now - (TIMES[look - 1] if look else 0.0)
        height += drift * step + math.sqrt(step) * rng.standard_normal(paths)
        over = inside & (height >= bar * math.sqrt(now))
        ratios = np.exp(np.outer(height[over], drifts) - 0.5 * drifts**2 * now)
        weight[over] = 1 / ratios.mean(axis=1)
        inside &= ~over
    error = weight.std() / math.sqrt(paths)
    assert error < 0.01 * expected, "or the test says little"
    assert abs(weight.mean() - expected) < 4 * error


def test_the_smaller_delta_the_higher_the_bars() -> None:
    bars = np.array([boundary(delta).up_to(40) for delta in DELTAS])
    assert (np.diff(bars, axis=0) > 0).all()


def test_the_bars_fall_as_delta_rises_by_small_steps() -> None:
    """So whoever is out at a level is out at all higher ones."""
    deltas = [count / 1000 for count in range(1, 10)] + [count / 100 for count in range(1, 51)]
    bars = np.array([boundary(delta).up_to(30) for delta in deltas])
    assert (np.diff(bars, axis=0) < 0).all()


def test_it_goes_up_to_the_last_look_and_stays_in_reason() -> None:
    """Not below the bar of a single look with that share, nor above what a union would need."""
    for delta in (0.1, 1e-6):
        bars, shares = boundary(delta).up_to(DEPTHS.size), spending(delta)
        alone = -ndtri(shares)
        assert bars.size == DEPTHS.size
        assert (bars <= alone + 1e-9).all()
        assert (bars >= -ndtri(shares.cumsum()) - 1e-9).all()


def test_looks_may_be_asked_for_in_any_order() -> None:
    there, back = (Boundary(spending(0.07), TIMES) for _ in range(2))
    rising = [there.at(look) for look in range(12)]
    falling = [back.at(look) for look in reversed(range(12))]
    assert rising == falling[::-1]
    assert there.up_to(5).tolist() == rising[:5]
    assert there.up_to(0).size == 0


def test_races_of_a_process_share_a_boundary() -> None:
    assert boundary(0.0123) is boundary(0.0123)
    assert boundary(0.0123) is not boundary(0.0124)
