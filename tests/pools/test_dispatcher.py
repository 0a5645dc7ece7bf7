"""The dispatcher over a crew in virtual time: what is started, killed, retried and written."""

import heapq
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from scipy.stats import binomtest

from paceline import race
from paceline.core.fitting import Runtime, Timings
from paceline.core.pool import CorePool
from paceline.core.rounds import (
    NO_ARMS,
    NO_RESULTS,
    NOTHING,
    TOGETHER,
    Conditions,
    Interruption,
    Results,
    Round,
    Shares,
    Until,
)
from paceline.engines.events import (
    Began,
    Event,
    Failed,
    Failure,
    Finished,
    JobEvent,
    Loading,
    Lost,
    Values,
)
from paceline.engines.jobs import Job, Run, in_turn
from paceline.journal import Record, read_records
from paceline.journal.records import (
    ArmOut,
    PlanMade,
    PullFailed,
    PullsReturned,
    RoundEnded,
    TimeSpent,
    record_of,
)
from paceline.loop import run
from paceline.policies.base import Pacer, Task
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.interruptions import ArmsFailed, NotAsAssumed, PastRound
from paceline.pools.model import PoolModel
from paceline.pools.rules import Rules
from tests.races.virtual import VirtualEngine

Kind = TypeVar("Kind", bound=Record)
Step = float | Failure | str  # a value, what went wrong, or why it was lost
Script = Callable[[Job, int, int], tuple[float, Step]]  # seconds and outcome of an arm's pull


def value_of(arm: int, pull: int) -> float:
    return arm + pull / 1000


def all_well(seconds: float = 1.0) -> Script:
    return lambda job, arm, pull: (seconds, value_of(arm, pull))


def pulls_of(runs: Sequence[Any]) -> list[tuple[int, int]]:
    return [(arm, first + i) for arm, first, pulls in runs for i in range(pulls)]


class Stage:
    """Workers, their clock and a journal, all in one place."""

    def __init__(self, script: Script, *, largest_job: int = 1) -> None:
        self.script = script
        self.largest_job = largest_job
        self.time = 0.0
        self.jobs: list[Job] = []
        self.killed: list[int] = []
        self.closed = False
        self.running: dict[int, int] = {}
        self.records: list[Record] = []
        self.written: list[Record] = []
        self._events: list[tuple[float, int, JobEvent]] = []
        self._count = itertools.count()

    # The workers.

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        self.running[job.number] = job.cores
        when = self.time
        for arm, pull in in_turn(job.runs):
            seconds, outcome = self.script(job, arm, pull)
            when += seconds
            if isinstance(outcome, Failure):
                self._later(when, Failed(job.number, outcome))
                return
            if isinstance(outcome, str):
                self._later(when, Lost(job.number, outcome))
                return
            self._later(when, Values(job.number, [outcome], [seconds]))
        self._later(when, Finished(job.number))

    def end(self, job: int) -> None:
        assert job in self.running
        assert job not in self.killed, "killed twice"
        self.killed.append(job)
        self._events = [event for event in self._events if event[2].job != job]
        heapq.heapify(self._events)
        self._later(self.time + 0.01, Lost(job))

    def _later(self, when: float, event: JobEvent) -> None:
        if when < math.inf:
            heapq.heappush(self._events, (when, next(self._count), event))

    def wait(self, seconds: float | None) -> list[Event]:
        until = math.inf if seconds is None else self.time + seconds
        if not self._events or self._events[0][0] > until:
            assert until < math.inf, "it would wait forever"
            self.time = until
            return []
        self.time = max(self.time, self._events[0][0])
        events: list[Event] = []
        while self._events and self._events[0][0] <= self.time:
            event = heapq.heappop(self._events)[2]
            events.append(event)
            if isinstance(event, Finished | Failed | Lost):
                del self.running[event.job]
        return events

    def close(self) -> None:
        self.closed = True

    # The journal.

    def add(self, record: Record) -> None:
        assert record_of(record.to_json()) == record
        self.records.append(record)

    def commit(self) -> None:
        self.written = list(self.records)

    # What tests ask.

    def dispatcher(
        self,
        arms: int = 2,
        *,
        pool: CorePool | None = None,
        rules: dict[str, Any] | None = None,
        past: Sequence[Record] = (),
        can_end: bool = True,
    ) -> Dispatcher:
        given = {"cores": 4, "least_cores": 1} | (rules or {})
        treated = Rules(**({"most_cores": given["cores"]} | given))
        books = Books(arms)
        for record in past:
            books.take(record)
        return Dispatcher(
            self,
            treated,
            books,
            clock=RaceClock(lambda: self.time),
            model=PoolModel(treated, pool),
            journal=self,
            largest_group=self.largest_job,
            can_end=can_end,
        )

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [record for record in self.records if isinstance(record, kind)]

    def recorded(self) -> list[tuple[int, int]]:
        return [pull for record in self.of(PullsReturned) for pull in pulls_of(record.pulls)]

    def failures(self) -> list[tuple[int, int, str]]:
        return [(record.arm, record.pull, record.what) for record in self.of(PullFailed)]

    def started(self) -> list[tuple[int, int]]:
        return [pull for job in self.jobs for pull in pulls_of(job.runs)]


def round_of(*pulls: int, share: float | None = None) -> Round:
    arms = [arm for arm, count in enumerate(pulls) if count]
    counts = [pulls[arm] for arm in arms]
    how = TOGETHER if share is None else Shares(share)
    return Round(np.array(arms, dtype=np.int64), np.array(counts, dtype=np.int64), how)


def results_of(dispatcher: Dispatcher, until: float = math.inf) -> Results:
    results = dispatcher.wait(until)
    assert isinstance(results, Results)
    return results


def interruption_of(dispatcher: Dispatcher, wanted: Round) -> Interruption:
    """Pursue a round until something ends it."""
    found = hear(dispatcher, wanted)
    assert isinstance(found, Interruption)
    return found


