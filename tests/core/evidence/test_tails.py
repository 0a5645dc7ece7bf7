import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.tails import fisher_scores, sign_scores, student_scores

Case = tuple[Ints, Ints, Ints, Ints, Floats]


def score(below: Floats, above: Floats) -> Floats:
    scores: Floats = np.where(below < above, -ndtri(below), ndtri(above))
    return scores


def one_table(ones: int, pulls: int, rival: int, rival_pulls: int, u: float) -> float:
    table = [np.array([count]) for count in (ones, pulls, rival, rival_pulls)]
    return float(fisher_scores(table[0], table[1], table[2], table[3], np.array([u]))[0])


def expected_fisher(ones: Ints, pulls: Ints, rival: Ints, rival_pulls: Ints, u: Floats) -> Floats:
    law = stats.hypergeom(pulls + rival_pulls, ones + rival, pulls)
    tie = law.pmf(ones)
    return score(law.cdf(ones - 1) + u * tie, law.sf(ones) + (1 - u) * tie)


def exact_fisher(ones: int, pulls: int, rival: int, rival_pulls: int, u: float) -> float:
    """In integers; for tables with few ones or few zeros."""
    total = ones + rival
    least, most = max(0, total - rival_pulls), min(pulls, total)

    def ways(start: int, stop: int) -> int:
        return sum(
            math.comb(pulls, x) * math.comb(rival_pulls, total - x) for x in range(start, stop)
        )

    tie, share = ways(ones, ones + 1), Fraction(u)
    whole = math.comb(pulls + rival_pulls, total)
    below = (ways(least, ones) + share * tie) / whole
    above = (ways(ones + 1, most + 1) + (1 - share) * tie) / whole
    assert below + above == 1
    return float(score(np.array(float(below)), np.array(float(above))))


def random_tables(least: float, most: float, tilt: float, seed: int, count: int = 300) -> Case:
    """Tables with up to 64 times as many pulls of the rival, whose ones are `tilt` σ too many."""
    rng = np.random.default_rng(seed)
    pulls = np.exp(rng.uniform(math.log(least), math.log(most), count)).astype(np.int64)
    rival_pulls = pulls * rng.integers(1, 65, count)
    rate = np.where(rng.random(count) < 0.5, rng.random(count), rng.beta(0.2, 0.2, count))
    shift = tilt * np.sqrt(rate * (1 - rate) / pulls)
    ones = rng.binomial(pulls, np.clip(rate - shift, 0, 1))
    return ones, pulls, rng.binomial(rival_pulls, rate), rival_pulls, rng.random(count)


@pytest.mark.parametrize("tilt", [0.0, 3.0, -3.0, 6.0, -6.0])
@pytest.mark.parametrize(("least", "most"), [(4, 30), (30, 2000), (2000, 10**6)])
def test_fisher_is_right_in_both_tails(least: float, most: float, tilt: float) -> None:
    case = random_tables(least, most, tilt, seed=1)
    expected = expected_fisher(*case)
    good = np.abs(expected) < 8
    assert good.sum() > 100
    assert fisher_scores(*case)[good] == pytest.approx(expected[good], abs=2e-5)


def test_a_sum_is_right_to_a_millionth() -> None:
    pulls, ones = np.meshgrid([4, 50, 1000, 10**5], [0, 1, 5, 20, 60, 100])
    for factor in (1, 7, 64):
        n, x = pulls.ravel(), np.minimum(ones, pulls).ravel()
        case = (x, n, np.minimum(100, n * factor) + 0 * n, n * factor, np.full(n.size, 0.3))
        expected = expected_fisher(*case)
        good = np.abs(expected) < 8
        assert fisher_scores(*case)[good] == pytest.approx(expected[good], abs=1e-6)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.001, 0.9])
@pytest.mark.parametrize("factor", [1, 4, 64])
def test_sum_and_saddlepoint_meet(rate: float, factor: int) -> None:
    # Around 250 expected ones or zeros, where the one gives way to the other, and at the mean.
    pulls = round(250 / min(rate, 1 - rate))
    rival_pulls = pulls * factor
    sigma = math.sqrt(pulls * rate * (1 - rate))
    deviation = np.linspace(-6 * sigma, 6 * sigma, 121).astype(np.int64)
    ones = round(pulls * rate) - deviation
    size = ones.size
    for more in (-3, 0, 3):
        rival = np.full(size, round(rival_pulls * rate) + more * factor) + deviation
        inside = (ones >= 0) & (ones <= pulls) & (rival >= 0) & (rival <= rival_pulls)
        case = (
            ones[inside],
            np.full(size, pulls)[inside],
            rival[inside],
            np.full(size, rival_pulls)[inside],
            np.linspace(0, 1, size)[inside],
        )
        expected = expected_fisher(*case)
        off = np.abs(fisher_scores(*case) - expected)
        assert off[np.abs(expected) < 8].max() < 2e-5


