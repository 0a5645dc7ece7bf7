import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.core.rounds import Results
from paceline.core.tally import Tally


def test_means_and_variances_are_those_of_the_pulls() -> None:
    rewards = [np.array([1.0, 2.0, 4.0]), np.array([5.0])]
    tally = Tally.empty(3)
    tally.add(
        Results(
            np.array([0, 2]),
            np.array([3, 1]),
            np.array([r.sum() for r in rewards]),
            np.array([(r**2).sum() for r in rewards]),
        )
    )
    arms = np.arange(3)
    assert tally.means(arms).tolist() == [pytest.approx(7 / 3), -np.inf, 5.0]
    variances = tally.variances(arms)
    assert variances[0] == pytest.approx(rewards[0].var(ddof=1))
    assert np.isnan(variances[1:]).all()


def of(values: list[float], *, cubes: bool = True) -> Results:
    row = np.array(values)
    apart = row - row.mean()
    return Results(
        np.array([1]),
        np.array([row.size]),
        np.array([row.sum()]),
        np.array([row @ row]),
        np.array([apart @ apart]),
        cubes=np.array([(apart**3).sum()]) if cubes else None,
    )


parts = st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=6), min_size=1, max_size=5)


@given(parts)
def test_moments_of_parts_are_those_of_the_whole(values: list[list[float]]) -> None:
    tally = Tally.empty(2)
    for part in values:
        tally.add(of(part))
    whole = np.concatenate([np.array(part) for part in values])
    apart = whole - whole.mean()
    assert tally.spreads is not None
    assert tally.spreads[1] == pytest.approx(apart @ apart, abs=1e-6)
    third = tally.third_moments(np.arange(2))
    assert third[1] == pytest.approx((apart**3).mean(), abs=1e-6)
    assert third[0] == 0


def test_a_tally_with_more_leaves_the_first_as_it_was() -> None:
    tally = Tally.empty(2)
    tally.add(of([1.0, 2.0, 5.0]))
    more = tally.plus(of([8.0]))
    assert tally.pulls.tolist() == [0, 3]
    assert more.pulls.tolist() == [0, 4]
    assert more.spreads is not None
    assert tally.spreads is not None
    assert more.spreads[1] > tally.spreads[1]


def test_without_third_powers_nothing_is_skewed() -> None:
    tally = Tally.empty(2)
    tally.add(of([1.0, 2.0, 9.0], cubes=False))
    assert tally.third_moments(np.arange(2)).tolist() == [0.0, 0.0]