def hear_all(dispatcher: Dispatcher, wanted: Round, until: float = math.inf) -> Counter[int]:
    """Pursue a round to its end, as the loop does; return the pulls told, by arm."""
    found = hear(dispatcher, wanted, until)
    assert isinstance(found, Counter)
    return found


def hear(
    dispatcher: Dispatcher, wanted: Round, until: float = math.inf
) -> Counter[int] | Interruption:
    told: Counter[int] = Counter()
    while wanted.total:
        dispatcher.pursue(wanted)
        results = dispatcher.wait(until)
        if isinstance(results, Interruption):
            return results
        if results is NO_RESULTS:
            break
        heard = dict(zip(results.arms.tolist(), results.pulls.tolist(), strict=True))
        told.update(heard)
        left = wanted.pulls - np.array([heard.get(arm, 0) for arm in wanted.arms.tolist()])
        wanted = wanted.keeping(left)
    return told


def flat(cores: int, seconds: float = 1.0) -> CorePool:
    return CorePool(cores, lambda count: seconds)


# Cancelling.


def arm_0_falls_at(moment: float, script: Script, seconds: float = 1.0) -> tuple[Stage, Dispatcher]:
    """Both arms run a pull each; then only the other is wanted."""
    stage = Stage(script)
    dispatcher = stage.dispatcher(pool=flat(4, seconds))
    dispatcher.pursue(round_of(1, 1))
    assert dispatcher.wait(moment) is NO_RESULTS
    assert len(stage.running) == 2
    dispatcher.pursue(round_of(0, 1))
    return stage, dispatcher


def test_a_long_pull_of_a_dropped_arm_is_killed_and_its_cores_are_used_again() -> None:
    stage, dispatcher = arm_0_falls_at(0.1, all_well())
    assert [pulls_of(stage.jobs[job].runs) for job in stage.killed] == [[(0, 0)]]
    assert hear_all(dispatcher, round_of(0, 1)) == {1: 1}
    assert dispatcher.assignments.free == 4
    assert stage.recorded() == [(1, 0)]
    assert stage.failures() == [], "it did nothing wrong"
    # If it is wanted after all, it is done again, under the same number.
    assert hear_all(dispatcher, round_of(1, 0)) == {0: 1}
    assert dispatcher.books.ledger.values(0).tolist() == [value_of(0, 0)]


def test_a_pull_that_is_nearly_done_is_left_alone_and_its_result_kept() -> None:
    stage, dispatcher = arm_0_falls_at(0.9, all_well())
    assert stage.killed == []
    assert hear_all(dispatcher, round_of(0, 2)) == {1: 2}
    assert (0, 0) in stage.recorded()
    jobs = len(stage.jobs)
    assert hear_all(dispatcher, round_of(1, 0)) == {0: 1}, "its value was kept"
    assert len(stage.jobs) == jobs, "and nothing was run for it"
    assert max(Counter(stage.recorded()).values()) == 1


def test_workers_that_cannot_end_a_job_are_not_asked_to() -> None:
    stage = Stage(all_well(100.0))
    dispatcher = stage.dispatcher(pool=flat(4, 100.0), can_end=False)
    dispatcher.pursue(round_of(1, 1))
    dispatcher.wait(50.0)
    assert hear_all(dispatcher, round_of(0, 2)) == {1: 2}
    assert stage.killed == []
    assert sorted(stage.recorded()) == [(0, 0), (1, 0), (1, 1)], "it was let run to its end"


def test_a_dropped_pull_of_which_nothing_is_known_is_killed() -> None:
    stage = Stage(all_well(100.0))
    dispatcher = stage.dispatcher()  # no pool yet
    dispatcher.pursue(round_of(1, 1))
    dispatcher.wait(50.0)
    dispatcher.pursue(round_of(0, 1))
    assert len(stage.killed) == 1


def test_a_pull_of_a_dropped_arm_that_hangs_is_killed_too() -> None:
    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        return (math.inf if arm == 0 else 50.0), value_of(arm, pull)

    stage, _ = arm_0_falls_at(20.0, script)
    assert len(stage.killed) == 1


def test_a_group_is_kept_as_long_as_one_of_its_pulls_is_wanted() -> None:
    stage = Stage(all_well(1.0), largest_job=2)
    dispatcher = stage.dispatcher(rules={"cores": 1}, pool=flat(1, 0.002))
    dispatcher.pursue(round_of(1, 1))
    assert dispatcher.wait(0.1) is NO_RESULTS
    assert [job.runs for job in stage.jobs] == [(Run(0, 0, 1), Run(1, 0, 1))]
    dispatcher.pursue(round_of(0, 1))
    assert stage.killed == []
    assert hear_all(dispatcher, round_of(0, 1)) == {1: 1}


def test_a_value_that_arrives_before_the_kill_counts_once() -> None:
    """A pull reports at the very moment when it is cancelled: one value, whatever comes first."""
    stage = Stage(all_well(10.0), largest_job=3)
    dispatcher = stage.dispatcher(rules={"cores": 1}, pool=flat(1, 10.0))
    dispatcher.giver._group = lambda *_: 3  # type: ignore[method-assign]
    dispatcher.pursue(round_of(3, 0))
    assert results_of(dispatcher, 10.0).pulls.tolist() == [1]
    dispatcher.pursue(round_of(0, 1))
    assert stage.killed == [0]
    assert hear_all(dispatcher, round_of(0, 1)) == {1: 1}
    assert hear_all(dispatcher, round_of(2, 0)) == {0: 2}
    assert Counter(stage.started()) == Counter({(0, 0): 1, (0, 1): 2, (0, 2): 2, (1, 0): 1})
    assert sorted(stage.recorded()) == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert dispatcher.books.ledger.values(0).tolist() == [value_of(0, pull) for pull in range(3)]