@pytest.mark.parametrize("pulls", [10**6, 10**9, 2**53])
@pytest.mark.parametrize("factor", [1, 64])
@pytest.mark.parametrize(("ones", "rival"), [(0, 7), (7, 0), (2, 3), (0, 1), (5, 60), (0, 200)])
def test_few_ones_or_zeros_among_many_pulls(pulls: int, factor: int, ones: int, rival: int) -> None:
    others = pulls * factor
    expected = pytest.approx(exact_fisher(ones, pulls, rival, others, 0.25), rel=1e-6)
    assert one_table(ones, pulls, rival, others, 0.25) == expected
    # The same table with ones and zeros exchanged; the score changes its sign.
    assert -one_table(pulls - ones, pulls, others - rival, others, 0.75) == expected


@pytest.mark.parametrize(("ones", "rival"), [(0, 300), (1, 400), (300, 0), (450, 90), (600, 700)])
def test_far_out_it_is_right_to_a_hundredth(ones: int, rival: int) -> None:
    for factor in (1, 5):
        expected = exact_fisher(ones, 10**6, rival, factor * 10**6, 0.5)
        assert abs(expected) > 6 or ones == 600
        assert one_table(ones, 10**6, rival, factor * 10**6, 0.5) == pytest.approx(
            expected, abs=0.01
        )


@pytest.mark.parametrize("pulls", [10**10, 10**12, 2**53])
def test_huge_counts_are_normal(pulls: int) -> None:
    wanted = np.array([-7.5, -3.0, -1.0, -0.01, -1e-5, 0.0, 1e-5, 0.01, 1.0, 3.0, 7.5])
    for factor in (1, 64):
        for rate in (0.5, 0.1):
            n, m = np.full(11, pulls), np.full(11, pulls * factor)
            rival = np.full(11, round(pulls * factor * rate))
            sigma = math.sqrt(pulls * rate * (1 - rate) * (1 + 1 / factor))
            ones = (rate * pulls - wanted * sigma).round().astype(np.int64)
            scores = fisher_scores(ones, n, rival, m, np.full(11, 0.5))
            assert scores == pytest.approx(wanted, abs=1e-3)


def test_scores_mirror_when_arm_and_rival_change_places() -> None:
    for least, most in ((4, 100), (1000, 10**8)):
        ones, pulls, rival, rival_pulls, u = random_tables(least, most, 2.0, seed=3)
        there = fisher_scores(ones, pulls, rival, rival_pulls, u)
        back = fisher_scores(rival, rival_pulls, ones, pulls, 1 - u)
        assert there == pytest.approx(-back, abs=1e-9)


def test_an_arms_score_does_not_depend_on_the_other_arms() -> None:
    case = random_tables(4, 10**6, 1.0, seed=4, count=60)
    together = fisher_scores(*case)
    ones, pulls, rival, rival_pulls, u = case
    alone = [
        fisher_scores(ones[[i]], pulls[[i]], rival[[i]], rival_pulls[[i]], u[[i]])[0]
        for i in range(60)
    ]
    assert together == pytest.approx(alone, abs=1e-6)


def test_floats_do_as_well_as_integers() -> None:
    ones, pulls, rival, rival_pulls, u = random_tables(4, 10**6, 1.0, seed=5)
    table = [counts.astype(np.float64) for counts in (ones, pulls, rival, rival_pulls)]
    floats = fisher_scores(table[0], table[1], table[2], table[3], u)
    assert (floats == fisher_scores(ones, pulls, rival, rival_pulls, u)).all()


def test_no_ones_or_nothing_else_is_no_evidence() -> None:
    u = np.array([1e-9, 0.2, 0.5, 1 - 1e-9])
    for pulls in (4, 1000, 2**53):
        n, m, none = np.full(4, pulls), np.full(4, 64 * pulls), np.zeros(4, dtype=np.int64)
        assert fisher_scores(none, n, none, m, u) == pytest.approx(-ndtri(u), abs=1e-9)
        assert fisher_scores(n, n, m, m, u) == pytest.approx(-ndtri(u), abs=1e-9)
    assert fisher_scores(none[:0], none[:0], none[:0], none[:0], u[:0]).size == 0


