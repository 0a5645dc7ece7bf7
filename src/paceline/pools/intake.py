"""Turns what workers report into records: values, failures, and time that gave no value."""

from collections.abc import Callable, Iterator, Sequence

from paceline.engines.events import Began, Event, Failed, Failure, Finished, Loading, Values
from paceline.engines.jobs import Run, advance, split
from paceline.journal.records import ArmOut, PullFailed, PullsReturned, TimeSpent
from paceline.pools.assignments import Assignment, Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.clock import RaceClock
from paceline.pools.recording import Recording
from paceline.pools.rules import Rules


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
    ) -> None:
        self.plausible: Callable[[float], bool] | None = None
        self.surprised = False
        self.newly_out: list[int] = []
        self.puts_arms_out = True  # False once the race is over
        self._rules = rules
        self._recording = recording
        self._assignments = assignments
        self._backlog = backlog
        self._clock = clock

    def take(self, events: Sequence[Event]) -> None:
        """Record what happened, and take it into account."""
        for event in events:
            if isinstance(event, Loading):
                self._assignments.wait_for_worker(event.job)
            elif isinstance(event, Began):
                self._assignments.begin(event.job)
            elif isinstance(event, Values):
                self._take_values(self._assignments[event.job], event)
            elif isinstance(event, Finished):
                self._assignments.remove(event.job)
            else:
                failure = event.failure if isinstance(event, Failed) else None
                self._give_up(self._assignments.remove(event.job), failure)
        self._recording.commit()

    def record_unused(self, one: Assignment, why: str) -> None:
        """Record the part of a job's time that gave no value."""
        seconds = round(one.unused_seconds(self._clock.now()), 9)
        if seconds and one.left:
            at, arm = self._clock.stamp(), one.left[0].arm
            self._recording.add(TimeSpent(at, one.job.cores, seconds, arm, why))

    def _take_values(self, one: Assignment, event: Values) -> None:
        one.heard = self._clock.now()
        done, values, seconds, one.left = advance(one.left, event.values, event.seconds)
        one.worked += sum(seconds)
        for runs, good, took in self._allowed(done, values, seconds):
            record = PullsReturned(self._clock.stamp(), one.job.cores, tuple(runs), good, took)
            self._recording.add(record)
            self.surprised |= self.plausible is not None and not all(map(self.plausible, good))

    def _allowed(
        self, done: list[Run], values: list[float], seconds: list[float]
    ) -> Iterator[tuple[list[Run], list[float], list[float]]]:
        """What was reported, without values that the user ruled out: such a pull has failed."""
        allowed = self._rules.allowed
        while allowed is not None and not all(map(allowed, values)):
            bad = next(place for place, value in enumerate(values) if not allowed(value))
            good, rest = split(done, bad)
            if good:
                yield good, values[:bad], seconds[:bad]
            (wrong,), done = split(rest, 1)
            what = f"gave {values[bad]:g}, which is outside the declared values"
            self._fail(wrong, Failure("out of bounds", what))
            values, seconds = values[bad + 1 :], seconds[bad + 1 :]
        if done:
            yield done, values, seconds

    def _give_up(self, one: Assignment, failure: Failure | None) -> None:
        """Handle a job that ended early: what it did not do has to be done again."""
        if one.timed_out:
            limit = f"{self._rules.timeout:g} s"
            failure = Failure("timeout", f"took longer than {limit} and was killed")
        if one.cancelled:
            failure = None
        self.record_unused(one, "cancelled" if one.cancelled else "failed" if failure else "lost")
        if failure is None:
            self._backlog.give_back(one.left)
            return
        (first,), others = split(one.left, 1)
        if others and not failure.blames_one:
            self._backlog.give_back(one.left, alone=True)  # any of them may be to blame
        else:
            self._backlog.give_back(others)
            self._fail(first, failure)

    def _fail(self, run: Run, failure: Failure) -> None:
        """One pull failed: try it again, or take its arm out."""
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
            )
        )
        if attempt <= self._rules.retries:
            self._backlog.give_back([run], alone=True)
        elif run.arm not in attempts.out and self.puts_arms_out:
            self._recording.add(ArmOut(self._clock.stamp(), run.arm))
            self.newly_out.append(run.arm)