def test_a_cancelled_group_has_used_the_time_it_ran() -> None:
    stage = Stage(all_well(1.0), largest_job=4)
    dispatcher = stage.dispatcher(rules={"cores": 1}, pool=flat(1, 0.001))
    dispatcher.pursue(round_of(4, 0))
    assert results_of(dispatcher).total == 1
    dispatcher.pursue(round_of(3, 0))
    assert results_of(dispatcher).total == 1  # two of four are done, at 2 s
    (running,) = dispatcher.assignments
    running.expected = 100.0
    dispatcher.pursue(round_of(0, 1))
    assert hear_all(dispatcher, round_of(0, 1)) == {1: 1}
    assert dispatcher.books.core_seconds == pytest.approx(stage.time, abs=0.1)


# Groups that go wrong.

DIED = Failure("died", "the worker process ended with signal 9")
RAISED = Failure("exception", "raised ValueError: no", "Traceback")


def guilty(which: int, failure: Failure, times: float = math.inf) -> Script:
    """Pull `which` of arm 0 fails so many times, alone or in company."""
    left = [times]

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        if (arm, pull) == (0, which) and left[0] > 0:
            left[0] -= 1
            return 0.001, failure
        return 0.001, value_of(arm, pull)

    return script


def one_core(stage: Stage, **rules: Any) -> Dispatcher:
    return stage.dispatcher(arms=1, rules={"cores": 1} | rules, pool=flat(1, 0.001))


@pytest.mark.parametrize("which", range(4))
def test_a_group_that_dies_is_taken_apart_and_only_the_guilty_pull_is_charged(which: int) -> None:
    stage = Stage(guilty(which, DIED), largest_job=4)
    dispatcher = one_core(stage, retries=1)
    assert interruption_of(dispatcher, round_of(6)) == ArmsFailed((0,))
    assert stage.jobs[0].pulls == 4
    together = [job for job in stage.jobs[1:] if (0, which) in pulls_of(job.runs)]
    assert [job.pulls for job in together] == [1] * len(together), "then it runs alone"
    if which < 3:
        assert {(arm, pull) for arm, pull, _ in stage.failures()} == {(0, which)}
        assert len(stage.failures()) == 2, "the group does not count, as it says nothing"
    else:  # the others of the group had reported: it was the only one left
        assert len(stage.failures()) == 2
    out = dispatcher.books.attempts.out
    assert {arm: failure.message for arm, failure in out.items()} == {0: DIED.message}
    assert [record.arm for record in stage.of(ArmOut)] == [0]
    assert set(stage.recorded()).isdisjoint({(0, which)})


def test_a_group_that_dies_once_loses_nothing() -> None:
    stage = Stage(guilty(1, DIED, times=1), largest_job=4)
    dispatcher = one_core(stage, retries=0)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.failures() == []
    assert dispatcher.books.ledger.values(0).tolist() == [value_of(0, pull) for pull in range(4)]
    assert Counter(stage.recorded()) == Counter((0, pull) for pull in range(4))


@pytest.mark.parametrize("failure", [DIED, RAISED])
@pytest.mark.parametrize("which", range(4))
def test_a_group_that_goes_wrong_has_used_the_time_it_ran(which: int, failure: Failure) -> None:
    script = guilty(which, failure, times=1)
    stage = Stage(lambda job, arm, pull: (1.0, script(job, arm, pull)[1]), largest_job=4)
    dispatcher = one_core(stage)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.jobs[0].pulls == 4
    assert dispatcher.books.core_seconds == pytest.approx(stage.time) == pytest.approx(5.0)


def test_an_exception_names_its_pull_and_the_others_go_on() -> None:
    stage = Stage(guilty(1, RAISED, times=2), largest_job=4)
    dispatcher = one_core(stage, retries=2)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.failures() == [(0, 1, "exception")] * 2
    assert [record.attempt for record in stage.of(PullFailed)] == [1, 2]
    assert dispatcher.books.attempts.out == {}


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_pull_is_tried_so_many_more_times(retries: int) -> None:
    stage = Stage(guilty(0, RAISED))
    dispatcher = one_core(stage, retries=retries)
    assert interruption_of(dispatcher, round_of(1)) == ArmsFailed((0,))
    assert stage.started() == [(0, 0)] * (retries + 1)
    assert len(dispatcher.books.attempts.failures) == retries + 1
    again = Stage(guilty(0, RAISED, times=retries))
    assert hear_all(one_core(again, retries=retries), round_of(1)) == {0: 1}


def test_attempts_are_remembered_when_a_race_is_taken_up_again() -> None:
    stage = Stage(guilty(0, RAISED))
    failed = PullFailed(at=1.0, arm=0, pull=0, attempt=2, what="exception", message="no", detail="")
    rules = {"cores": 1, "retries": 2}
    dispatcher = stage.dispatcher(arms=1, rules=rules, pool=flat(1, 0.001), past=[failed])
    assert interruption_of(dispatcher, round_of(1)) == ArmsFailed((0,))
    assert len(stage.jobs) == 1, "this was the last attempt"


def test_a_failed_arm_is_reported_once_though_several_of_its_pulls_fail() -> None:
    stage = Stage(lambda job, arm, pull: (1.0, RAISED if arm == 0 else value_of(arm, pull)))
    dispatcher = stage.dispatcher(pool=flat(4), rules={"retries": 0})
    assert interruption_of(dispatcher, round_of(4, 1)) == ArmsFailed((0,))
    assert [record.arm for record in stage.of(ArmOut)] == [0]
    assert stage.written == stage.records
    dispatcher.begin(np.array([1]))
    assert hear_all(dispatcher, round_of(2)) == {0: 2}, "the other goes on as number 0"
    assert dispatcher.books.ledger.values(1).size == 2


# Timeouts.


def test_a_timeout_starts_anew_with_each_report_of_a_group() -> None:
    stage = Stage(all_well(0.8), largest_job=4)
    dispatcher = one_core(stage, timeout=1.0)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.jobs[0].pulls == 4
    assert stage.time == pytest.approx(3.2)
    assert stage.killed == []
    assert stage.failures() == []


