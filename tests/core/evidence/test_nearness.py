import math
from collections.abc import Callable

import numpy as np
import pytest

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.betting import BETS, Betting
from paceline.core.evidence.group_sequential import KnownSigma
from paceline.core.evidence.nearness import Gains, Nearness, gains_of_bets, gains_of_scores
from paceline.core.evidence.opponents import Rival
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.rounds import Results
from tests.statistical.test_guarantee import refutes

DELTA = 0.1
ALL = np.arange(3)


def constant(won: float) -> Gains:
    """Every bet against everybody wins so much in each slice."""

    def gains(fresh: Results, _means: Floats, _rival: Rival) -> Floats:
        return np.full((fresh.arms.size, BETS.size), won)

    return gains


def some(arms: Ints, pulls: int = 1) -> Results:
    nothing = np.zeros(arms.size)
    return Results(arms, np.full(arms.size, pulls), nothing, nothing)


def means_with_leader(leader: int, arms: int = 3) -> Floats:
    return np.where(np.arange(arms) == leader, 1.0, 0.0)


# The shares of δ.


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_the_cth_leader_has_its_share_of_delta(order: tuple[int, ...], place: int) -> None:
    """Stakes against all arms must pass 1/(δ/(c (c+1))): a hair less is not enough."""
    bar = math.log(place * (place + 1) / DELTA)
    for won, near in ((bar - 1e-6, False), (bar + 1e-6, True)):
        nearness = Nearness(3, DELTA, 0.1, 1, constant(won))
        for leader in order[:place]:
            nearness.take(some(ALL), ALL, means_with_leader(leader))
        last = order[place - 1]
        answer = nearness.answer(ALL, means_with_leader(last))
        assert (answer is not None) is near
        if answer is not None:
            assert answer.tolist() == [last]


def test_the_shares_of_all_leaders_are_delta_at_most() -> None:
    count = np.arange(1.0, 1e6)
    assert (1 / (count * (count + 1))).sum() == pytest.approx(1.0, abs=2e-6)


def test_a_leader_keeps_its_place_and_its_stakes_when_it_leads_again() -> None:
    bar = math.log(1 * 2 / DELTA)  # of the first
    nearness = Nearness(3, DELTA, 0.1, 1, constant(bar / 2 + 1e-6))
    for leader in (0, 1, 2, 0):
        assert nearness.answer(ALL, means_with_leader(0)) is None
        nearness.take(some(ALL), ALL, means_with_leader(leader))
    answer = nearness.answer(ALL, means_with_leader(0))
    assert answer is not None
    assert answer.tolist() == [0]
    assert nearness.answer(ALL, means_with_leader(1)) is None


def test_whoever_never_led_before_is_not_accepted() -> None:
    """It leads by the values that it would be judged by."""
    nearness = Nearness(3, DELTA, 0.1, 1, constant(100.0))
    nearness.take(some(ALL), ALL, means_with_leader(0))
    assert nearness.answer(ALL, means_with_leader(2)) is None


def test_one_arm_that_may_be_better_is_enough_to_go_on() -> None:
    def gains(fresh: Results, _means: Floats, _rival: Rival) -> Floats:
        return np.where(fresh.arms == 2, 0.0, 100.0)[:, None] + np.zeros(BETS.size)

    nearness = Nearness(3, DELTA, 0.1, 1, gains)
    nearness.take(some(ALL), ALL, means_with_leader(0))
    assert nearness.answer(ALL, means_with_leader(0)) is None
    # Unless that arm is out.
    left = np.array([0, 1])
    answer = nearness.answer(left, np.array([1.0, 0.0]))
    assert answer is not None
    assert answer.tolist() == [0]


def test_each_of_the_top_has_a_share_and_must_be_near_to_those_left_out_only() -> None:
    alive, means = np.array([1, 3, 4, 6]), np.array([0.1, 0.9, 0.8, 0.2])  # 3 and 4 lead

    def against(bars: dict[int, float]) -> Ints | None:
        def gains(fresh: Results, _means: Floats, rival: Rival) -> Floats:
            won = bars[int(fresh.arms[rival.index[0]])]
            left_out = np.isin(fresh.arms, [1, 6])
            return np.where(left_out, won, 0.0)[:, None] + np.zeros(BETS.size)

        nearness = Nearness(7, DELTA, 0.1, 2, gains)
        nearness.take(some(alive), alive, means)
        return nearness.answer(alive, means)

    first, second = math.log(2 * 2 / DELTA), math.log(2 * 6 / DELTA)
    answer = against({3: first + 1e-6, 4: second + 1e-6})
    assert answer is not None
    assert answer.tolist() == [3, 4]
    assert against({3: first - 1e-6, 4: second + 1e-6}) is None
    assert against({3: first + 1e-6, 4: second - 1e-6}) is None


# What is asked.


