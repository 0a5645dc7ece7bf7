import math
from dataclasses import dataclass

import numpy as np
import pytest

from paceline import APR, SSH, Bernoulli, PowerLaw
from paceline.core.arrays import Ints
from paceline.core.rounds import (
    NO_RESULTS,
    NOT_AHEAD,
    Ahead,
    Conditions,
    Interruption,
    Looks,
    Results,
    Round,
)
from paceline.loop import run
from paceline.policies.base import Task
from paceline.pools.virtual import VirtualRunner

SCALING = PowerLaw(0.5)
MEANS = np.array([0.9, 0.5, 0.2])


class Told:
    """A mock runner: pulls take the seconds it is told, and nothing sleeps."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.time = 0.0
        self.pulls = self._spent = 0
        self.wanted: list[Round] = []

    def now(self) -> float:
        return self.time

    def spent(self, asked: Round, ahead: Ints) -> int:
        return self._spent

    def pursue(self, wanted: Round, ahead: Ahead = NOT_AHEAD) -> None:
        self.wanted.append(wanted)

    def wait(self, until: float) -> Results | Interruption:
        if self.time + self.seconds > until:
            self.time = until
            return NO_RESULTS
        self.time += self.seconds
        wanted = self.wanted[-1]
        self.pulls += wanted.total
        self._spent += wanted.total
        sums = wanted.pulls * MEANS[wanted.arms]
        return Results(wanted.arms, wanted.pulls, sums, sums)

    def close_round(self, number: int) -> Conditions:
        return Conditions(self.time, SCALING)


def test_time_is_what_the_runner_says() -> None:
    runner = Told(seconds=0.123)
    pacer = APR().start(Task(arms=3, scaling=SCALING, confidence=0.9))
    ending = run(pacer, runner)
    assert ending.seconds == pytest.approx(0.123 * ending.rounds)
    assert ending.pulls == sum(wanted.total for wanted in runner.wanted)
    assert ending.answer.decided
    assert ending.answer.arms.tolist() == [0]


def test_the_deadline_ends_a_race_with_the_best_so_far() -> None:
    task = Task(arms=3, scaling=SCALING, confidence=0.999, deadline=1.0)
    unsure = run(APR().start(task), Told(seconds=0.4), deadline=1.0)
    assert unsure.seconds == 1.0
    assert unsure.rounds == 2  # the third was under way, and is not complete
    assert unsure.answer.decided
    assert unsure.answer.arms.tolist() == [0]
    assert unsure.answer.confidence is None
    assert "deadline of 1 s" in unsure.answer.reason

    task = Task(arms=3, scaling=SCALING, deadline=100.0)
    slow = run(SSH(k=1).start(task), Told(seconds=70.0), deadline=100.0)
    assert slow.answer.decided
    assert slow.answer.arms.tolist() == [0]  # by the one stage that came back
    assert slow.answer.confidence is None


def test_caps_end_a_race_before_the_round_that_would_exceed_them() -> None:
    task = Task(arms=3, scaling=SCALING, confidence=0.9)
    ending = run(APR().start(task), Told(seconds=1.0), max_pulls=20)
    assert ending.pulls <= 20
    assert not ending.answer.decided
    assert sorted(ending.answer.arms.tolist()) == [0, 1, 2]
    assert run(APR().start(task), Told(seconds=1.0), max_rounds=2).pulls == 15


def test_a_stopped_race_goes_on_to_a_later_deadline() -> None:
    task = Task(arms=3, scaling=SCALING, confidence=0.9)

    def fresh() -> VirtualRunner:
        return VirtualRunner(Bernoulli(MEANS), PowerLaw(0.5), np.random.default_rng(4))

    at_once = run(APR().start(task), fresh())
    pacer, runner = APR().start(task), fresh()
    for deadline in (5.0, 11.0, 40.0):
        run(pacer, runner, deadline=deadline)
    in_parts = run(pacer, runner, deadline=math.inf)
    assert (in_parts.seconds, in_parts.answer.arms[0]) == (
        at_once.seconds,
        at_once.answer.arms[0],
    )


def test_of_a_round_of_which_the_cap_leaves_nothing_due_nothing_is_run() -> None:
    """The leader has more to do than the others, which the cap leaves nothing."""
    pulls, due = np.array([30, 1, 1]), np.array([0, 1, 1])
    assert Round(np.arange(3), pulls, Looks(due)).within(3).total == 0
    assert Round(np.arange(3), pulls, Looks(due)).within(32).total == 32


@dataclass(frozen=True)
class PowerCut(Interruption):
    room: str


class Interrupted(Told):
    """It breaks off in the third round."""

    def wait(self, until: float) -> Results | Interruption:
        return PowerCut("cellar") if len(self.wanted) == 3 else super().wait(until)


def test_a_runner_that_cannot_go_on_ends_the_race_without_a_verdict() -> None:
    pacer = APR().start(Task(arms=3, scaling=SCALING, confidence=0.9))
    ending = run(pacer, Interrupted(seconds=1.0))
    assert ending.verdict is None
    assert ending.interruption == PowerCut("cellar")
    assert (ending.seconds, ending.rounds) == (2.0, 2)
    assert isinstance(pacer.ask(), Round), "it could go on"


def test_the_policy_hears_of_the_conditions_with_the_results_that_complete_a_round() -> None:
    pacer = APR().start(Task(arms=3, scaling=SCALING, confidence=0.9))
    run(pacer, Told(seconds=7.0), max_rounds=2)
    assert pacer.elapsed == 14.0