def test_a_pull_that_takes_too_long_is_killed_charged_and_tried_again() -> None:
    hung = [1]

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        if pull == 2 and hung[0]:
            hung[0] -= job.pulls == 1  # in the group, and once more alone
            return math.inf, 0.0
        return 0.1, value_of(arm, pull)

    stage = Stage(script, largest_job=4)
    dispatcher = one_core(stage, timeout=1.0)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.failures() == [(0, 2, "timeout")]
    assert len(stage.killed) == 2
    assert "1 s" in stage.of(PullFailed)[0].message
    assert stage.time == pytest.approx(2 * 1.0 + 4 * 0.1, abs=0.1)
    assert Counter(stage.recorded()) == Counter((0, pull) for pull in range(4))


def loading_for(seconds: float, stage: Stage) -> None:
    """Every job has to wait so long for its worker."""
    start = stage.start

    def slow_start(job: Job) -> None:
        stage._later(stage.time, Loading(job.number))
        stage._later(stage.time + seconds, Began(job.number))
        stage.time += seconds
        start(job)
        stage.time -= seconds

    stage.start = slow_start  # type: ignore[method-assign]


def test_a_worker_that_is_loading_has_its_own_time() -> None:
    """A job that has not begun is not timed: its timeout runs from when it has."""
    stage = Stage(all_well(0.5))
    loading_for(5.0, stage)
    dispatcher = one_core(stage, timeout=1.0)
    assert hear_all(dispatcher, round_of(1)) == {0: 1}
    assert stage.killed == []


@pytest.mark.parametrize(("timeout", "limit"), [(1.0, 60.0), (30.0, 300.0)])
def test_a_worker_that_loads_for_ever_is_ended_and_the_failure_says_so(
    timeout: float, limit: float
) -> None:
    """An import may hang: even a group of pulls waits for it once, not once more alone."""
    stage = Stage(all_well(), largest_job=4)
    loading_for(1e6, stage)
    dispatcher = one_core(stage, timeout=timeout, retries=0)
    assert interruption_of(dispatcher, round_of(4)) == ArmsFailed((0,))
    assert stage.time == pytest.approx(limit, abs=0.1)
    (failed,) = stage.of(PullFailed)
    assert failed.what == "timeout"
    assert failed.message == (
        f"its worker was still loading the function after {limit:g} s: does an import hang?"
    )


def test_a_deadline_holds_while_workers_load() -> None:
    stage = Stage(all_well())
    loading_for(1e6, stage)
    dispatcher = one_core(stage)
    dispatcher.pursue(round_of(1))
    assert dispatcher.wait(5.0) is NO_RESULTS
    assert stage.time == 5.0


def test_a_worker_that_is_loading_uses_no_core_time() -> None:
    """Neither while it loads, nor if it is ended before it has begun, nor in the first pull."""
    stage = Stage(lambda job, arm, pull: (2.0, RAISED if arm == 0 else value_of(arm, pull)))
    loading_for(5.0, stage)
    dispatcher = stage.dispatcher(pool=flat(4, 2.0), rules={"retries": 0})
    dispatcher.pursue(round_of(1, 1))
    assert dispatcher.wait(1.0) is NO_RESULTS
    assert (dispatcher.assignments.working_cores, dispatcher.assignments.free) == (0, 2)
    assert interruption_of(dispatcher, round_of(1, 1)) == ArmsFailed((0,))
    dispatcher.finish()
    assert dispatcher.books.core_seconds == pytest.approx(4.0), "two pulls of two seconds"
    stopped = Stage(all_well(2.0))
    loading_for(5.0, stopped)
    early = stopped.dispatcher(pool=flat(4, 2.0))
    early.pursue(round_of(1, 1))
    early.wait(3.0)
    early.finish()
    assert early.books.core_seconds == 0.0


def test_a_probe_that_is_given_up_holds_nothing_up() -> None:
    stage = Stage(all_well())
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.giver.probing.begin([8])
    assert hear_all(dispatcher, round_of(2, 2)) == {0: 2, 1: 2}


def test_what_was_spent_can_be_told_from_the_records_alone() -> None:
    """Values, failures, cancelled jobs and those unfinished at the end: all that used cores."""

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        return (3.0, RAISED) if (arm, pull) == (0, 1) else (2.0 if arm == 0 else 40.0, 1.0)

    stage = Stage(script)
    dispatcher = stage.dispatcher(arms=3, pool=flat(4, 30.0), rules={"retries": 5})
    dispatcher.pursue(round_of(2, 1, 1))
    dispatcher.wait(10.0)
    dispatcher.pursue(round_of(1, 1, 0))
    dispatcher.wait(20.0)
    dispatcher.finish()
    spent = {record.why for record in stage.of(TimeSpent)}
    assert spent == {"failed", "cancelled", "unfinished"}
    told = stage.dispatcher(arms=3, past=stage.records)
    assert told.books.core_seconds == dispatcher.books.core_seconds
    in_use = sum(record.cores * record.seconds for record in stage.of(TimeSpent))
    in_use += sum(record.cores * sum(record.seconds) for record in stage.of(PullsReturned))
    assert told.books.core_seconds == pytest.approx(in_use)


# Values.


def test_values_outside_what_was_declared_fail_their_pull_only() -> None:
    bad = {1: 7.0}

    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        return 0.001, bad.pop(pull, 0.25)

    stage = Stage(script, largest_job=4)
    wait = stage.wait

    def all_at_once(seconds: float | None) -> list[Event]:
        """The group's values in a single event."""
        events = wait(seconds)
        while events and not isinstance(events[-1], Finished):
            events += wait(None)
        if not events:
            return []
        values = [value for event in events if isinstance(event, Values) for value in event.values]
        (job,) = {event.job for event in events if isinstance(event, Values)}
        return [Values(job, values, [0.001] * len(values)), Finished(job)]

    stage.wait = all_at_once  # type: ignore[method-assign]
    dispatcher = one_core(stage, allowed=lambda value: 0 <= value <= 1, retries=1)
    assert hear_all(dispatcher, round_of(4)) == {0: 4}
    assert stage.failures() == [(0, 1, "out of bounds")]
    assert dispatcher.books.ledger.values(0).tolist() == [0.25] * 4
    assert Counter(stage.recorded()) == Counter((0, pull) for pull in range(4))
    kinds = [record.kind for record in stage.records]
    assert kinds == ["results", "failure", "results", "results"]
    first, second, _ = stage.of(PullsReturned)
    assert pulls_of(first.pulls) == [(0, 0)]
    assert pulls_of(second.pulls) == [(0, 2), (0, 3)]


