import math

import numpy as np
import pytest

from paceline import UCBE, InvalidInput, LilUCB, PowerLaw, simulate
from paceline.core.rounds import Results, Shares
from paceline.policies.base import Task
from paceline.policies.lil_ucb import _LilUCBPacer
from paceline.testing import PolicyContract, asked


class TestUCBE(PolicyContract):
    policy = UCBE(scale=0.5)
    goal = {"deadline": 500.0}


class TestLilUCB(PolicyContract):
    policy = LilUCB()
    goal = {"confidence": 0.9}


def test_ucb_e_pulls_the_highest_upper_bound_one_at_a_time() -> None:
    scale, means = 0.7, np.array([0.8, 0.6, 0.55])
    pacer = UCBE(scale).start(Task(arms=3, scaling=PowerLaw(0.5), deadline=100.0))
    first = []
    for _ in range(3):
        wanted = asked(pacer)
        assert isinstance(wanted.how, Shares)
        assert wanted.how.share == 1.0
        first += wanted.arms.tolist()
        pacer.tell(Results(wanted.arms, wanted.pulls, means[wanted.arms], means[wanted.arms]))
    assert sorted(first) == [0, 1, 2]
    for _ in range(50):
        wanted = asked(pacer)
        bounds = means + scale / np.sqrt(pacer.tally.pulls)
        assert wanted.total == 1
        assert bounds[wanted.arms[0]] == pytest.approx(bounds.max())
        pacer.tell(Results(wanted.arms, wanted.pulls, means[wanted.arms], means[wanted.arms]))


def test_ucb_e_takes_lambda_of_one_for_each_pull_and_stops_at_the_deadline() -> None:
    scaling = PowerLaw(0.3, unit_seconds=2.0)
    result = simulate([0.9, 0.1], UCBE(), scaling, deadline=21.0)
    assert result.pulls.tolist() == [10]
    assert result.seconds.tolist() == [21.0]


def test_ucb_e_answers_even_if_not_every_arm_was_pulled() -> None:
    result = simulate(np.linspace(0, 1, 100), UCBE(), PowerLaw(0.5), deadline=5.0, replications=20)
    assert result.pulls.tolist() == [5] * 20
    assert (result.index >= 0).all()
    assert np.unique(result.index).size > 5  # the order of the first sweep is random


def test_lil_ucb_stops_when_one_arm_is_pulled_far_more_than_all_others() -> None:
    pacer = LilUCB().start(Task(arms=2, scaling=PowerLaw(0.5), confidence=0.9))
    assert isinstance(pacer, _LilUCBPacer)
    assert 9 < pacer.lead < 12  # ((2 + β)/β)² at β = 1, and a logarithmic factor
    means = np.array([1.0, 0.0])
    while pacer.verdict is None:
        wanted = asked(pacer)
        pacer.tell(Results(wanted.arms, wanted.pulls, means[wanted.arms], means[wanted.arms]))
    leader, other = pacer.tally.pulls.tolist()
    assert leader >= 1 + pacer.lead * other
    assert leader - 1 < 1 + pacer.lead * other
    assert pacer.verdict.arms.tolist() == [0]
    assert pacer.verdict.confidence == 0.9


def test_lil_ucb_divides_delta_as_its_theorem_needs() -> None:
    task = Task(arms=4, scaling=PowerLaw(0.5), confidence=0.9)
    pacer = LilUCB(epsilon=0.1).start(task)
    assert isinstance(pacer, _LilUCBPacer)
    c = 2.1 / 0.1 * (1 / math.log(1.1)) ** 1.1
    assert 4 * math.sqrt(c * pacer.delta) + 4 * c * pacer.delta == pytest.approx(0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: UCBE(0.0),
        lambda: LilUCB(epsilon=1.0),
        lambda: LilUCB(beta=0.0),
        lambda: LilUCB(beta=4.0),
    ],
)
def test_bad_parameters_are_refused(make: object) -> None:
    with pytest.raises(InvalidInput, match="must"):
        make()  # type: ignore[operator]


def test_equal_indices_are_not_decided_by_the_order_of_the_arms() -> None:
    """The trap: after one pull of 0 or 1 each, index order would cheat on sorted arms."""
    means = np.linspace(0, 1, 200)
    gaps = [
        simulate(order, UCBE(), PowerLaw(1.0), deadline=230.0, replications=400).gap
        for order in (means, means[::-1])
    ]
    apart = gaps[0].mean() - gaps[1].mean()
    assert abs(apart) < 5 * math.hypot(*(g.std(ddof=1) / math.sqrt(g.size) for g in gaps))


def test_many_arms_are_swept_quickly_enough_to_be_used() -> None:
    result = simulate(np.linspace(0, 1, 20_000), UCBE(), PowerLaw(0.5), deadline=20_100.0)
    assert result.rounds.tolist() == result.pulls.tolist() == [20_100]
