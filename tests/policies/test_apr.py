import math

import numpy as np
import pytest

from paceline import APR, CorePool, InvalidInput, PowerLaw, simulate
from paceline.core.rounds import Results
from paceline.policies.base import Pacer, Task
from paceline.testing import PolicyContract, asked


class TestAPR(PolicyContract):
    policy = APR(deviation=0.3)
    goal = {"confidence": 0.9}


def answer(pacer: Pacer, ones: list[float]) -> None:
    wanted = asked(pacer)
    sums = wanted.pulls * np.array(ones)[wanted.arms]
    pacer.tell(Results(wanted.arms, wanted.pulls, sums, sums))


@pytest.mark.parametrize("beta", [1.1, 2.0, 3.5])
@pytest.mark.parametrize("q", [0.25, 0.9])
def test_round_r_lasts_beta_to_the_r_minus_1_times_the_first(beta: float, q: float) -> None:
    scaling, arms = PowerLaw(q), 6
    pacer = APR(beta=beta).start(Task(arms=arms, scaling=scaling, confidence=0.9))
    for r in range(6):
        expected = math.floor(scaling.pulls(beta**r * scaling.seconds(arms)) / arms + 1e-9)
        pulls = asked(pacer).pulls.tolist()
        assert pulls == pytest.approx([max(expected, 1)] * arms, rel=1e-9)  # line 10
        answer(pacer, [0.5] * arms)  # ties: nobody falls


def test_a_survivor_keeps_its_old_pulls() -> None:
    pacer = APR(deviation=0.2).start(Task(arms=3, scaling=PowerLaw(0.5), confidence=0.9))
    total_asked = 0
    for _ in range(4):
        total_asked += int(asked(pacer).pulls[0])
        answer(pacer, [0.6, 0.58, 0.0])
    assert pacer.tally.pulls[0] == total_asked
    assert pacer.alive.tolist() == [0, 1]


def test_one_survivor_ends_the_race_at_once() -> None:
    """The trap: U_j = L_1 drops arm j but does not accept arm 1, costing a whole round."""
    from paceline.policies.elimination import judge

    accept, reject = judge(np.array([0.5, 0.1]), np.array([0.9, 0.5]), wanted=1)
    assert accept.tolist() == [True, False]
    assert reject.tolist() == [False, True]


def test_every_survivor_gets_a_pull_even_if_the_inverse_falls_short() -> None:
    """The trap: λ⁻¹(λ(n)) just below n would floor to 0 pulls; so may a step of a real pool."""
    pool = CorePool(4, lambda cores: cores**-0.5)
    pacer = APR(beta=1.0001).start(Task(arms=7, scaling=pool, confidence=0.9))
    for _ in range(3):
        assert (asked(pacer).pulls >= 1).all()
        answer(pacer, [0.5] * 7)


def test_pulls_stay_countable_where_a_round_grows_a_thousandfold() -> None:
    """The trap: at q = 0.1 every round has 1024 times the pulls."""
    result = simulate([0.5, 0.5], APR(), PowerLaw(0.1), confidence=0.9, max_pulls=1e17)
    assert result.index.tolist() == [-1]
    assert 0 < result.pulls[0] <= 1e17


def test_tied_arms_end_undecided_at_a_cap_or_decided_by_a_tolerance() -> None:
    """The trap: tied best arms never separate."""
    tied = simulate([0.7, 0.7, 0.1], APR(), PowerLaw(0.5), confidence=0.9)
    assert tied.index.tolist() == [-1]
    assert not tied.correct[0]
    near = simulate([0.7, 0.7, 0.1], APR(), PowerLaw(0.5), confidence=0.9, tolerance=0.05)
    assert near.index[0] in (0, 1)
    assert near.correct[0]


@pytest.mark.parametrize("top", [1, 2, 4])
def test_top_k_finds_the_best_k(top: int) -> None:
    means = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7]
    result = simulate(means, APR(), PowerLaw(0.5), confidence=0.9, top=top, replications=10)
    best = sorted(range(6), key=lambda arm: -means[arm])[:top]
    assert all(sorted(row) == sorted(best) for row in result.chosen.tolist())
    assert result.correct.all()


def test_top_k_stops_pulling_what_it_has_accepted() -> None:
    pacer = APR(deviation=0.2).start(Task(arms=4, scaling=PowerLaw(0.5), confidence=0.9, top=2))
    for _ in range(4):
        answer(pacer, [1.0, 0.5, 0.45, 0.0])
    assert asked(pacer).arms.tolist() == [1, 2]


def test_the_scale_of_the_rewards_is_the_problems_unless_given() -> None:
    """The trap: the paper's D is for σ = ½, but its model has σ = 1."""
    honest = simulate([0.9, 0.3], APR(), confidence=0.9, rewards="normal", sigma=1.0)
    literal = simulate([0.9, 0.3], APR(sigma=0.5), confidence=0.9, rewards="normal", sigma=1.0)
    assert honest.pulls[0] > 2 * literal.pulls[0]
    assert honest.confidence == 0.9
    assert literal.confidence is None  # narrower than the noise: nothing is guaranteed


def test_a_scaled_deviation_guarantees_nothing_and_says_so() -> None:
    assert simulate([0.9, 0.1], APR(deviation=0.2), confidence=0.9).confidence is None
    assert simulate([0.9, 0.1], APR(deviation=1.0), confidence=0.9).confidence == 0.9


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: APR(beta=1.0), "beta must be above 1"),
        (lambda: APR(beta=0.5), "beta must be above 1"),
        (lambda: APR(beta=math.nan), "beta"),
        (lambda: APR(deviation=0.0), "deviation"),
        (lambda: APR(sigma=-1.0), "sigma"),
    ],
)
def test_bad_parameters_are_refused(make: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()  # type: ignore[operator]