def test_values_that_stay_out_of_bounds_take_the_arm_out() -> None:
    stage = Stage(lambda job, arm, pull: (1.0, -0.5))
    dispatcher = one_core(stage, allowed=lambda value: value >= 0, retries=2)
    assert interruption_of(dispatcher, round_of(1)) == ArmsFailed((0,))
    assert stage.failures() == [(0, 0, "out of bounds")] * 3
    assert "-0.5" in dispatcher.books.attempts.out[0].message
    assert stage.recorded() == []


def test_a_value_that_is_not_binary_is_written_and_then_said() -> None:
    stage = Stage(lambda job, arm, pull: (1.0, 0.5 if pull == 1 else 1.0))
    dispatcher = one_core(stage)
    dispatcher.begin(np.arange(1), plausible=lambda value: value in (0.0, 1.0))
    assert interruption_of(dispatcher, round_of(3)) == NotAsAssumed()
    assert [record.values for record in stage.of(PullsReturned)] == [[1.0], [0.5]]
    assert stage.written == stage.records
    assert dispatcher.books.ledger.values(0).tolist() == [1.0, 0.5]


# Cores.


@pytest.mark.parametrize(
    ("share", "cores", "at_once"), [(1.0, 8, 1), (0.5, 4, 2), (0.3, 2, 4), (0.01, 1, 8)]
)
def test_a_round_with_shares_gets_its_share_of_the_cores(
    share: float, cores: int, at_once: int
) -> None:
    stage = Stage(all_well(10.0))
    dispatcher = stage.dispatcher(rules={"cores": 8}, pool=flat(8, 10.0))
    dispatcher.pursue(round_of(10, 10, share=share))
    assert dispatcher.wait(5.0) is NO_RESULTS
    assert [job.cores for job in stage.jobs] == [cores] * at_once
    assert len(stage.running) == at_once


def test_a_share_respects_what_a_pull_may_have() -> None:
    for share, cores in ((1.0, 4), (0.1, 2)):
        stage = Stage(all_well(10.0))
        rules = {"cores": 8, "least_cores": 2, "most_cores": 4}
        dispatcher = stage.dispatcher(rules=rules, pool=flat(8, 10.0))
        dispatcher.pursue(round_of(1, 1, share=share))
        dispatcher.wait(1.0)
        assert {job.cores for job in stage.jobs} == {cores}


def test_probes_run_side_by_side_on_the_cores_they_name() -> None:
    """One that does not fit lets others go first, and has its turn when there is nothing else."""
    stage = Stage(lambda job, arm, pull: (1.0 / job.cores, value_of(arm, pull)), largest_job=8)
    dispatcher = stage.dispatcher()
    dispatcher.giver.probing.begin([2, 1, 4, 2, 1, 3, 1, 1])
    assert hear_all(dispatcher, round_of(4, 4)) == {0: 4, 1: 4}
    assert [job.cores for job in stage.jobs] == [2, 1, 1, 2, 4, 3, 1, 1]
    assert [job.pulls for job in stage.jobs] == [1] * 8


def test_a_probe_for_all_cores_is_given_up_while_a_pull_hangs() -> None:
    hang = 1e6
    stage = Stage(lambda job, arm, pull: (hang if arm == 0 else 1.0, value_of(arm, pull)))
    dispatcher = stage.dispatcher(arms=3)
    dispatcher.giver.probing.begin([2, 1, 4])
    dispatcher.pursue(round_of(1, 4, 4))
    assert results_of(dispatcher, 20.0).arms.tolist() == [1, 2]
    assert {job.cores for job in stage.jobs} == {1, 2}
    assert [dispatcher.books.ledger.values(arm).size for arm in range(3)] == [0, 4, 4]


def test_a_probe_that_hangs_on_all_cores_gives_way_also_when_the_pool_is_known_by_then() -> None:
    """On fewer cores it hangs by itself, and the others race on."""
    stage = Stage(lambda job, arm, pull: (1e6 if (arm, pull) == (0, 0) else 1.0, 0.5))
    dispatcher = stage.dispatcher(arms=3, pool=flat(4))
    dispatcher.giver.probing.begin([4])
    dispatcher.pursue(round_of(4, 4, 4))
    dispatcher.wait(20.0)
    assert (stage.jobs[0].cores, stage.jobs[0].runs) == (4, (Run(0, 0, 1),))
    assert stage.killed == [0]
    assert [job.cores for job in stage.jobs if job.runs[0] == (0, 0, 1)] == [4, 1]
    assert [dispatcher.books.ledger.values(arm).size for arm in (1, 2)] == [4, 4]


def test_before_anything_is_known_pulls_share_the_cores_and_nobody_has_them_all() -> None:
    for pulls, cores in ((1, 2), (2, 2), (3, 1), (50, 1)):
        stage = Stage(all_well(10.0))
        dispatcher = stage.dispatcher(arms=1)
        dispatcher.pursue(round_of(pulls))
        dispatcher.wait(1.0)
        assert stage.jobs[0].cores == cores


def test_no_wish_and_nothing_running_is_an_error_and_no_endless_wait() -> None:
    dispatcher = Stage(all_well()).dispatcher(pool=flat(4))
    dispatcher.pursue(round_of(0, 0))
    with pytest.raises(RuntimeError, match="nothing runs"):
        dispatcher.wait(math.inf)


