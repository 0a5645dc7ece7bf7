"""Whether each record can be true after those before it; checksums only say that none changed.

A journal may be edited by hand, put together from two, or be of the first format, which has no
checksums. What does not fit is refused where it stands, with what stands before it kept.
"""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from paceline.engines.jobs import Run
from paceline.journal.ranges import Ranges
from paceline.journal.records import (
    ArmOut,
    ManyReturned,
    PlanMade,
    PoolResized,
    PullFailed,
    PullsPrinted,
    PullsReturned,
    RaceBegun,
    RaceEnded,
    Record,
    RoundEnded,
    SessionBegun,
    TimeSpent,
    Warned,
)

_SLACK_SECONDS = 1e-5  # times are rounded to microseconds
# Pulls of an arm are given out in order: no more than this many can be out at once.
_MOST_AHEAD = 1_000_000
_LARGEST = sys.float_info.max


class Unsound(ValueError):
    """A record cannot be true: why, and at which place among its pulls; −1 is the line before."""

    def __init__(self, why: str, place: int = 0) -> None:
        super().__init__(why)
        self.place = place


class Meaning:
    """Knows the arms, the cores and the time, and which pulls have values.

    >>> from paceline.engines.jobs import Run
    >>> meaning = Meaning()
    >>> meaning.take(RaceBegun(2, problem={}, options={}, labels=("a", "b")))
    >>> meaning.take(SessionBegun(0.0, options={}, cores=4))
    >>> meaning.take(PullsReturned(1.0, 4, (Run(0, 0, 2),), [0.5, 0.6], [0.1, 0.1]))
    >>> meaning.take(PullsReturned(2.0, 4, (Run(0, 1, 1),), [0.5], [0.1]))
    Traceback (most recent call last):
        ...
    paceline.journal.meaning.Unsound: gives pull 1 of arm 0 a second value
    """

    def __init__(self) -> None:
        self.pulls = 0  # that have a value
        self._arms = 0
        self._cores: int | None = None  # of the pool; None if it is not known
        self._times = (0.0, 0.0)  # of the line before the last, and of the last one
        self._shift: float | None = None  # of the last plan; None if there is none
        self._failed: set[int] = set()  # the arms that ever did
        self._valued: list[Ranges] = []  # of each arm, the pulls that have a value
        self._began = False

    def take(self, record: Record) -> None:
        """Check a record, and take it into account."""
        check = _CHECKS.get(type(record))
        if (self._arms == 0) != isinstance(record, RaceBegun):
            raise Unsound("begins another race" if self._arms else "comes before the race began")
        at = getattr(record, "at", None)
        if hasattr(record, "at"):
            self._check_time(at)
        if check is not None:
            check(self, record)
        if at is not None:
            self._times = self._times[1], max(at, self._times[1])

    def _check_time(self, at: Any) -> None:
        before, latest = self._times
        _check_number(at, "a time")
        if at >= latest - _SLACK_SECONDS:
            return
        if before - _SLACK_SECONDS <= at:  # without the line before it, all would be in order
            raise Unsound(f"has the time {latest:g} s, and the next one {at:g} s", -1)
        raise Unsound(f"has the time {at:g} s, and the one before {latest:g} s")

    def _race(self, record: RaceBegun) -> None:
        arms = record.problem.get("arms")
        if isinstance(arms, list) and len(record.labels) != len(arms):
            raise Unsound(f"names {len(record.labels)} arms, and describes another number")
        if not record.labels:
            raise Unsound("names no arms")
        if not all(isinstance(label, str) for label in record.labels):
            raise Unsound("has a name of an arm that is no text")
        self._arms = len(record.labels)
        self._valued = [Ranges() for _ in record.labels]

    def _session(self, record: SessionBegun) -> None:
        cores = record.cores or record.options.get("cores")
        if cores is not None:
            _check_whole(cores, "a number of cores", least=1)
        self._cores = cores
        self._began = True

    def _pool(self, record: PoolResized) -> None:
        for node in record.nodes:
            _check_whole(node, "a node's number of cores", least=0)
        if self._cores is not None:  # what was running when it shrank may still end
            self._cores = max(self._cores, sum(record.nodes))

    def _results(self, record: PullsReturned) -> None:
        self._check_cores(record.cores)
        runs, values, seconds = record.pulls, record.values, record.seconds
        _check_lists(values, seconds)
        if sum(run.pulls for run in runs) != len(values) or len(values) != len(seconds):
            raise Unsound("has not one value and its seconds for each of its pulls")
        if not values:
            raise Unsound("has no pulls")
        troubles = [
            *_troubles(_check_numbers, values, "a value"),
            *_troubles(_check_numbers, seconds, "seconds", 0.0),
            *_troubles(self._check_runs, runs),
        ]
        if troubles:
            raise min(troubles, key=lambda trouble: trouble.place)
        self.pulls += len(values)

    def _check_runs(self, runs: Sequence[Run]) -> None:
        arms, valued = self._arms, self._valued
        most = self.pulls + _MOST_AHEAD
        for place, (arm, first, pulls) in enumerate(runs):
            if not type(arm) is type(first) is type(pulls) is int:
                raise Unsound("has an arm or a pull that is no whole number", place)
            if not 0 <= arm < arms:
                raise Unsound(f"has a pull of arm {arm}, and there are {arms}", place)
            if pulls < 1 or not 0 <= first <= most:
                raise Unsound(f"has {pulls} pulls of an arm from number {first}", place)
            if not valued[arm].add(first, first + pulls):
                raise Unsound(f"gives pull {first} of arm {arm} a second value", place)

    def _spent(self, record: TimeSpent) -> None:
        self._check_cores(record.cores)
        self._check_arm(record.arm)
        _check_number(record.seconds, "seconds", least=0.0)

    def _failure(self, record: PullFailed) -> None:
        self._check_arm(record.arm)
        _check_whole(record.pull, "a pull", least=0)
        _check_whole(record.attempt, "an attempt", least=1)
        words = (record.what, record.message, record.detail, record.printed)
        if not all(isinstance(one, str) for one in words):
            raise Unsound("describes a failure without words")
        self._failed.add(record.arm)

    def _printed(self, record: PullsPrinted) -> None:
        for arm in record.cut:
            self._check_arm(arm)
        for arm, number, text in record.pulls:
            self._check_arm(arm)
            _check_whole(number, "a pull", least=0)
            if not isinstance(text, str):
                raise Unsound("has something printed that is no text")

    def _out(self, record: ArmOut) -> None:
        self._check_arm(record.arm)
        if record.arm not in self._failed:
            raise Unsound(f"takes arm {record.arm} out, which never failed")

    def _plan(self, record: PlanMade) -> None:
        self._check_arms(record.arms)
        _check_number(record.shift, "a shift")
        if record.deadline is not None:
            _check_number(record.deadline, "a deadline", least=0.0)
        self._shift = record.shift

    def _round(self, record: RoundEnded) -> None:
        _check_number(record.seconds, "seconds")
        if self._shift is None and not self.pulls:
            raise Unsound("ends a round before there was a plan or a value")
        if not isinstance(record.boxed, bool):
            raise Unsound("does not say how a round ended")
        if record.seconds > record.at - min(self._shift or 0.0, 0.0) + _SLACK_SECONDS:
            raise Unsound(f"ends a round at {record.seconds:g} s, later than it was recorded")
        _check_numbers(record.costs or (), "a cost", least=0.0)
        if record.costs and (len(record.costs) > self._arms or min(record.costs) == 0):
            raise Unsound("has costs of arms that there are not, or one of 0")

    def _warning(self, record: Warned) -> None:
        if not isinstance(record.about, str) or not isinstance(record.text, str):
            raise Unsound("has a warning without words")

    def _ending(self, record: RaceEnded) -> None:
        self._check_arms(record.arms)
        if not isinstance(record.decided, bool) or not isinstance(record.verdict, str):
            raise Unsound("does not say how the race ended")
        if record.confidence is not None:
            _check_number(record.confidence, "a confidence", least=0.0)
            if record.confidence > 1:
                raise Unsound(f"has a confidence of {record.confidence:g}")
        if record.index != -1:
            self._check_arm(record.index)
            if record.index not in record.arms:
                raise Unsound(f"names arm {record.index}, which is not among the best")

    def _check_cores(self, cores: Any) -> None:
        if not self._began:
            raise Unsound("comes before any session began")
        _check_whole(cores, "a number of cores", least=1)
        if self._cores is not None and cores > self._cores:
            raise Unsound(f"uses {cores} cores, and the pool has {self._cores}")

    def _check_arm(self, arm: Any) -> None:
        _check_whole(arm, "an arm", least=0)
        if arm >= self._arms:
            raise Unsound(f"names arm {arm}, and there are {self._arms}")

    def _check_arms(self, arms: Sequence[Any]) -> None:
        for arm in arms:
            self._check_arm(arm)
        if not arms or len(set(arms)) < len(arms):
            raise Unsound("names an arm twice, or none")


