import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from paceline.core.evidence.tails import student_scores


@pytest.mark.parametrize(("least", "most"), [(1, 2), (3, 200), (50, 10**9)])
def test_student_takes_the_degrees_that_make_it_smaller(least: int, most: int) -> None:
    t = np.array([-30.0, -6.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 6.0, 30.0])
    low, high = np.full(9, least), np.full(9, most)
    expected = np.where(
        t > 0, -ndtri(stats.t.sf(np.abs(t), least)), ndtri(stats.t.sf(np.abs(t), most))
    )
    scores = student_scores(t, low, high)
    assert scores == pytest.approx(expected, abs=1e-7)
    assert (scores <= student_scores(t, low, low) + 1e-12).all()
    assert (scores <= student_scores(t, high, high) + 1e-12).all()


def test_student_has_no_infinities() -> None:
    t = np.array([np.inf, -np.inf, np.nan, 1e300, 0.0])
    scores = student_scores(t, np.full(5, 5), np.full(5, 9))
    assert scores == pytest.approx([37, -37, 0, 37, 0], abs=0.01)
    assert (np.abs(scores) <= 37).all()


def test_student_holds_for_any_two_variances() -> None:
    rng = np.random.default_rng(9)
    draws, few, many = 100_000, 3, 30
    too_often = 0
    for ratio in (0.03, 1.0, 30.0):
        share, rest = ratio / few, 1.0 / many
        spread = share * rng.chisquare(few - 1, draws) / (few - 1)
        spread += rest * rng.chisquare(many - 1, draws) / (many - 1)
        t = rng.normal(0.0, math.sqrt(share + rest), draws) / np.sqrt(spread)
        least, most = np.full(draws, few - 1), np.full(draws, few + many - 2)
        for x in (-2.0, -1.0, 1.0, 2.0, 3.0):
            nominal = stats.norm.sf(x)
            error = math.sqrt(nominal * (1 - nominal) / draws)
            assert (student_scores(t, least, most) > x).mean() < nominal + 4 * error
            # Control: with the degrees of both samples it is too often above.
            too_often += (student_scores(t, most, most) > x).mean() > nominal + 4 * error
    assert too_often