@pytest.mark.parametrize("seconds", [0.001, 0.004, 0.02, 1.0])
def test_only_short_pulls_are_grouped_and_never_so_that_cores_stay_idle(seconds: float) -> None:
    stage = Stage(all_well(seconds), largest_job=100)
    dispatcher = stage.dispatcher(pool=flat(4, seconds))
    dispatcher.pursue(round_of(6, 6))
    dispatcher.wait(seconds / 2)
    sizes = [job.pulls for job in stage.jobs]
    assert len(sizes) == 4, "every core has something to do"
    assert max(sizes) == (3 if seconds == 0.001 else 1)
    assert sum(sizes) <= 12


# The pool that is learned.


def test_tau_is_fitted_again_only_when_there_are_a_fifth_more_pulls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage(lambda job, arm, pull: ((1 + pull % 3) / job.cores, value_of(arm, pull)))
    dispatcher = stage.dispatcher(arms=1)
    fitted: list[int] = []
    fit = Timings.fit

    def spy(timings: Timings) -> Runtime:
        fitted.append(timings.pulls)
        return fit(timings)

    monkeypatch.setattr(Timings, "fit", spy)
    for number in range(40):
        assert hear_all(dispatcher, round_of(1)) == {0: 1}
        dispatcher.close_round(number)
    assert fitted[0] == 1
    assert all(b >= 1.2 * a for a, b in itertools.pairwise(fitted))
    assert all(b < 1.2 * a + 1 for a, b in itertools.pairwise(fitted)), "and then it is"


def test_a_pool_that_was_given_is_not_learned() -> None:
    stage = Stage(all_well(9.0))
    pool = flat(4)
    dispatcher = stage.dispatcher(pool=pool)
    for number in range(5):
        hear_all(dispatcher, round_of(3, 3))
        assert dispatcher.close_round(number).scaling is pool


def test_a_fit_that_says_the_same_is_the_same_pool() -> None:
    stage = Stage(all_well(1.0))
    dispatcher = stage.dispatcher(arms=1, rules={"cores": 1})
    pools = []
    for number in range(6):
        hear_all(dispatcher, round_of(1 + number))
        pools.append(dispatcher.close_round(number).scaling)
    assert all(pool == pools[0] for pool in pools)
    assert [record.pool is not None for record in stage.of(RoundEnded)] == [True] + [False] * 5


def test_recorded_conditions_are_given_again_and_not_written_twice() -> None:
    first = Stage(all_well(2.0))
    dispatcher = first.dispatcher(pool=flat(4, 2.0))
    told = []
    for number in range(3):
        hear_all(dispatcher, round_of(2, 2))
        told.append(dispatcher.close_round(number))
    assert [record.seconds for record in first.of(RoundEnded)] == [2.0, 4.0, 6.0]
    second = Stage(all_well(2.0))
    again = second.dispatcher(pool=flat(4, 2.0))
    again.begin(np.arange(2), rounds=[PastRound(one, None) for one in told[:2]])
    assert [again.close_round(number) for number in range(2)] == told[:2]
    assert second.records == []
    again.close_round(2)
    assert [record.kind for record in second.written] == ["round"]


# Time.


def test_at_the_deadline_what_is_back_is_told_and_then_nothing() -> None:
    stage = Stage(lambda job, arm, pull: (1.0 if arm == 0 else 100.0, value_of(arm, pull)))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(round_of(2, 1))
    results = results_of(dispatcher, 10.0)
    assert stage.time == 10.0
    assert (results.arms.tolist(), results.pulls.tolist()) == ([0], [2])
    dispatcher.pursue(round_of(0, 1))
    assert dispatcher.wait(10.0) is NO_RESULTS
    assert stage.time == 10.0


@pytest.mark.parametrize("in_order", [True, False])
def test_a_deadline_takes_or_leaves_what_came_before_its_turn(in_order: bool) -> None:
    stage = Stage(lambda job, arm, pull: (100.0 if pull == 0 else 1.0, value_of(arm, pull)))
    dispatcher = stage.dispatcher(arms=1, pool=flat(4))
    dispatcher.begin(np.arange(1), in_order=in_order)
    dispatcher.pursue(round_of(4))
    assert results_of(dispatcher, 10.0).total == (0 if in_order else 3)
    assert len(stage.recorded()) == 3


def test_a_policys_clock_may_be_behind() -> None:
    stage = Stage(all_well(100.0))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.clock.resume_at(1000.0)
    dispatcher.begin(np.arange(2), shift=990.0)
    assert (dispatcher.now(), dispatcher.clock.elapsed()) == (10.0, 1000.0)
    dispatcher.pursue(round_of(1, 1))
    assert dispatcher.wait(15.0) is NO_RESULTS
    assert stage.time == 5.0


def test_what_comes_late_is_recorded_when_it_all_ends() -> None:
    stage = Stage(all_well(1.0))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(round_of(1, 1))
    dispatcher.wait(0.5)
    stage.time = 1.0  # both have finished meanwhile, and nobody has looked
    dispatcher.finish()
    assert stage.closed
    assert sorted(stage.recorded()) == [(0, 0), (1, 0)]


def test_a_failure_after_the_end_takes_no_arm_out() -> None:
    """It may be the winner, whose pulls beyond the verdict nobody wants any more."""
    stage = Stage(guilty(0, RAISED))
    dispatcher = stage.dispatcher(pool=flat(4), rules={"retries": 0})
    dispatcher.pursue(round_of(1, 1))
    dispatcher.wait(0.0005)
    stage.time = 1.0
    dispatcher.finish()
    assert dispatcher.books.attempts.out == {}
    assert stage.of(ArmOut) == []


# A whole race.


def diverged(arm: float, *, seed: int) -> float:
    return 1e6 if arm == math.inf else arm + random.Random(seed).gauss(0, 0.01)


