import numpy as np
import pytest

from paceline import APR, InvalidInput, PowerLaw, Uniform, simulate
from paceline.testing import PolicyContract


class TestUniformByADeadline(PolicyContract):
    policy = Uniform()
    goal = {"deadline": 60.0}


class TestUniformToAConfidence(PolicyContract):
    policy = Uniform(deviation=0.3)
    goal = {"confidence": 0.9}


def test_a_deadline_is_filled_by_one_round() -> None:
    result = simulate(np.linspace(0, 1, 10), Uniform(), PowerLaw(0.5), deadline=10.0)
    assert result.pulls.tolist() == [100]
    assert result.seconds.tolist() == [10.0]


def test_a_confidence_costs_more_than_with_elimination() -> None:
    means = [0.9, 0.8, *[0.1] * 20]
    scaling = PowerLaw(0.9)
    uniform = simulate(means, Uniform(), scaling, confidence=0.9, replications=5)
    apr = simulate(means, APR(), scaling, confidence=0.9, replications=5)
    assert uniform.correct.all()
    assert uniform.pulls.mean() > 2 * apr.pulls.mean()


def test_a_deadline_too_short_for_every_arm_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"too short for one pull of each of the 100 arms: .* at least 10 s"
    ):
        simulate(np.linspace(0, 1, 100), Uniform(), PowerLaw(0.5), deadline=9.0)
