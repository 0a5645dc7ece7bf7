import math

import numpy as np
import pytest

from paceline.core.outlook import outlook


def test_twice_the_gap_takes_a_quarter_of_the_pulls() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, (2, 1000))
    needed = []
    for gap in (0.01, 0.02):
        apart = noise - noise.mean(axis=1, keepdims=True) + np.array([[gap], [0.0]])
        found = outlook([*apart], delta=0.05)
        assert found is not None
        assert found.nearest == (0, 1)
        assert found.gap == pytest.approx(gap)
        needed.append(found.pulls + 2000)
    # A gap within its standard error, 0.045, may be anything below.
    assert needed[0] == pytest.approx(needed[1])
    clear = [outlook([*(noise + np.array([[gap], [0.0]]))], delta=0.05) for gap in (0.1, 0.2)]
    assert clear[0] is not None
    assert clear[1] is not None
    assert clear[1].pulls < clear[0].pulls


def test_it_says_what_a_race_takes_within_a_factor() -> None:
    """Two normal arms, 0.2 apart, take about 2·(2·0.2⁻²)·10 pulls."""
    rng = np.random.default_rng(2)
    found = outlook([rng.normal(0.2, 1, 300), rng.normal(0, 1, 300)], delta=0.05)
    assert found is not None
    assert 200 < found.pulls + 600 < 4000


def test_pairs_are_judged_by_their_differences() -> None:
    rng = np.random.default_rng(3)
    common = rng.normal(0, 1, 200)
    values = [common + rng.normal(0.05, 0.1, 200), common + rng.normal(0, 0.1, 200)]
    alone, paired = outlook(values, 0.05), outlook(values, 0.05, paired=True)
    assert alone is not None
    assert paired is not None
    assert paired.error < 0.2 * alone.error
    assert paired.pulls < alone.pulls


def test_arms_that_do_not_differ_at_all_take_for_ever() -> None:
    found = outlook([np.ones(5), np.ones(5)], delta=0.05)
    assert found is not None
    assert math.isinf(found.pulls)
    assert outlook([np.ones(1), np.ones(5)], delta=0.05) is None
    assert outlook([np.ones(5)], delta=0.05) is None


def test_pairs_that_always_differ_by_the_same_are_not_apart_by_the_rounding_of_it() -> None:
    common = np.random.default_rng(4).normal(0, 1, 200)
    found = outlook([common + 0.3, common, common[:199] - 7], delta=0.05, paired=True)
    assert found is not None
    assert (found.nearest, found.error, found.pulls) == ((0, 1), 0.0, 0.0)
    assert found.gap == pytest.approx(0.3)
    tied = outlook([common + 0.1 + 0.2, common + 0.3], delta=0.05, paired=True)
    assert tied is not None
    assert (tied.gap, tied.error, tied.pulls) == (0.0, 0.0, math.inf)
