import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import BatchRacing, InvalidInput, PowerLaw, simulate
from paceline.core.rounds import Results
from paceline.policies.base import Task
from paceline.testing import PolicyContract, asked


class TestBatchRacing(PolicyContract):
    policy = BatchRacing(batch=20, deviation=0.3)
    goal = {"confidence": 0.9}


class TestBatchRacingWithFewerPullsThanArms(PolicyContract):
    policy = BatchRacing(batch=4, deviation=0.3)
    goal = {"confidence": 0.9}


@given(arms=st.integers(2, 9), batch=st.integers(1, 40), limit=st.sampled_from([None, 1, 3]))
def test_pulls_are_dealt_to_the_arms_with_the_fewest(
    arms: int, batch: int, limit: int | None
) -> None:
    task = Task(arms=arms, scaling=PowerLaw(0.5), confidence=0.9)
    pacer = BatchRacing(batch=batch, limit=limit).start(task)
    for _ in range(5):
        wanted = asked(pacer)
        assert wanted.total == min(batch, arms * (limit or batch))
        half = wanted.pulls / 2
        pacer.tell(Results(wanted.arms, wanted.pulls, half, half))
        spread = pacer.tally.pulls.max() - pacer.tally.pulls.min()
        assert spread <= 1  # round-robin
        assert wanted.pulls.max() <= (limit or batch)


def test_every_round_lasts_lambda_of_the_batch() -> None:
    scaling = PowerLaw(0.3)
    result = simulate(
        [0.9, 0.5, 0.2], BatchRacing(batch=50, deviation=0.5), scaling, confidence=0.9
    )
    assert result.seconds == pytest.approx(result.rounds * scaling.seconds(50))
    assert result.pulls.tolist() == (result.rounds * 50).tolist()


def test_a_batch_of_one_is_sequential() -> None:
    result = simulate(np.array([0.9, 0.1]), BatchRacing(batch=1, deviation=0.3), confidence=0.9)
    assert result.pulls.tolist() == result.rounds.tolist()


@pytest.mark.parametrize("bad", [{"batch": 0}, {"batch": 2.5}, {"limit": 0}, {"deviation": -1.0}])
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        BatchRacing(**bad)  # type: ignore[arg-type]


def test_who_is_dealt_to_first_is_drawn_by_lot() -> None:
    firsts = {
        int(
            asked(
                BatchRacing(batch=1).start(
                    Task(arms=6, scaling=PowerLaw(0.5), confidence=0.9, seed=seed)
                )
            ).arms[0]
        )
        for seed in range(60)
    }
    assert firsts == set(range(6))