def test_a_penalty_for_one_arm_does_not_make_the_others_look_certain() -> None:
    """Values around 0.5, and 1e6 for what diverged: the guarantee holds all the same."""
    wrong, races = 0, 60
    for seed in range(races):
        result = race(
            diverged,
            [math.inf, 0.5, 0.501],
            confidence=0.95,
            direction="minimize",
            engine=VirtualEngine(seed=seed),
            scaling=CorePool(4, lambda cores: 1 / cores),
            seed=seed,
            max_pulls=60,
            progress=False,
        )
        wrong += result.decided and result.best != 0.5
    assert binomtest(wrong, races, 0.05, alternative="greater").pvalue > 1e-6


def rarely_large(arm: float, *, seed: int) -> float:
    lot = random.Random(seed).random()
    return 37.0 if lot < 0.01 else float(lot < arm)


def noises_of(records: Sequence[Record]) -> list[str]:
    return [record.noise.kind for record in records if isinstance(record, PlanMade)]


def test_a_value_that_is_not_binary_is_not_forgotten_by_a_kill(tmp_path: Path) -> None:
    """Killed between that value and the new plan, the race must not go on as one of zeros and ones.

    As the intervals for those are too narrow by far, it would promise what it cannot know.
    """
    journal, seed = tmp_path / "race.jsonl", 18

    def run() -> list[Record]:
        options: dict[str, Any] = {"confidence": 0.95, "max_pulls": 300, "progress": False}
        options |= {"scaling": CorePool(4, lambda cores: 1 / cores), "paired": False}
        arms = [0.3, 0.5, 0.8]
        race(rarely_large, arms, engine=VirtualEngine(), seed=seed, journal=journal, **options)
        return read_records(journal)

    records = run()
    large = next(i for i, r in enumerate(records) if 37.0 in getattr(r, "values", []))
    assert noises_of(records[:large]) == ["bernoulli"]
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: large + 1]))
    after = run()[large + 1 :]
    assert noises_of(after) == ["normal"]
    kinds = [record.kind for record in after]
    assert "results" not in kinds[: kinds.index("plan")], "it is planned anew before it goes on"


def test_values_that_have_not_varied_yet_prove_nothing() -> None:
    """Two values that are no 0 and 1 pass for normal ones; after two pulls none may have varied."""

    def coin(arm: float, *, seed: int) -> float:
        return 2.0 if random.Random(seed).random() < arm else 1.0

    # Were they taken for certain, 8 of these races would be wrong: too few against 1 %.
    options: dict[str, Any] = {"confidence": 0.999, "cores": 4, "progress": False}
    options["scaling"] = CorePool(4, lambda cores: 1 / cores)
    wrong = 0
    for seed in range(150):
        result = race(
            coin, [0.5, 0.45], seed=seed, max_pulls=40, engine=VirtualEngine(seed=seed), **options
        )
        wrong += result.decided and result.index == 1
    assert binomtest(wrong, 150, 0.001, alternative="greater").pvalue > 1e-6
    for arms in ([1.0, 0.0], [0.9, 0.1], [0.8, 0.0]):  # none of which varies, both, or one
        clear = race(coin, arms, engine=VirtualEngine(), **options)
        assert (clear.decided, clear.best) == (True, arms[0])


# Rounds that say until when they last.


def boxed(*pulls: int, until: float) -> Round:
    arms = [arm for arm, count in enumerate(pulls) if count]
    counts = [pulls[arm] for arm in arms]
    return Round(np.array(arms, dtype=np.int64), np.array(counts, dtype=np.int64), Until(until))


def heard_of(results: Results) -> dict[int, tuple[int, float]]:
    each = zip(results.arms, results.pulls, results.sums, strict=True)
    return {int(arm): (int(pulls), round(float(total), 6)) for arm, pulls, total in each}


def slow_pulls(*slow: tuple[int, int], seconds: float = 100.0) -> Script:
    return lambda job, arm, pull: (
        seconds if (arm, pull) in slow else 1.0,
        value_of(arm, pull),
    )


def test_a_boxed_round_ends_at_its_time_with_what_is_back_in_any_order() -> None:
    stage = Stage(slow_pulls((0, 0), (1, 2)))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(boxed(4, 4, until=7.5))
    results = results_of(dispatcher, 7.5)
    assert (stage.time, results.last) == (7.5, True)
    assert heard_of(results) == {0: (3, 0.006), 1: (3, 3.004)}
    assert dispatcher.spent(NOTHING, NO_ARMS) == results.total + 2
    assert dispatcher.close_round(0).seconds == 7.5
    record = stage.written[-1]
    assert isinstance(record, RoundEnded)
    assert (record.boxed, record.at) == (True, 7.5)


def test_a_boxed_round_ends_early_if_all_is_back() -> None:
    stage = Stage(all_well(1.0))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(boxed(4, 4, until=50.0))
    results = results_of(dispatcher, 50.0)
    assert (stage.time, results.last, results.total) == (2.0, True, 8)
    assert dispatcher.spent(NOTHING, NO_ARMS) == 8


def test_at_its_end_the_fallen_are_cancelled_and_the_survivors_left_to_finish() -> None:
    stage = Stage(slow_pulls((0, 1), (1, 1), seconds=4.5))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(boxed(2, 2, until=3.0))
    assert heard_of(results_of(dispatcher, 3.0)) == {0: (1, 0.0), 1: (1, 1.0)}
    dispatcher.close_round(0)
    dispatcher.pursue(boxed(2, until=20.0))
    assert [pulls_of(stage.jobs[job].runs) for job in stage.killed] == [[(1, 1)]]
    results = results_of(dispatcher, 20.0)
    assert stage.time == 4.0, "two pulls were asked for, two are back: the slow one is not needed"
    assert heard_of(results) == {0: (2, 0.005)}
    dispatcher.close_round(1)
    dispatcher.pursue(boxed(9, until=20.0))
    last = results_of(dispatcher, 20.0)
    assert (0, 1) in stage.recorded()
    assert last.total == 9, "the slow one is among them, in the place of another"
    assert Counter(stage.recorded()).most_common(1)[0][1] == 1
    assert stage.started().count((0, 1)) == 1, "it was not started again"
    assert dispatcher.books.ledger.skipped == 2  # the one of arm 1, and one of the last ones


