import numpy as np

from paceline import PowerLaw
from paceline.core.rounds import TOGETHER, Conditions, Results, Until, Verdict
from paceline.policies.base import Pacer, Task
from paceline.policies.opening import Opening
from paceline.testing import PolicyContract, asked


class TestOpening(PolicyContract):
    policy = Opening(pulls=3)
    goal = {"deadline": 50.0}


def back(pacer: Pacer, pulls: list[int], seconds: float) -> None:
    """The round has ended, with so many pulls of each arm."""
    count = np.array(pulls)
    some = np.flatnonzero(count)
    zeros = np.zeros(some.size)
    conditions = Conditions(seconds, pacer.scaling)
    pacer.tell(Results(some, count[some], zeros, zeros, last=True), conditions)


def test_where_a_confidence_is_asked_for_it_waits_for_all() -> None:
    task = Task(arms=4, scaling=PowerLaw(0.5), confidence=0.9, deadline=60.0)
    wanted = asked(Opening(pulls=2).start(task))
    assert wanted.pulls.tolist() == [2] * 4
    assert wanted.how == TOGETHER


def test_to_a_deadline_most_arms_are_enough() -> None:
    pacer = Opening().start(Task(arms=5, scaling=PowerLaw(0.5), deadline=60.0))
    assert asked(pacer).how == Until(3.0)
    back(pacer, [1, 0, 1, 0, 1], 3.0)
    wanted = asked(pacer)
    assert wanted.how == Until(6.0), "it looks again after twice the time"
    assert wanted.pulls.tolist() == [0, 1, 0, 1, 0]
    back(pacer, [0, 1, 0, 0, 0], 6.0)
    verdict = pacer.ask()
    assert isinstance(verdict, Verdict)
    assert verdict.reason == "the first pulls are back"