def test_the_leader_is_lifted_by_the_tolerance_against_all_others() -> None:
    values = np.random.default_rng(0).random((3, 4))
    pulls, sums = np.full(3, 4), values.sum(axis=1)
    asked: list[tuple[Results, Rival]] = []

    def gains(fresh: Results, _means: Floats, rival: Rival) -> Floats:
        asked.append((fresh, rival))
        return np.zeros((3, BETS.size))

    fresh = Results(ALL, pulls, sums, (values**2).sum(axis=1), values=values)
    Nearness(3, DELTA, 0.2, 1, gains).take(fresh, ALL, means_with_leader(1))
    [(seen, rival)] = asked
    lift = np.array([-0.1, 0.1, -0.1])
    assert rival.index.tolist() == [1, 1, 1]
    assert seen.sums == pytest.approx(sums + 4 * lift)
    assert seen.values == pytest.approx(values + lift[:, None])
    assert seen.spreads == pytest.approx(values.var(axis=1) * 4)  # around their own means
    # Against the leader it is still out: what an arm may win is at most 1 − ε/2, as bets demand.
    assert seen.values is not None
    assert seen.values[[0, 2]].max() <= 1.0 - 0.1
    assert seen.values[1].min() >= 0.1


# Played with values.

Draw = Callable[[np.random.Generator, Floats, int], Floats]
NORMAL_SIGMA = 0.5


def normals(rng: np.random.Generator, means: Floats, pulls: int) -> Floats:
    return rng.normal(means[:, None], NORMAL_SIGMA, (means.size, pulls))


def coins(rng: np.random.Generator, means: Floats, pulls: int) -> Floats:
    return (rng.random((means.size, pulls)) < means[:, None]).astype(np.float64)


def bet(arms: int) -> Gains:
    return gains_of_bets(Betting(arms, DELTA, (0.0, 1.0)))


KINDS: dict[str, tuple[Callable[[int], Gains], Draw]] = {
    "bets": (bet, coins),
    "scores, σ known": (lambda n: gains_of_scores(KnownSigma(n, DELTA, NORMAL_SIGMA)), normals),
    "scores, σ unknown": (lambda n: gains_of_scores(Student(n, DELTA)), normals),
    "scores, paired": (lambda n: gains_of_scores(PairedStudent(n, DELTA)), normals),
}


def race(
    kind: str,
    means: Floats,
    tolerance: float,
    seed: int,
    looks: int,
    *,
    top: int = 1,
    led_by: int | None = None,
) -> list[int] | None:
    """Which arms are accepted, if any: those in front, or `led_by`, whatever the values say."""
    make, draw = KINDS[kind]
    arms = np.arange(means.size)
    nearness = Nearness(means.size, DELTA, tolerance, top, make(means.size))
    rng = np.random.default_rng(seed)
    pulls, sums = 3, draw(rng, means, 3).sum(axis=1)
    for look in range(looks):
        before = sums / pulls if led_by is None else means_with_leader(led_by, means.size)
        cell = 4 + look
        values = draw(rng, means, cell)
        squares = (values**2).sum(axis=1)
        fresh = Results(arms, np.full(means.size, cell), values.sum(axis=1), squares, values=values)
        nearness.take(fresh, arms, before)
        pulls, sums = pulls + cell, sums + values.sum(axis=1)
        now = sums / pulls if led_by is None else before
        answer = nearness.answer(arms, now)
        if answer is not None:
            return [int(arm) for arm in answer]
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_a_leader_that_is_too_much_worse_is_not_accepted(kind: str) -> None:
    """It leads all the time, and is worse than one arm by just the tolerance: the hardest case."""
    means, runs = np.array([0.4, 0.5, 0.2]), 200
    wrong = sum(race(kind, means, 0.1, seed, 15, led_by=0) is not None for seed in range(runs))
    assert not refutes(wrong, runs, DELTA / 2)
    # By more than the tolerance: never, for any of these.
    for seed in range(20):
        assert race(kind, np.array([0.2, 0.8, 0.2]), 0.1, seed, 15, led_by=0) is None


@pytest.mark.parametrize("kind", KINDS)
def test_control_the_same_leader_is_accepted_at_twice_the_tolerance(kind: str) -> None:
    """So it is not for a lack of values that it was not."""
    means, runs = np.array([0.4, 0.5, 0.2]), 20
    found = sum(race(kind, means, 0.2, seed, 60, led_by=0) is not None for seed in range(runs))
    assert refutes(found, runs, DELTA / 2)


@pytest.mark.parametrize("kind", KINDS)
def test_tied_arms_are_accepted_by_and_by(kind: str) -> None:
    for seed in range(4):
        answer = race(kind, np.array([0.6, 0.6, 0.595]), 0.15, seed, 80)
        assert answer is not None
        assert len(answer) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_top_two_are_accepted_where_others_tie_with_the_second(kind: str) -> None:
    for seed in range(4):
        answer = race(kind, np.array([0.3, 0.6, 0.5, 0.5]), 0.15, seed, 80, top=2)
        assert answer is not None
        assert 0 not in answer
        assert len(set(answer)) == 2