def test_a_pull_that_fails_in_a_boxed_round_is_tried_again_in_the_next() -> None:
    def script(job: Job, arm: int, pull: int) -> tuple[float, Step]:
        if (arm, pull) == (0, 0) and job.number < 2:
            return 4.0, Failure("exception", "raised ValueError: no", "")
        return 1.0, value_of(arm, pull)

    stage = Stage(script)
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(boxed(1, 1, until=3.0))
    assert heard_of(results_of(dispatcher, 3.0)) == {1: (1, 1.0)}
    dispatcher.close_round(0)
    dispatcher.pursue(boxed(2, 2, until=30.0))
    results = results_of(dispatcher, 30.0)
    assert results.last
    assert {arm: pulls for arm, (pulls, _) in heard_of(results).items()} == {0: 3, 1: 2}
    assert stage.failures() == [(0, 0, "exception")]


def test_a_deadline_before_its_time_is_no_end_of_the_round() -> None:
    """What is back counts, each once; then the deadline has come."""
    stage = Stage(slow_pulls((0, 1)))
    dispatcher = stage.dispatcher(pool=flat(4))
    dispatcher.pursue(boxed(2, 2, until=50.0))
    results = results_of(dispatcher, 10.0)
    assert (stage.time, results.last) == (10.0, False)
    assert heard_of(results) == {0: (1, 0.0), 1: (2, 2.001)}
    dispatcher.pursue(boxed(1, until=50.0))
    rest = results_of(dispatcher, 10.0)
    assert (rest.total, rest.last, stage.time) == (0, False, 10.0)


def test_a_boxed_round_is_repeated_with_what_was_known_at_its_end() -> None:
    first = Stage(slow_pulls((0, 1), seconds=5.0))
    dispatcher = first.dispatcher(pool=flat(4))
    told, ended = [], []
    for number, until in enumerate((3.0, 12.0)):
        dispatcher.pursue(boxed(2, 2, until=until))
        told.append(heard_of(results_of(dispatcher, until)))
        known = dispatcher.books.ledger.snapshot()
        ended.append(PastRound(dispatcher.close_round(number), known))
    assert told == [{0: (1, 0.0), 1: (2, 2.001)}, {0: (3, 0.006), 1: (2, 2.005)}]
    second = Stage(all_well())
    again = second.dispatcher(pool=flat(4), past=first.of(PullsReturned))
    again.begin(np.arange(2), rounds=ended)
    for number, until in enumerate((3.0, 12.0)):
        again.pursue(boxed(2, 2, until=until))
        results = results_of(again, until)
        assert results.last
        assert heard_of(results) == told[number]
        assert again.close_round(number) == ended[number].conditions
    assert second.jobs == []
    assert second.time == 0.0
    again.pursue(boxed(1, 1, until=20.0))
    assert results_of(again, 20.0).last
    assert max(Counter(first.recorded() + second.recorded()).values()) == 1


def test_delays_see_what_is_overdue_and_stay_the_same_while_little_is_new() -> None:
    stage = Stage(lambda job, arm, pull: (50.0 if pull % 4 == 3 else 1.0, value_of(arm, pull)))
    dispatcher = stage.dispatcher(arms=1, pool=flat(64), rules={"cores": 64, "most_cores": 1})
    dispatcher.pursue(boxed(64, until=10.0))
    assert results_of(dispatcher, 10.0).total == 48
    delays = dispatcher.close_round(0).delays
    assert delays is not None
    assert delays.quantile(0.9) >= 9.0, "a quarter has run for ten times as long, and runs on"
    assert delays.quantile(0.5) == pytest.approx(1.0)
    dispatcher.learn()
    assert dispatcher.model.delays is delays


class Patient(Pacer):
    """Boxed rounds of three arms, one after the other; it notes what it is told."""

    def __init__(self, task: Task, pulls: int, seconds: float) -> None:
        super().__init__(task)
        self.pulls, self.seconds = pulls, seconds
        self.heard: list[tuple[int, bool]] = []

    def opening(self) -> Round:
        return boxed(*[self.pulls] * self.task.arms, until=self.elapsed + self.seconds)

    def decide(self) -> Round:
        return self.opening()

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        self.heard.append((results.total, results.last))
        super().tell(results, conditions)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("most", [7, 60, 200])
def test_a_cap_on_pulls_holds_for_boxed_rounds(seed: int, most: int) -> None:
    rng = random.Random(seed)
    stage = Stage(
        lambda job, arm, pull: (
            rng.lognormvariate(0, 1) * (20 if rng.random() < 0.1 else 1),
            value_of(arm, pull),
        )
    )
    dispatcher = stage.dispatcher(arms=3, pool=flat(4))
    pacer = Patient(Task(arms=3, scaling=flat(4), deadline=1e6), pulls=4, seconds=4.0)
    pacer.open()
    ending = run(pacer, dispatcher, deadline=1e6, max_pulls=most)
    told = sum(total for total, _ in pacer.heard)
    assert f"no more than {most} pulls" in ending.answer.reason
    assert told == int(pacer.tally.pulls.sum())
    assert len(set(stage.started())) <= most, "no more are started than the cap allows"
    spent = dispatcher.spent(NOTHING, pacer.alive)
    assert told <= spent <= most
    assert spent > most - 3, "and it is used up"
    assert max(Counter(stage.recorded()).values()) == 1


def test_the_loop_ends_at_the_deadline_in_a_boxed_round() -> None:
    stage = Stage(all_well(1.0))
    dispatcher = stage.dispatcher(arms=3, pool=flat(4))
    pacer = Patient(Task(arms=3, scaling=flat(4), deadline=10.0), pulls=100, seconds=30.0)
    pacer.open()
    ending = run(pacer, dispatcher, deadline=10.0)
    assert stage.time == 10.0
    assert "deadline of 10 s was reached" in ending.answer.reason
    assert ending.rounds == 0
    assert pacer.heard == [(40, False)]
    assert ending.answer.arms.tolist() == [2]
