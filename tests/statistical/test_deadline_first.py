"""A deadline ends a race to a confidence: what it is then said to have reached is kept.

For every α, a wrong answer that is said to be right with probability 1 − α or more is given in at
most α of the races. As in test_guarantee.py, a test fails when so many would be a chance of less
than one in a million, and a control must be caught.
"""

import pytest

from paceline import Bernoulli, Normal, PowerLaw, Problem, Simulation, simulate
from paceline.core.arrays import Ints
from paceline.core.evidence.betting import Betting
from paceline.policies.base import Task
from paceline.policies.racing import Racing
from tests.statistical.test_guarantee import one_against_many, refutes

LEVELS = (0.5, 0.3, 0.2, 0.1)
RUNS = 500


def races(problem: Problem, policy: Racing | None = None, **changes: object) -> Simulation:
    """Too short to be sure of so small a gap."""
    return simulate(
        problem,
        policy or Racing(),
        PowerLaw(0.5),
        confidence=0.95,
        deadline=60.0,
        seed=29,
        replications=RUNS,
        processes=1,
        **changes,  # type: ignore[arg-type]
    )


def wrong_claims(result: Simulation, level: float) -> int:
    """How many wrong answers were said to be right with probability 1 − `level` or more."""
    claimed = result.confidences >= 1 - level - 1e-9  # of nothing known, NaN, it is False
    return int((claimed & ~result.correct).sum())


NEARLY_TIED = Bernoulli(one_against_many(2, 0.001))


@pytest.mark.parametrize(
    ("problem", "policy", "changes"),
    [
        (NEARLY_TIED, Racing(), {}),
        (NEARLY_TIED, Racing("betting"), {}),
        (NEARLY_TIED, Racing(), {"tolerance": 0.0005}),
        (Bernoulli([0.5, 0.5, 0.499]), Racing(), {"top": 2}),
        (Normal(one_against_many(2, 0.001)), Racing(), {"noise": "normal"}),
    ],
    ids=["bernoulli", "betting", "tolerance", "top 2", "normal"],
)
def test_what_is_said_to_have_been_reached_holds(
    problem: Problem, policy: Racing, changes: dict[str, object]
) -> None:
    result = races(problem, policy, **changes)
    assert wrong_claims(result, 0.5) > 0, "or nothing was tested"
    for level in LEVELS:
        assert not refutes(wrong_claims(result, level), RUNS, level)


class Boastful(Betting):
    """Says of a level that it has reached a fifth of it."""

    def out_at(self, level: float, arms: Ints) -> bool:
        return super().out_at(min(5 * level, 0.9), arms)


def boastful(task: Task, delta: float) -> Boastful:
    return Boastful(task.arms, delta, (0.0, 1.0))


def test_control_levels_divided_by_five_are_caught() -> None:
    assert refutes(wrong_claims(races(NEARLY_TIED, Racing(boastful)), 0.1), RUNS, 0.1)
