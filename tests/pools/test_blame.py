"""Who is charged if a pull gives no value: its arm, or nobody because it may be the machine."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from paceline.engines.events import Failure, FailureKind
from paceline.engines.jobs import Job, Run
from paceline.errors import RaceFailed
from paceline.journal.records import ArmOut, PullFailed, PullsLost, Record, TimeSpent, record_of
from paceline.pools.blame import is_charged
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.interruptions import ArmsFailed
from tests.pools.test_dispatcher import (
    Script,
    Stage,
    Step,
    flat,
    hear_all,
    interruption_of,
    pulls_of,
    round_of,
    value_of,
)

KILLED = Failure("killed", "the worker process was killed by signal 9")
SHORT = Failure("shortage", "raised MemoryError")
NO_FORK = "fork: Resource temporarily unavailable"

# Kind, pulls left in the job, suspicions before, nothing else running, fresh worker: charged?
CASES: list[tuple[FailureKind, int, int, bool, bool, bool]] = [
    ("exception", 1, 0, False, False, True),
    ("exception", 4, 0, False, False, True),
    ("no number", 4, 0, False, False, True),
    ("exit status", 1, 0, False, False, True),
    ("no start", 1, 0, False, False, True),
    ("timeout", 1, 0, False, False, True),
    ("timeout", 2, 0, True, True, False),
    ("died", 1, 0, False, False, True),
    ("died", 2, 9, True, True, False),
    ("died after others", 1, 0, True, False, False),
    ("died after others", 1, 0, False, True, True),
    ("died after others", 3, 0, False, True, False),
    ("killed", 1, 0, True, True, False),
    ("killed", 1, 1, True, True, False),
    ("killed", 1, 2, True, True, True),
    ("killed", 1, 9, False, True, False),
    ("killed", 2, 9, True, True, False),
    ("shortage", 1, 0, True, False, True),
    ("shortage", 1, 9, False, True, False),
    ("shortage", 4, 0, True, False, True),
    ("machine", 1, 9, True, True, False),
    ("machine", 4, 9, True, True, False),
]


@pytest.mark.parametrize(("kind", "together", "before", "quiet", "fresh", "charged"), CASES)
def test_who_is_charged(
    kind: FailureKind, together: int, before: int, quiet: bool, fresh: bool, charged: bool
) -> None:
    failure = Failure(kind, "went wrong")
    assert is_charged(failure, together, before, quiet=quiet, fresh=fresh) == charged


def going_wrong(
    outcome: Step, which: Callable[[int, int], bool], times: float = math.inf
) -> Script:
    """These pulls of arm and number go wrong the first `times` times, each."""
    tried: Counter[tuple[int, int]] = Counter()

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        tried[arm, pull] += 1
        wrong = which(arm, pull) and tried[arm, pull] <= times
        return 1.0, outcome if wrong else value_of(arm, pull)

    return script


def dispatcher_of(stage: Stage, past: list[Record] | None = None, **rules: Any) -> Dispatcher:
    return stage.dispatcher(pool=flat(4), rules={"retries": 0} | rules, past=past or [])


def first(arm: int, pull: int) -> bool:
    return (arm, pull) == (0, 0)


@pytest.mark.parametrize("times", [1, 7, 19])
def test_what_the_machine_takes_is_done_again_and_never_charged(times: int) -> None:
    stage = Stage(going_wrong(NO_FORK, first, times))
    dispatcher = dispatcher_of(stage)
    assert hear_all(dispatcher, round_of(3, 3)) == {0: 3, 1: 3}
    assert stage.failures() == []
    assert dispatcher.books.attempts.out == {}
    lost = stage.of(PullsLost)
    assert [(one.pulls, one.what, one.message) for one in lost] == (
        [((Run(0, 0, 1),), "machine", NO_FORK)] * times
    )
    assert Counter(stage.recorded()) == Counter((a, p) for a in range(2) for p in range(3))
    assert {one.why for one in stage.of(TimeSpent)} == {"lost"}


def test_where_nothing_can_be_run_the_race_stops_and_nobody_is_out() -> None:
    stage = Stage(going_wrong(NO_FORK, lambda arm, pull: True))
    dispatcher = dispatcher_of(stage)
    dispatcher.pursue(round_of(3, 3))
    with pytest.raises(RaceFailed, match=f"no pull can be run on this machine: {NO_FORK} .20 "):
        dispatcher.wait(math.inf)
    assert dispatcher.books.attempts.out == {}
    assert stage.failures() == []
    waves = [one.at for one in stage.of(PullsLost)]
    pauses = [round(late - early - 1.0, 6) for early, late in zip(waves, waves[4:], strict=False)]
    assert pauses == sorted(pauses), "it is not tried again in a hurry"
    assert pauses[0] > 0
    assert pauses[-1] == 5.0
    assert stage.time < 100, "nor for hours"


def test_jobs_that_are_lost_at_one_moment_are_one_setback() -> None:
    stage = Stage(going_wrong("all were killed", lambda arm, pull: True, times=1))
    dispatcher = stage.dispatcher(pool=flat(64), rules={"cores": 64, "most_cores": 1, "retries": 0})
    assert hear_all(dispatcher, round_of(32, 32)) == {0: 32, 1: 32}
    assert len(stage.of(PullsLost)) == 64
    assert stage.time < 2.2


def test_a_pull_that_is_always_killed_is_charged_in_the_end_and_the_others_are_not() -> None:
    stage = Stage(going_wrong(KILLED, first))
    dispatcher = dispatcher_of(stage)
    assert interruption_of(dispatcher, round_of(3, 3)) == ArmsFailed((0,))
    (failure,) = stage.of(PullFailed)
    assert failure.what == "killed"
    assert failure.message == f"{KILLED.message}, each of 3 times (out of memory?)"
    assert len(stage.of(PullsLost)) == 2
    assert [record.arm for record in stage.of(ArmOut)] == [0]
    again = [job for job in stage.jobs if (0, 0) in pulls_of(job.runs)]
    assert [job.pulls for job in again] == [1, 1, 1]
    assert [job.fresh for job in again] == [False, True, True]


@pytest.mark.parametrize("failure", [KILLED, SHORT])
@pytest.mark.parametrize("retries", [0, 2])
def test_nobody_is_charged_while_something_else_runs(failure: Failure, retries: int) -> None:
    """All pulls together are too much for the machine; each by itself is not."""
    stage = Stage(lambda job, arm, pull: (1.0, value_of(arm, pull)))

    def too_much(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        crowded = len(stage.running) > 1 and arm == 0
        return 1.0 + 0.001 * arm, failure if crowded else value_of(arm, pull)

    stage.script = too_much
    dispatcher = dispatcher_of(stage, retries=retries, most_cores=1)
    assert hear_all(dispatcher, round_of(3, 9)) == {0: 3, 1: 9}
    assert stage.failures() == []
    assert dispatcher.books.attempts.out == {}


def test_the_last_trial_runs_while_nothing_else_does() -> None:
    beside: list[int] = []
    stage = Stage(lambda job, arm, pull: (1.0, value_of(arm, pull)))

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        if (arm, pull) == (0, 0):
            beside.append(len(stage.running) - 1)
            return 1.0, SHORT
        return 1.0, value_of(arm, pull)

    stage.script = script
    dispatcher = dispatcher_of(stage, retries=2, most_cores=1)
    assert interruption_of(dispatcher, round_of(5, 20)) == ArmsFailed((0,))
    assert beside[0] > 0
    assert beside[-3:] == [0, 0, 0], "every attempt that was charged"
    assert stage.failures() == [(0, 0, "shortage")] * 3


def test_on_one_core_a_shortage_is_charged_at_once() -> None:
    stage = Stage(going_wrong(SHORT, first))
    dispatcher = dispatcher_of(stage, cores=1, retries=1)
    assert interruption_of(dispatcher, round_of(1, 1)) == ArmsFailed((0,))
    assert stage.failures() == [(0, 0, "shortage")] * 2


def test_a_group_that_is_killed_is_taken_apart_and_the_others_are_not_charged() -> None:
    stage = Stage(going_wrong(KILLED, lambda arm, pull: (arm, pull) == (0, 1)), largest_job=4)
    script = stage.script
    stage.script = lambda job, arm, pull: (0.001, script(job, arm, pull)[1])
    dispatcher = stage.dispatcher(arms=1, rules={"cores": 1, "retries": 0}, pool=flat(1, 0.001))
    assert interruption_of(dispatcher, round_of(4)) == ArmsFailed((0,))
    assert stage.jobs[0].pulls == 4
    lost = stage.of(PullsLost)
    assert lost[0].pulls == (Run(0, 1, 3),), "the first had its value"
    assert [one.pulls for one in lost[1:]] == [(Run(0, 1, 1),)] * 2
    assert stage.failures() == [(0, 1, "killed")]


def test_a_death_after_others_is_charged_only_in_a_fresh_worker() -> None:
    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        kind: FailureKind = "died" if job.fresh else "died after others"
        bad = Failure(kind, "the worker process ended with signal 11")
        return 1.0, bad if (arm, pull) == (0, 0) else value_of(arm, pull)

    stage = Stage(script)
    assert interruption_of(dispatcher_of(stage), round_of(2, 2)) == ArmsFailed((0,))
    assert stage.failures() == [(0, 0, "died")]
    stage = Stage(going_wrong(Failure("died after others", "signal 11"), first, times=1))
    dispatcher = dispatcher_of(stage)
    assert hear_all(dispatcher, round_of(2, 2)) == {0: 2, 1: 2}
    assert stage.failures() == []
    assert [job.fresh for job in stage.jobs if pulls_of(job.runs) == [(0, 0)]] == [False, True]


def test_the_attempt_that_may_put_an_arm_out_has_a_fresh_worker() -> None:
    stage = Stage(going_wrong(Failure("exception", "raised KeyError"), first))
    dispatcher = dispatcher_of(stage, retries=2)
    assert interruption_of(dispatcher, round_of(1, 1)) == ArmsFailed((0,))
    tries = [job.fresh for job in stage.jobs if pulls_of(job.runs) == [(0, 0)]]
    assert tries == [False, False, True]


def test_suspicions_survive_a_resume() -> None:
    stage = Stage(going_wrong(KILLED, first))
    past: list[Record] = [
        PullsLost(1.0, (Run(0, 0, 1),), "killed", "signal 9"),
        PullsLost(2.0, (Run(0, 0, 1),), "killed", "signal 9"),
        PullsLost(2.0, (Run(0, 0, 1),), "machine", NO_FORK),
    ]
    past = [record_of(record.to_json()) for record in past]
    dispatcher = dispatcher_of(stage, past, cores=1)
    assert interruption_of(dispatcher, round_of(1, 1)) == ArmsFailed((0,))
    assert stage.failures() == [(0, 0, "killed")]
    assert stage.of(PullsLost) == []


def test_what_is_lost_when_all_ends_stops_nothing() -> None:
    stage = Stage(going_wrong(NO_FORK, lambda arm, pull: True))
    dispatcher = dispatcher_of(stage)
    dispatcher.pursue(round_of(1, 1))
    dispatcher.wait(0.5)
    dispatcher.intake.setbacks.in_a_row = 19
    stage.time += 10
    dispatcher.finish()
    assert stage.closed


def test_a_group_that_the_machine_takes_stays_together() -> None:
    tried: Counter[int] = Counter()

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        tried[pull] += 1
        return 0.001, NO_FORK if tried[pull] == 1 and pull == 1 else value_of(arm, pull)

    stage = Stage(script, largest_job=4)
    dispatcher = stage.dispatcher(arms=1, rules={"cores": 1, "retries": 0}, pool=flat(1, 0.001))
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert [job.pulls for job in stage.jobs] == [4, 3]
    assert [one.pulls for one in stage.of(PullsLost)] == [(Run(0, 1, 3),)]