def _troubles(check: Callable[..., None], *given: Any) -> list[Unsound]:
    """What a check finds: several may, and the first line that is wrong counts."""
    try:
        check(*given)
    except Unsound as trouble:
        return [trouble]
    return []


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST


def _check_number(value: Any, what: str, least: float = -math.inf, place: int = 0) -> None:
    if not _is_number(value):
        raise Unsound(f"has {what} that is no finite number: {value!r:.40}", place)
    if value < least:
        raise Unsound(f"has {what} below {least:g}: {value:g}", place)


def _check_whole(value: Any, what: str, least: int) -> None:
    if type(value) is not int or value < least:
        raise Unsound(f"has {what} that is no whole number from {least} on: {value!r:.40}")


def _check_lists(*lists: Any) -> None:
    if not all(isinstance(one, list) for one in lists):
        raise Unsound("has no list of values and seconds")


def _check_numbers(values: Sequence[Any], what: str, least: float = -math.inf) -> None:
    # All at once if they are as usual; a sum is finite only if all its terms are.
    if set(map(type, values)) == {float} and math.isfinite(sum(values)) and min(values) >= least:
        return
    for place, value in enumerate(values):
        _check_number(value, what, least, place)


_CHECKS: dict[type[Record], Callable[[Meaning, Any], None]] = {
    RaceBegun: Meaning._race,
    SessionBegun: Meaning._session,
    PoolResized: Meaning._pool,
    PullsReturned: Meaning._results,
    ManyReturned: Meaning._results,
    TimeSpent: Meaning._spent,
    PullFailed: Meaning._failure,
    PullsPrinted: Meaning._printed,
    ArmOut: Meaning._out,
    PlanMade: Meaning._plan,
    RoundEnded: Meaning._round,
    Warned: Meaning._warning,
    RaceEnded: Meaning._ending,
}