def test_scores_end_at_37() -> None:
    for pulls in (4, 60, 300, 1000, 10**6, 2**53):
        n, m = np.full(4, pulls), np.full(4, 64 * pulls)
        u = np.array([0.0, 1.0, 0.0, 1.0])
        scores = fisher_scores(np.array([0, 0, pulls, pulls]), n, np.array([1, 1, 0, 0]) * m, m, u)
        assert (np.abs(scores) <= 37).all()
        assert (scores[:2] > 0).all()
        assert (scores[2:] < 0).all()
        if pulls >= 300:
            assert np.abs(scores) == pytest.approx(37, abs=0.01)
    # The probability of this table is below what a float can be, on the way to the end of X.
    assert one_table(100, 100, 3, 10**12, 0.5) == pytest.approx(-37, abs=0.01)


@pytest.mark.parametrize(
    ("pulls", "rival_pulls"), [(4, 256), (50, 50), (300, 4000), (10**5, 10**5)]
)
def test_more_ones_of_the_rival_score_higher(pulls: int, rival_pulls: int) -> None:
    rival = np.unique(np.linspace(0, rival_pulls, 2001).astype(np.int64))
    size = rival.size
    for share in (0.0, 0.3, 1.0):
        scores = fisher_scores(
            np.full(size, round(share * pulls)),
            np.full(size, pulls),
            rival,
            np.full(size, rival_pulls),
            np.full(size, 0.4),
        )
        inside = np.abs(scores) < 36
        assert (np.diff(scores[inside]) > 0).all()
        assert (np.diff(scores) >= 0).all()


@pytest.mark.parametrize(("pulls", "rival_pulls", "rate"), [(5, 320, 0.3), (700, 1400, 0.5)])
def test_p_is_uniform_where_ties_are_broken(pulls: int, rival_pulls: int, rate: float) -> None:
    rng = np.random.default_rng(6)
    draws = 20_000
    ones, rival = rng.binomial(pulls, rate, draws), rng.binomial(rival_pulls, rate, draws)
    n, m = np.full(draws, pulls), np.full(draws, rival_pulls)
    scores = fisher_scores(ones, n, rival, m, rng.random(draws))
    assert stats.kstest(scores, "norm").pvalue > 1e-4
    # Control: the usual p-value is too large.
    scores = fisher_scores(ones, n, rival, m, np.ones(draws))
    assert stats.kstest(scores, "norm").pvalue < 1e-4


@pytest.mark.parametrize("pairs", [1, 5, 60, 1000, 10**6])
def test_sign_is_right_in_both_tails(pairs: int) -> None:
    rng = np.random.default_rng(7)
    wins = pairs / 2 + rng.uniform(-4, 4, 200) * math.sqrt(pairs)
    wins = np.clip(wins, 0, pairs).astype(np.int64)
    u = rng.random(200)
    law = stats.binom(pairs, 0.5)
    tie = law.pmf(wins)
    expected = score(law.sf(wins) + u * tie, law.cdf(wins - 1) + (1 - u) * tie)
    assert sign_scores(wins, pairs - wins, u) == pytest.approx(expected, abs=1e-6)


def test_sign_without_a_pair_is_no_evidence() -> None:
    u, none = np.array([1e-9, 0.2, 1 - 1e-9]), np.zeros(3)
    assert sign_scores(none, none, u) == pytest.approx(-ndtri(u))


def test_sign_ends_at_37_and_knows_huge_counts() -> None:
    many = np.array([10**5, 0, 2**52, 2**52 + 2**27])
    scores = sign_scores(many, many[[1, 0, 2, 2]], np.full(4, 0.5))
    assert scores == pytest.approx([37, -37, 0, math.sqrt(2)], abs=0.01)


def test_sign_is_uniform_where_ties_are_broken() -> None:
    rng = np.random.default_rng(8)
    pairs = rng.integers(0, 12, 20_000)
    wins = rng.binomial(pairs, 0.5)
    scores = sign_scores(wins, pairs - wins, rng.random(20_000))
    assert stats.kstest(scores, "norm").pvalue > 1e-4
    # Controls: the usual p-value; a coin that is not fair.
    scores = sign_scores(wins, pairs - wins, np.ones(20_000))
    assert stats.kstest(scores, "norm").pvalue < 1e-4
    wins = rng.binomial(pairs, 0.45)
    scores = sign_scores(wins, pairs - wins, rng.random(20_000))
    assert stats.kstest(scores, "norm").pvalue < 1e-4


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
