"""Turns what workers report into records: values, failures, and time that gave no value."""

from collections.abc import Callable, Iterator, Sequence

from paceline.core.rounds import Interruption
from paceline.engines.events import (
    Began,
    Event,
    Failed,
    Failure,
    Finished,
    Loading,
    Lost,
    Resized,
    Values,
)
from paceline.engines.jobs import Run, advance, in_turn, split
from paceline.journal.records import (
    ArmOut,
    PoolResized,
    PullFailed,
    PullsLost,
    PullsPrinted,
    PullsReturned,
    TimeSpent,
)
from paceline.pools.assignments import Assignment, Assignments, loading_limit
from paceline.pools.backlog import Backlog
from paceline.pools.blame import MOST_KILLS, charge, is_charged
from paceline.pools.clock import RaceClock
from paceline.pools.interruptions import ArmsFailed, NotAsAssumed, StopAsked
from paceline.pools.recording import Recording
from paceline.pools.rules import Rules
from paceline.pools.setbacks import Setbacks


class Intake:
    """Takes in events, counts attempts, and gives the backlog what has to be done again.

    `newly_out` are the arms that have failed too often since it was last emptied; `surprised` says
    that a value was not `plausible`.
    """

    def __init__(
        self,
        rules: Rules,
        recording: Recording,
        assignments: Assignments,
        backlog: Backlog,
        clock: RaceClock,
        on_first: Callable[[Assignment], None] = lambda _: None,
    ) -> None:
        self.plausible: Callable[[float], bool] | None = None
        self.surprised = False
        self.newly_out: list[int] = []
        self.puts_arms_out = True  # False once the race is over
        self.resized: Rules | None = None  # those of the pool as it is now, if it has changed
        self.setbacks = Setbacks(clock.now)
        self._rules = rules
        self._recording = recording
        self._assignments = assignments
        self._backlog = backlog
        self._clock = clock
        self._on_first = on_first
        self._beaten: list[Assignment] = []  # to be ended

    def beaten(self) -> list[Assignment]:
        """The jobs whose twins were first since this was last asked, to be ended."""
        beaten, self._beaten = self._beaten, []
        return [one for one in beaten if one.job.number in self._assignments]

    def take(self, events: Sequence[Event]) -> None:
        """Record what happened, and take it into account."""
        for event in events:
            if isinstance(event, Loading):
                self._assignments.wait_for_worker(event.job, idle=event.idle)
            elif isinstance(event, Began):
                self.record_unused(self._assignments[event.job], "starting")
                self._assignments.begin(event.job)
            elif isinstance(event, Values):
                self._take_values(self._assignments.hear(event.job), event)
            elif isinstance(event, Resized):
                self.resized = self._rules.on(event.nodes, event.memory)
                at, nodes = self._clock.stamp(), self.resized.nodes
                self._recording.add(PoolResized(at, nodes, event.why))
            elif isinstance(event, Finished):
                one = self._assignments.remove(event.job)
                if one.beaten:
                    self.record_unused(one, "backup")
            else:
                self._give_up(self._assignments.remove(event.job), event)
        self._recording.commit()

    def interruption(self) -> Interruption | None:
        """What interrupts the policy that is at work, if anything."""
        if self._recording.stop_asked:
            self._recording.stop_asked = False
            return StopAsked()
        if self.surprised:
            self.surprised, self.plausible = False, None
            return NotAsAssumed()
        if self.newly_out:
            arms, self.newly_out = tuple(self.newly_out), []
            return ArmsFailed(arms)
        return None

    def record_unused(self, one: Assignment, why: str) -> None:
        """Record the part of a job's time that gave no value; its worker may have been loading."""
        if one.idle:
            return
        why = "starting" if one.loading else why
        seconds = round(one.unused_seconds(self._clock.now()), 9)
        if seconds and (one.left or one.beaten):
            at, arm = self._clock.stamp(), (one.left or one.job.runs)[0].arm
            self._recording.add(TimeSpent(at, one.job.cores, seconds, arm, why))

    def _take_values(self, one: Assignment, event: Values) -> None:
        if one.beaten or not event.values:
            return
        self.setbacks.clear()
        if one.twin is not None:
            self._beat(one.twin)
        printed = self._printed(one, event)
        done, values, seconds, one.left = advance(one.left, event.values, event.seconds)
        one.worked += sum(seconds)
        for runs, good, took in self._allowed(done, values, seconds, printed):
            record = PullsReturned(self._clock.stamp(), one.job.cores, tuple(runs), good, took)
            self._recording.add(record)
            self.surprised |= self.plausible is not None and not all(map(self.plausible, good))
        if printed:
            kept, cut = self._recording.books.prints.room(printed)
            if kept or cut:
                self._recording.add(PullsPrinted(self._clock.stamp(), kept, cut))

    def _printed(self, one: Assignment, event: Values) -> dict[tuple[int, int], str]:
        """What pulls printed, by arm and number."""
        if not event.printed or not self._rules.keeps_prints:
            return {}
        pulls = in_turn(one.left)
        return {pulls[place]: text for place, text in event.printed}

    def _beat(self, twin: Assignment) -> None:
        """The twin of this one was first."""
        assert twin.twin is not None
        self._on_first(twin.twin)
        twin.part()
        twin.beaten, twin.left = True, []
        self._beaten.append(twin)

    def _allowed(
        self,
        done: list[Run],
        values: list[float],
        seconds: list[float],
        printed: dict[tuple[int, int], str],
    ) -> Iterator[tuple[list[Run], list[float], list[float]]]:
        """What was reported, without values that the user ruled out: such a pull has failed."""
        allowed = self._rules.allowed
        while allowed is not None and not all(map(allowed, values)):
            bad = next(place for place, value in enumerate(values) if not allowed(value))
            good, rest = split(done, bad)
            if good:
                yield good, values[:bad], seconds[:bad]
            (wrong,), done = split(rest, 1)
            value = f"{values[bad]:g}"
            value = repr(values[bad]) if allowed(float(value)) else value  # it is only just outside
            what = f"gave {value}, which is outside the declared values"
            said = printed.pop((wrong.arm, wrong.first), "")
            self._fail(wrong, Failure("out of bounds", what, printed=said))
            values, seconds = values[bad + 1 :], seconds[bad + 1 :]
        if done:
            yield done, values, seconds

    def _give_up(self, one: Assignment, event: Failed | Lost) -> None:
        """Handle a job that ended early: what it did not do has to be done again.

        If another job does the same pull, that one is the next attempt at it.
        """
        if one.beaten:
            self.record_unused(one, "backup")
            return
        failure = _failure(event)
        is_shared = one.twin is not None
        one.part()
        if one.timed_out:
            printed = event.printed if isinstance(event, Lost) else ""
            failure = Failure("timeout", _too_long(one, self._rules.timeout), printed=printed)
        if one.cancelled or not one.left:
            failure = None
        if failure is None:
            self.record_unused(one, "cancelled" if one.cancelled else "lost")
            self._backlog.give_back([] if is_shared else one.left)
            return
        (first,), others = split(one.left, 1)
        # All pulls of a function load the same: who was to come first does not matter.
        together = 1 if one.loading else sum(run.pulls for run in one.left)
        before = self._recording.books.attempts.suspicions(first.arm, first.first)
        if is_charged(failure, together, before, quiet=one.quiet, fresh=one.job.fresh):
            self.record_unused(one, "failed")
            self._backlog.give_back(others)
            self._fail(first, charge(failure, before), is_shared=is_shared)
        elif others and not failure.blames_one:
            self._lose(one, one.left, failure)
            # Any of them may be to blame, unless the machine is.
            self._backlog.give_back(one.left, alone=failure.kind != "machine")
        else:
            self._lose(one, [first], failure)
            self._backlog.give_back(others)
            if not is_shared:
                self._try_again(first)

    def _lose(self, one: Assignment, runs: list[Run], failure: Failure) -> None:
        """Pulls gave no value, and their arms are not charged with it."""
        if failure.is_by_pulls and sum(run.pulls for run in runs) > 1:
            self.record_unused(one, "failed")  # by which of them will show when each runs alone
            return
        self.record_unused(one, "lost")
        what, message = failure.kind, failure.message
        self._recording.add(PullsLost(self._clock.stamp(), tuple(runs), what, message))
        if not failure.is_by_pulls:
            self.setbacks.add(one.began, message)

    def _fail(self, run: Run, failure: Failure, *, is_shared: bool = False) -> None:
        """One pull failed: try it again, unless somebody does; or take its arm out."""
        attempts = self._recording.books.attempts
        attempt = attempts.next(run.arm, run.first)
        self._recording.add(
            PullFailed(
                at=self._clock.stamp(),
                arm=run.arm,
                pull=run.first,
                attempt=attempt,
                what=failure.kind,
                message=failure.message,
                detail=failure.detail,
                printed=self._kept(failure.printed),
            )
        )
        if attempt <= self._rules.retries:
            if not is_shared:
                self._try_again(run)
        elif run.arm not in attempts.out and self.puts_arms_out:
            self._recording.add(ArmOut(self._clock.stamp(), run.arm))
            self.newly_out.append(run.arm)

    def _kept(self, printed: str) -> str:
        """What is kept of what a pull printed that failed."""
        if not self._rules.keeps_prints:
            return ""
        return self._recording.books.prints.of_failure(printed)

    def _try_again(self, run: Run) -> None:
        """Have one pull done again: in the end while nothing else runs, if that may have hurt."""
        suspicions = self._recording.books.attempts.suspicions(run.arm, run.first)
        self._backlog.give_back([run], alone=True, quiet=suspicions + 1 >= MOST_KILLS)


def _failure(event: Failed | Lost) -> Failure | None:
    """Why a job ended before its time; None if it was told to."""
    if isinstance(event, Failed):
        return event.failure
    return Failure("machine", event.why) if event.why else None


def _too_long(one: Assignment, timeout: float) -> str:
    if one.loading:
        limit = loading_limit(timeout)
        return f"its worker was still loading the function after {limit:g} s: does an import hang?"
    return f"took longer than {timeout:g} s and was killed"
