import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.betting import BETS, LOG_WEIGHTS, Betting, least_log_gain, mixed
from paceline.core.evidence.opponents import Rival
from paceline.core.rounds import Results

# The least gain.


def least(bets: Floats, values: Floats, lowest: float) -> Floats:
    """For one set of values."""
    mean, variance = np.array([values.mean()]), np.array([values.var()])
    return np.asarray(least_log_gain(bets[None], mean, variance, np.array([lowest]))[0])


def actual(bets: Floats, values: Floats) -> Floats:
    return np.asarray(np.log1p(np.outer(bets, values)).mean(axis=1))


def bold(lowest: float) -> Floats:
    """From bold to timid: none can lose more than nine tenths."""
    return BETS / lowest


@given(
    lowest=st.floats(0.01, 1.0),
    above=st.lists(st.one_of(st.just(0.0), st.floats(0.0, 2.0)), min_size=1, max_size=30),
)
def test_no_values_with_that_mean_and_variance_win_less(lowest: float, above: list[float]) -> None:
    values = np.array(above) - lowest
    bets = bold(lowest)
    assert (least(bets, values, lowest) <= actual(bets, values) + 1e-9).all()


@pytest.mark.parametrize("shape", ["uniform", "skewed", "skewed down", "few", "narrow", "three"])
def test_no_distribution_wins_less(shape: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        lowest, pulls = rng.uniform(0.05, 1.0), rng.integers(1, 200)
        unit = {
            "uniform": rng.random(pulls),
            "skewed": rng.beta(0.1, 3.0, pulls),
            "skewed down": rng.beta(3.0, 0.1, pulls),
            "few": (rng.random(pulls) < 0.02).astype(np.float64),
            "narrow": 0.7 + 1e-6 * rng.random(pulls),
            "three": rng.choice([0.0, 0.1, 1.0], pulls),
        }[shape]
        values, bets = unit - lowest, bold(lowest)
        assert (least(bets, values, lowest) <= actual(bets, values) + 1e-9).all()


@pytest.mark.parametrize("highest", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("ones", [0, 1, 7, 19, 20])
def test_two_values_one_of_them_the_lowest_win_just_that(highest: float, ones: int) -> None:
    """So nothing is given away where values are 0 and 1."""
    lowest = 0.4
    values = np.where(np.arange(20) < ones, highest, -lowest)
    bets = bold(lowest)
    assert least(bets, values, lowest) == pytest.approx(actual(bets, values), abs=1e-9)


def test_a_smaller_variance_wins_more() -> None:
    bets, mean, lowest = bold(0.5)[None], np.array([0.1]), np.array([0.5])
    gains = [least_log_gain(bets, mean, np.array([v]), lowest)[0] for v in (0.0, 0.01, 0.1, 0.2)]
    assert (np.diff(gains, axis=0) < 0).all()
    assert gains[0] == pytest.approx(np.log1p(0.1 * bets[0]))


# The mixture.


def test_a_mixture_is_a_weighted_sum_of_stakes() -> None:
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1.0)
    stakes = np.random.default_rng(1).normal(0.0, 3.0, (5, BETS.size))
    assert mixed(stakes) == pytest.approx(logsumexp(stakes + LOG_WEIGHTS, axis=1))
    assert mixed(stakes[2]) == pytest.approx(logsumexp(stakes[2] + LOG_WEIGHTS))
    assert mixed(np.zeros((3, BETS.size))) == pytest.approx(np.zeros(3))
    # Stakes far beyond what a float can be.
    assert mixed(stakes + 1e5) == pytest.approx(mixed(stakes) + 1e5)
    assert mixed(stakes - 1e5) == pytest.approx(mixed(stakes) - 1e5)


# The game is fair or worse.


@dataclass(frozen=True)
class Teams:
    """Explicit opponents for each arm, as many of each."""

    members: Ints

    @property
    def size(self) -> Ints:
        return np.full(self.members.shape[0], self.members.shape[1])

    def total(self, values: Floats) -> Floats:
        return np.asarray(values[self.members].sum(axis=1))


GAMES = 10_000


def coins(rng: np.random.Generator, mean: float, shape: tuple[int, ...]) -> Floats:
    return (rng.random(shape) < mean).astype(np.float64)


def betas(rng: np.random.Generator, mean: float, shape: tuple[int, ...]) -> Floats:
    return rng.beta(0.5 * mean, 0.5 * (1 - mean), shape)


def steps(rng: np.random.Generator, mean: float, shape: tuple[int, ...]) -> Floats:
    return np.where(rng.random(shape) < mean / 0.75, rng.choice([0.5, 1.0], shape), 0.0)


DRAWS = {"coins": coins, "betas": betas, "steps": steps}


def gains(draw: str, own: float, theirs: float, pulls: tuple[int, int], team: int) -> Floats:
    """What a stake of 1 becomes in many games of one slice: games by bets.

    Each arm has `pulls[0]` fresh pulls, each of its opponents `pulls[1]`; the earlier means are
    any numbers.
    """
    rng = np.random.default_rng(2)
    blocks = [(GAMES, pulls[0], own)] + [(GAMES, pulls[1], theirs)] * team
    values = [DRAWS[draw](rng, mean, (games, each)) for games, each, mean in blocks]
    fresh = Results(
        np.arange(GAMES * (team + 1)),
        np.repeat([each for _, each, _ in blocks], GAMES),
        np.concatenate([block.sum(axis=1) for block in values]),
        np.concatenate([(block**2).sum(axis=1) for block in values]),
    )
    members = np.arange(GAMES)[:, None] + GAMES * np.arange(1, team + 1)
    # Only the first GAMES arms play; the others' opponents do not matter.
    everybody = np.concatenate([members, np.zeros((GAMES * team, team), dtype=np.int64)])
    means = rng.random(GAMES * (team + 1))
    betting = Betting(fresh.arms.size, 0.1, (0.0, 1.0))
    return np.exp(betting.settle(fresh, means, Teams(everybody))[:GAMES])


def exceeds_one(won: Floats, errors: float) -> bool:
    """Whether, for some bet, the mean is above 1 by more than so many standard errors."""
    error = won.std(axis=0) / math.sqrt(won.shape[0])
    return bool((won.mean(axis=0) > 1 + errors * error + 1e-12).any())


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("mean", [0.05, 0.5, 0.7])
@pytest.mark.parametrize(
    ("pulls", "team"), [((4, 4), 1), ((6, 2), 1), ((1, 5), 1), ((5, 5), 3), ((9, 2), 2)]
)
def test_a_slice_wins_nothing_on_average_if_the_arm_is_no_worse(
    draw: str, mean: float, pulls: tuple[int, int], team: int
) -> None:
    """With more pulls of the arm, or of its opponents, one of them or several."""
    assert not exceeds_one(gains(draw, mean, mean, pulls, team), errors=4)
    assert not exceeds_one(gains(draw, mean + 0.04, mean, pulls, team), errors=4)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(("pulls", "team"), [((4, 4), 1), ((6, 2), 1), ((5, 5), 3)])
def test_control_opponents_that_are_better_win(
    draw: str, pulls: tuple[int, int], team: int
) -> None:
    assert exceeds_one(gains(draw, 0.3, 0.6, pulls, team), errors=4)


def test_nothing_is_won_in_the_long_run_either() -> None:
    """How often stakes pass 1/δ is counted in tests/statistical/test_racing.py."""
    betting = Betting(2, 0.1, (0.0, 1.0))
    rng = np.random.default_rng(3)
    for _ in range(40):
        take(betting, coins(rng, 0.5, (2, betting.next_look() - betting.depth)))
    assert (betting.log_stakes[:, 0] < -10).all()  # the bold have lost all
    assert (mixed(betting.log_stakes) < math.log(10)).all()


# Pairs.


def of(values: Floats) -> Results:
    rows, pulls = values.shape
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    return Results(np.arange(rows), np.full(rows, pulls), sums, squares, values=values)


def take(betting: Betting, values: Floats) -> Ints:
    fresh = of(values)
    return betting.take(
        Results(betting.alive, fresh.pulls, fresh.sums, fresh.squares, values=fresh.values)
    )


RIVALS = Rival(np.array([1, 0]))


def test_pairs_are_bets_on_differences() -> None:
    rng = np.random.default_rng(4)
    values = rng.beta(2.0, 2.0, (2, 12))
    won = Betting(2, 0.1, (0.0, 1.0), paired=True).settle(of(values), np.full(2, 0.5), RIVALS)
    apart = values[1] - values[0]
    assert won[0] == pytest.approx(12 * actual(BETS, apart))
    assert won[1] == pytest.approx(12 * actual(BETS, -apart))


def test_of_very_many_pairs_only_mean_and_variance_are_looked_at() -> None:
    values = np.random.default_rng(4).beta(2.0, 2.0, (2, 200_000))
    won = Betting(2, 0.1, (0.0, 1.0), paired=True).settle(of(values), np.full(2, 0.5), RIVALS)
    apart = values[1] - values[0]
    assert won[0] == pytest.approx(200_000 * least(BETS, apart, 1.0))
    assert (won[0] <= 200_000 * actual(BETS, apart)).all()


def test_what_pairs_have_in_common_drops_out() -> None:
    common = np.random.default_rng(5).random(40)
    values = np.array([0.9 * common, 0.9 * common + 0.1])
    fresh, means = of(values), values.mean(axis=1)
    alone = Betting(2, 0.1, (0.0, 1.0)).settle(fresh, means, RIVALS)
    paired = Betting(2, 0.1, (0.0, 1.0), paired=True).settle(fresh, means, RIVALS)
    assert paired[0].max() == pytest.approx(40 * math.log1p(0.1 * BETS[0]))  # all differ by 0.1
    assert paired[0].max() > alone[0].max() + 1


@pytest.mark.parametrize("same", [1.0, -1.0], ids=["alike", "opposite"])
def test_paired_bets_win_nothing_on_average_if_the_arm_is_no_worse(same: float) -> None:
    """Whatever the noises have to do with each other."""
    rng = np.random.default_rng(6)
    level = rng.random((GAMES, 5)) - 0.5
    own, other = 0.5 + level, 0.5 + same * level * (rng.random((GAMES, 5)) < 0.7)
    betting = Betting(2 * GAMES, 0.1, (0.0, 1.0), paired=True)
    rivals = Rival(np.r_[np.arange(GAMES) + GAMES, np.arange(GAMES)])
    won = betting.settle(of(np.r_[own, other]), np.full(2 * GAMES, 0.5), rivals)
    assert not exceeds_one(np.exp(won), errors=4)
    # Control: a tenth more for the opponents.
    won = betting.settle(of(np.r_[own - 0.1, other]), np.full(2 * GAMES, 0.5), rivals)
    assert exceeds_one(np.exp(won[:GAMES]), errors=4)


# As evidence.


@pytest.mark.parametrize("top", [1, 2])
def test_who_would_be_out_at_another_level_is_known_by_the_highest_stake(top: int) -> None:
    rng = np.random.default_rng(4)
    betting = Betting(4, 1e-9, (0.0, 1.0), top=top)
    last = np.array([3])
    means = np.array([[0.6], [0.6], [0.6], [0.4]])
    assert not betting.out_at(0.999, last)
    highest = 0.0
    for _ in range(5):
        take(betting, (rng.random((4, 40)) < means).astype(np.float64))
        highest = max(highest, float(mixed(betting.log_stakes[last])[0]))
    level = top * math.exp(-highest)
    assert 1e-6 < level < 0.1, "or nothing was tested"
    take(betting, (rng.random((4, 40)) < 1 - means).astype(np.float64))
    assert betting.out_at(1.001 * level, last)
    assert not betting.out_at(0.999 * level, last)
    assert not betting.out_at(1.001 * level, np.arange(4))


def test_the_first_values_only_choose_opponents() -> None:
    betting = Betting(3, 0.5, (0.0, 1.0))
    assert betting.next_look() == 1
    assert take(betting, np.array([[0.0], [1.0], [1.0]])).size == 0
    assert not betting.log_stakes.any()


def test_looks_come_often_but_slices_grow() -> None:
    betting = Betting(2, 0.1, (0.0, 1.0))
    for depth in (0, 1, 5, 100, 10**6):
        betting.depth = depth
        more = betting.next_look() - depth
        assert more >= 1
        assert more <= max(1, 0.1 * depth)
        assert more >= 0.05 * depth - 1
    many = Betting(10_000, 0.1, (0.0, 1.0))
    many.depth = 100
    assert many.next_look() == 200  # of many arms each look takes long


def test_only_the_place_between_the_bounds_counts() -> None:
    rng = np.random.default_rng(8)
    slices = [rng.random((3, n)) for n in (1, 1, 1, 4, 9)]
    unit, wide = Betting(3, 0.1, (0.0, 1.0)), Betting(3, 0.1, (-10.0, 30.0))
    for values in slices:
        take(unit, values)
        take(wide, 40 * values - 10)
    assert unit.log_stakes.any()
    assert wide.log_stakes == pytest.approx(unit.log_stakes)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_values_that_are_all_at_a_bound_are_no_trouble(value: float) -> None:
    betting = Betting(3, 0.1, (0.0, 1.0))
    for pulls in (1, 1, 2, 8):
        assert take(betting, np.full((3, pulls), value)).size == 0
    assert np.isfinite(betting.log_stakes).all()
    assert (mixed(betting.log_stakes) <= 1e-9).all()  # nobody wins where nothing differs
