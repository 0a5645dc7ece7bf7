"""The constants against drawn values, and against each other."""

import numpy as np
import pytest
from scipy import stats

from paceline.core.arrays import MOST_PULLS_PER_ARM
from paceline.core.evidence.horizon import (
    bechhofer,
    between_limits,
    enough,
    hoeffding,
    rinott,
    stein,
)
from tests.statistical.test_guarantee import refutes


@pytest.mark.parametrize(("rivals", "alpha"), [(1, 0.05), (9, 0.1), (99, 0.3)])
def test_a_known_variance_is_just_enough(rivals: int, alpha: float) -> None:
    """The best is ahead of all others by ε: with N = h² σ²/ε², by h standard errors."""
    rng, runs = np.random.default_rng(0), 20_000
    h = bechhofer(rivals, alpha)
    lost = (rng.standard_normal((runs, rivals)).max(axis=1) > h + rng.standard_normal(runs)).mean()
    assert lost == pytest.approx(alpha, abs=5 * (alpha / runs) ** 0.5)


@pytest.mark.parametrize(("free", "rivals", "alpha"), [(5, 1, 0.1), (19, 9, 0.1), (30, 50, 0.05)])
def test_unknown_variances_are_enough(free: int, rivals: int, alpha: float) -> None:
    """Sizes are not rounded up here. The product of chances gives away a little."""
    rng, runs = np.random.default_rng(1), 20_000
    h = rinott(free, rivals, alpha)
    spread = np.sqrt(free / rng.chisquare(free, (runs, rivals + 1)))  # σ/S
    means = spread * rng.standard_normal((runs, rivals + 1)) / h
    lost = int((means[:, 1:].max(axis=1) >= 1 + means[:, 0]).sum())
    assert not refutes(lost, runs, alpha)
    assert lost / runs > 0.5 * alpha


def test_constants_rise_with_rivals_and_fall_with_what_is_known() -> None:
    assert bechhofer(1, 0.05) < bechhofer(2, 0.05) < bechhofer(100_000, 0.05) < 8
    known = [rinott(free, 9, 0.05) for free in (4, 10, 40, 1000)]
    assert known == sorted(known, reverse=True)
    assert known[-1] > bechhofer(9, 0.05)
    assert rinott(60, 1, 0.01) > rinott(60, 1, 0.02)
    assert rinott(4, 100_000, 1e-6) < np.inf


def test_one_rival_is_the_normal_quantile() -> None:
    assert bechhofer(1, 0.03) == pytest.approx(-stats.norm.ppf(0.03) * 2**0.5, rel=1e-6)
    assert rinott(10**5, 1, 0.03) == pytest.approx(bechhofer(1, 0.03), rel=1e-4)
    assert stein(7, 0.01) == pytest.approx(stats.t(7).ppf(0.99))


def test_sizes_are_whole_and_countable() -> None:
    assert enough(2.0, 1.0, 0.3).item() == 45  # ⌈4/0.09⌉
    assert enough(2.0, 0.0, 0.3).item() == 1
    assert enough(2.0, 1e300, 1e-300).item() == MOST_PULLS_PER_ARM


@pytest.mark.parametrize("paired", [False, True])
def test_coins_lose_no_more_often_than_is_said(paired: bool) -> None:
    """Half heads, the worst case; pairs that are never both heads."""
    rng, runs, gap, alpha = np.random.default_rng(2), 4000, 0.2, 0.1
    pulls = between_limits(1, alpha, gap, paired=paired)
    assert pulls <= hoeffding(0.5, 1, alpha, gap, paired=paired)
    luck = rng.random((runs, pulls))
    best = luck < 0.5 + gap / 2
    other = (luck >= 0.5 + gap / 2) if paired else rng.random((runs, pulls)) < 0.5 - gap / 2
    lost = int((other.sum(axis=1) >= best.sum(axis=1)).sum())
    assert not refutes(lost, runs, alpha)
    shrunk = pulls // 5
    lost = int((other[:, :shrunk].sum(axis=1) >= best[:, :shrunk].sum(axis=1)).sum())
    assert refutes(lost, runs, alpha)
