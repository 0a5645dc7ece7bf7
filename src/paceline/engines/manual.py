"""The engine of `paceline.Race`: pulls are handed out to whoever asks, and answers are taken in.

The loop of a race blocks while it waits for its workers, so it has a thread of its own. These are
the workers: the loop calls `start`, `end`, `wait` and `close`; everything else is for others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from paceline.engines.base import Abilities
from paceline.engines.events import Began, Event, Failed, Failure, Finished, Loading, Lost, Values
from paceline.engines.jobs import Job
from paceline.engines.local.process.evaluating import NoNumber, number
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, seen
from paceline.machine import AvailableCores

Found = TypeVar("Found")


def by_hand(arm: Any, *, seed: int, cores: int) -> float:  # noqa: ARG001 - the signature counts
    """Stand where a race has its function: here, somebody else does the pulls."""
    raise AssertionError("nobody calls this")


def told(value: Any, what: str) -> float:
    """The number that somebody told.

    >>> told("0.5", "the value")
    Traceback (most recent call last):
        ...
    paceline.errors.InvalidInput: the value must be a finite number, and '0.5' is none: if the pull
    gave no value, call fail
    """
    try:
        return number(value)
    except (NoNumber, OverflowError):  # or a whole number that no float can hold
        raise InvalidInput(
            f"{what} must be a finite number, and {seen(value)} is none: if the pull gave no "
            "value, call fail"
        ) from None


class Closed(BaseException):
    """Ends the loop of a race that was closed. It is no error, and nobody catches it by mistake."""


class ManualEngine:
    """Hands out pulls. `make` makes the workers of a race.

    >>> from paceline.engines.jobs import Run
    >>> engine = ManualEngine()
    >>> workload = Workload(by_hand, ["a", "b"], lambda arm, first, pulls: [0] * pulls)
    >>> workers = engine.open(workload, cores=1)
    >>> workers.start(Job(7, (Run(1, 0, 1),), cores=1))
    >>> workers.answer(7, 0.5, seconds=2.0)
    True
    >>> workers.wait(None)
    [Loading(job=7, idle=True), Began(job=7), Values(job=7, values=[0.5], ...), Finished(job=7)]
    """

    name: ClassVar[str] = "manual"
    abilities: ClassVar[Abilities] = Abilities(
        kill=True,  # whoever does a pull is told that it is not wanted any more
        pin=False,
        commands=False,
        group=1,
        survives_driver=True,
        hurries=False,  # somebody is at work on it
    )

    def __init__(self, make: "Callable[[], ManualWorkers] | None" = None) -> None:
        self._make = make or ManualWorkers

    def available(self) -> AvailableCores:
        """One core: only the user knows how many pulls can be done at once."""
        return AvailableCores(1, "one pull at a time, unless cores= says more", ())

    def open(self, workload: Workload, cores: int) -> "ManualWorkers":
        """The workers of a race."""
        return self._make()

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()


class ManualWorkers:
    """Offers jobs of one pull each. A job is offered, then out, then over.

    What is said to it counts when the loop has dealt with it: then it is in the journal.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._offered: dict[int, Job] = {}
        self._out: dict[int, float] = {}  # when each job was asked for
        self._events: list[Event] = []  # that the loop has not heard of
        self._heard = 0  # how often the loop was told of events,
        self._dealt = -1  # and how often it has acted on them; it has not begun yet
        self._calls: deque[Callable[[], None]] = deque()  # to be made by the loop
        self._closing = False
        self.over = False  # whether the loop has ended

    # For the loop.

    def start(self, job: Job) -> None:
        """Offer a job."""
        with self._changed:
            self._offered[job.number] = job
            self._events.append(Loading(job.number, idle=True))
            self._changed.notify_all()

    def end(self, job: int) -> None:
        """Take a job back: from now on, an answer to it is too late."""
        with self._changed:
            if self._remove(job) is not None:
                self._events.append(Lost(job))

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait for answers, at most `seconds`."""
        until = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            is_last = seconds == 0  # or it will wait again soon
            if not is_last:
                self._dealt = self._heard
                self._changed.notify_all()
            while not self._events:
                if self._closing and not is_last:
                    raise Closed
                if self._calls:
                    self._calls.popleft()()
                    self._changed.notify_all()
                    continue
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return []
                self._changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))
            events, self._events = self._events, []
            self._heard += 1
        return events

    def close(self) -> None:
        """Take everything back."""
        with self._changed:
            self._offered.clear()
            self._out.clear()
            self._changed.notify_all()

    def finish(self) -> None:
        """Say that the loop has ended."""
        with self._changed:
            self.over = True
            self._calls.clear()
            self._changed.notify_all()

    # For everybody else.

    def take(self, most: int | None = None, wait: float | None = None) -> list[Job]:
        """Have some jobs handed out, in the order in which they were offered.

        It waits until the loop has dealt with everything said so far; then up to `wait` seconds
        for an offer. If nothing is out either, only the loop can change that: without `wait`, it is
        waited for as long as that takes.
        """
        with self._changed:
            self._settle()
            if wait is None:
                self._changed.wait_for(lambda: self._offered or self._out or self.over)
            else:
                pause = min(wait, threading.TIMEOUT_MAX)
                self._changed.wait_for(lambda: self._offered or self.over, pause)
            some = list(self._offered.values())[:most]
            for job in some:
                self._begin(job.number)
            if some:
                self._changed.notify_all()
            return some

    def answer(self, job: int, value: float | Failure | Lost, seconds: float | None = None) -> bool:
        """Say how a job went; False if it was taken back before. Waits for nothing.

        Without `seconds`, the pull took the time since it was asked for.
        """
        with self._changed:
            if job in self._offered:
                self._begin(job)
            asked_at = self._remove(job)
            if asked_at is None:
                return False
            if isinstance(value, Failure):
                self._events.append(Failed(job, value))
            elif isinstance(value, Lost):
                self._events.append(value)
            else:
                took = time.monotonic() - asked_at if seconds is None else seconds
                self._events += [Values(job, [value], [took]), Finished(job)]
            self._changed.notify_all()
            return True

    def settle(self) -> None:
        """Wait until the loop has dealt with everything said so far, or has ended."""
        with self._changed:
            self._settle()

    def call(self, function: Callable[[], Found]) -> Found | None:
        """What a function returns that the loop calls while it waits; None if it has ended."""
        found: list[Found] = []
        failed: list[Exception] = []

        def call() -> None:
            try:
                found.append(function())
            except Exception as error:
                failed.append(error)

        with self._changed:
            if not self.over:
                self._calls.append(call)
                self._changed.notify_all()
            self._changed.wait_for(lambda: found or failed or self.over)
        if failed:
            raise failed[0]
        return found[0] if found else None

    def is_open(self, job: int) -> bool:
        """Whether an answer to a job is still wanted."""
        with self._changed:
            return job in self._offered or job in self._out

    def offered(self) -> list[Job]:
        """The jobs that nobody has asked for yet."""
        with self._changed:
            return list(self._offered.values())

    def stop(self) -> None:
        """Have the loop end at its next wait, when it has dealt with everything said so far."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _settle(self) -> None:
        due = self._heard + bool(self._events)
        self._changed.wait_for(lambda: self._dealt >= due or self.over)

    def _begin(self, job: int) -> None:
        del self._offered[job]
        self._out[job] = time.monotonic()
        self._events.append(Began(job))

    def _remove(self, job: int) -> float | None:
        """When a job was asked for, or now if it was not; None if it is over."""
        if self._offered.pop(job, None) is not None:
            return time.monotonic()
        return self._out.pop(job, None)
