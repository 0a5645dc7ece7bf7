"""Ask and tell: `paceline.Race`, for those who do the pulls themselves."""

import os
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, Generic

from paceline.core.scaling import Scaling
from paceline.durations import LONGEST_SECONDS, seconds_of
from paceline.engines.events import Failure, Lost
from paceline.engines.manual import ManualEngine, ManualWorkers, by_hand, told
from paceline.errors import InvalidInput, seen
from paceline.policies.base import Policy
from paceline.races.concerns import warn
from paceline.races.hosting import Loop
from paceline.races.options import check_options
from paceline.races.pulls import Handed, Pull
from paceline.races.settings import check_race
from paceline.races.typed import Arm, GivenArms
from paceline.result import Result
from paceline.story.standing import Standing


class Race(Generic[Arm]):
    """A race whose pulls you do yourself: `ask` for pulls, `tell` their values.

    >>> race = Race(["a", "b", "c"], confidence=0.95, cores=2, cores_per_pull=1)
    >>> while not race.done:
    ...     for pull in race.ask():
    ...         counts = race.tell(pull, {"a": 3, "b": 7, "c": 5}[pull.arm] + pull.seed % 100 / 100)
    >>> race.result.best, race.result.confidence
    ('b', 0.95)

    Values may be told in any order and from any thread. Policies, evidence, journal and result are
    those of `paceline.race`, and so are the options, which are described there. These differ:

    - `cores` is how many you have: one unless you say more. A pull asks for `pull.cores` of them.
      With `cores_per_pull=1` it says how many pulls may be out at once.
    - `paired=True` promises that you use `pull.seed`: pull k of every arm has the same.
    - `backups=True` promises that a value depends on the seed alone: a pull that takes far too long
      is then handed out a second time, and the first value counts.
    - `progress` shows nothing unless it is True.

    With a `journal`, what is told is kept. Make the same race again, in another process and as late
    as you like, and it goes on: pulls that were out are handed out again, with their numbers and
    seeds. The clock of the race runs while it is open.
    """

    def __init__(
        self,
        arms: GivenArms[Arm],
        *,
        confidence: float | None = None,
        deadline: Any = None,
        max_pulls: float | None = None,
        direction: str = "maximize",
        top: int = 1,
        tolerance: float = 0.0,
        policy: str | Policy | None = None,
        noise: str = "auto",
        bounds: Sequence[float] | None = None,
        sigma: float | None = None,
        paired: bool = False,
        seed: int = 0,
        cores: int = 1,
        cores_per_pull: int | tuple[int, int] | None = None,
        at_once: int | None = None,
        scaling: Scaling | None = None,
        backups: bool = False,
        timeout: Any = None,
        retries: int = 2,
        on_failure: str = "drop-arm",
        journal: str | os.PathLike[str] | None = None,
        accept_changes: bool = False,
        labels: Iterable[Any] | None = None,
        callbacks: Sequence[Any] = (),
        progress: Any = False,
    ) -> None:
        given = {key: value for key, value in locals().items() if key not in ("self", "arms")}
        workers = ManualWorkers()
        engine = ManualEngine(lambda: workers)
        settings = check_race(by_hand, arms, check_options({**given, "engine": engine}))
        self._allowed = settings.rules.allowed
        self._workers = workers
        self._handed = Handed(settings.arms, settings.labels, settings.workload().seeds, workers)
        self._loop = Loop(settings, workers)
        self._process = os.getpid()
        # A race that nobody has any more ends its loop; so does the end of the interpreter.
        self._finalizer = weakref.finalize(self, self._loop.close)
        self._loop.start()
        workers.settle()
        self._check()

    def ask(self, most: int | None = None, wait: Any = None) -> list[Pull]:
        """Have pulls handed out: all that fit into the cores now, or at most that many.

        The list is empty if the race is over, or if everything that it wants is out already. With
        `wait` (seconds, or "10m") it is then waited for that something else is wanted.
        """
        if most is not None and (not isinstance(most, int) or most < 1):
            raise InvalidInput(f"most must be a whole number from 1 on, got {seen(most)}")
        seconds = None if wait is None else 0.0 if wait == 0 else seconds_of(wait, "wait")
        self._check_caller()
        pulls = self._handed.out_of(most, seconds)
        self._check()
        return pulls

    def tell(self, pull: Pull, value: float, seconds: float | None = None) -> bool:
        """Give the value of a pull; it is in the journal when this returns.

        `seconds` is how long the pull took, from which the race learns how pulls scale; without it,
        that is the time since the pull was handed out. False if the pull was cancelled before: then
        the value does not count.
        """
        score = told(value, "the value")
        took = None if seconds is None else told(seconds, "seconds")
        if took is not None and not 0 <= took <= LONGEST_SECONDS:
            limit = "below 0" if took < 0 else "more than 250 years"
            raise InvalidInput(f"seconds must not be {limit}, got {seen(seconds)}")
        if self._allowed is not None and not self._allowed(score):
            raise InvalidInput(
                f"{score:g} is outside the values that were declared (noise=, bounds=): tell "
                "another, or call fail"
            )
        return self._answer(pull, score, took)

    def fail(self, pull: Pull, why: object, *, blame: bool = True) -> bool:
        """Say that a pull gave no value, and why. It will be asked for again, with its seed.

        After `retries` more failures its arm is out. If the arm is not to `blame` (a power cut, a
        machine that was taken away), this does not count as a try. False if the pull was cancelled.
        """
        return self._answer(pull, (str(why) or "failed without a word", blame), None)

    @property
    def done(self) -> bool:
        """Whether the race is over: there is a `result`, or an error, which `result` raises."""
        return self._workers.over and not self._loop.was_closed

    @property
    def result(self) -> Result[Arm]:
        """How the race ended. While it is under way, there is none: see `standing`."""
        self._check()
        if self._loop.result is None:
            raise InvalidInput(
                "the race is not over, so it has no result: race.standing says how it stands, and "
                "race.done whether it is over"
            )
        return self._loop.result

    @property
    def standing(self) -> Standing:
        """How the race stands now; what it looks like at the end, once it is over."""
        self._check_caller()
        found = self._workers.call(self._loop.standing)
        return self._loop.standing() if found is None else found

    @property
    def out(self) -> list[Pull]:
        """The pulls that were handed out, are wanted, and have not been told."""
        return self._handed.pending(wanted=True)

    @property
    def cancelled(self) -> list[Pull]:
        """The pulls that were handed out and are no longer wanted, as their arm fell, say.

        They need not be done. Each stays here until it is told, which changes nothing else.
        """
        return self._handed.pending(wanted=False)

    def is_wanted(self, pull: Pull) -> bool:
        """Whether a value of this pull would count: it is out, and not cancelled."""
        return self._handed.is_wanted(pull)

    def close(self) -> None:
        """End the race here; from its journal, it can go on. All that was told is kept."""
        self._loop.close()

    def __enter__(self) -> "Race[Arm]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, pull: Pull, answer: float | tuple[str, bool], seconds: float | None) -> bool:
        """Pass an answer on, and wait until the race has dealt with it."""
        self._check_caller()
        if self._loop.was_closed:
            raise _closed()

        def passed(job: int) -> bool:
            if isinstance(answer, float):
                return self._workers.answer(job, answer, seconds)
            why, blame = answer
            how = Failure("told", why) if blame else Lost(job, why)
            return self._workers.answer(job, how)

        counts = self._handed.answered(pull, passed)
        self._workers.settle()
        self._check()
        return counts

    def _check_caller(self) -> None:
        if self._loop.is_here:
            raise InvalidInput(
                "a callback runs in the middle of the race, and cannot ask or tell: it is given "
                "the standing, and may return True to stop the race"
            )
        if os.getpid() != self._process:
            raise InvalidInput(
                "the race is in the process that made it, and this is a fork of that: ask and "
                "tell there, and send pulls and values between the two"
            )

    def _check(self) -> None:
        """Say what the race had to say, and raise what has ended it."""
        for text in self._loop.warnings():
            warn(text)
        if self._loop.error is not None:
            raise self._loop.error
        if self._loop.was_closed:
            raise _closed()


def _closed() -> InvalidInput:
    return InvalidInput(
        "the race was closed before it was over: make it again with the same arguments and "
        "journal, and it goes on"
    )
