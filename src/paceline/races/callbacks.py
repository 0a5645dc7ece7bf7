"""What a user has called while a race runs: after every round, for every result, at its end.

A function is called after every round, with a `Standing`. An object may have any of `on_round`,
`on_result` and `on_end`. The race waits for what it calls.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.journal.records import PullsReturned
from paceline.result import Result
from paceline.story.standing import Standing
from paceline.story.values import PullRecord, SeedsOf

METHODS = ("on_round", "on_result", "on_end")


@dataclass(frozen=True)
class Callbacks:
    """Functions and methods, by when they are called.

    >>> class Printer:
    ...     def on_result(self, pull):
    ...         print(pull.arm, pull.value)
    >>> called = Callbacks.of([print, Printer()])
    >>> len(called.on_round), len(called.on_result), len(called.on_end)
    (1, 1, 0)
    """

    on_round: tuple[Callable[[Standing], Any], ...] = ()
    on_result: tuple[Callable[..., Any], ...] = ()
    on_end: tuple[Callable[[Result], Any], ...] = ()

    @classmethod
    def of(cls, given: Sequence[Any]) -> "Callbacks":
        """Those of functions and objects as a user gives them."""
        methods = {name: [getattr(one, name, None) for one in given] for name in METHODS}
        for place, one in enumerate(given):
            if not any(found[place] for found in methods.values()):
                methods["on_round"][place] = one  # a function
        return cls(**{name: tuple(filter(None, found)) for name, found in methods.items()})

    def round_ended(self, standing: Standing) -> bool:
        """Tell of a round; whether the race is to stop."""
        answers = [callback(standing) for callback in self.on_round]
        return any(map(_is_true, answers))

    def returned(
        self, record: PullsReturned, seeds: SeedsOf, standing: Callable[[], Standing]
    ) -> bool:
        """Tell of pulls that gave values; whether the race is to stop."""
        now = standing() if any(map(_takes_two, self.on_result)) else None
        stops = False
        for pull in pulls_in(record, seeds):
            for callback in self.on_result:
                given = (pull, now) if _takes_two(callback) else (pull,)
                stops |= _is_true(callback(*given))
        return stops

    def ended(self, result: Result) -> None:
        """Tell of the end of the race."""
        for callback in self.on_end:
            callback(result)


NOTHING = Callbacks()


def is_callback(one: Any) -> bool:
    """Whether it can be called, or has a method that can."""
    return callable(one) or has_methods(one)


def has_methods(one: Any) -> bool:
    """Whether it says by their names which methods are to be called."""
    return any(callable(getattr(one, name, None)) for name in METHODS)


def pulls_in(record: PullsReturned, seeds: SeedsOf) -> Iterator[PullRecord]:
    """The pulls of a record, one by one; they came one after the other, the last just now."""
    values = zip(record.values, record.seconds, strict=True)
    at = record.at - sum(record.seconds)
    for run in record.pulls:
        for place, seed in enumerate(seeds(run.arm, run.first, run.pulls)):
            value, seconds = next(values)
            at += seconds
            yield PullRecord(run.arm, run.first + place, seed, value, seconds, record.cores, at)


def _takes_two(callback: Callable[..., Any]) -> bool:
    """Whether it wants the standing, too, which takes a while to work out."""
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):  # of C code
        return False
    kinds = [one.kind for one in parameters]
    positional = sum(kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD) for kind in kinds)
    return positional >= 2 or inspect.Parameter.VAR_POSITIONAL in kinds


def _is_true(answer: Any) -> bool:
    return isinstance(answer, bool | np.bool_) and bool(answer)
