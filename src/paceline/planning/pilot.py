"""A pilot: the first seconds of a race, recorded in its journal, from which the race resumes."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paceline import races
from paceline.commands import Command
from paceline.durations import seconds_of
from paceline.errors import InvalidInput
from paceline.result import Result
from paceline.story.standing import Standing

NEEDS_JOURNAL = (
    "a pilot is the beginning of the race, which resumes from its journal: give "
    "journal='race.jsonl'"
)
_LEAST = 2  # pulls of each arm


class _Over(BaseException):
    """The pilot is long enough; nothing that a race does may catch this."""


class _Watch:
    """Follows the race in place of a screen, and ends it in time; `screen` is shown it too."""

    def __init__(self, seconds: float, screen: Any) -> None:
        self.seconds = seconds
        self.screen = screen

    def update(self, standing: Standing) -> None:
        """End the race if the time is up, and every arm has some values."""
        if self.screen is not None:
            self.screen.update(standing)
        few = any(one.pulls < _LEAST for one in standing.arms if one.status != "failed")
        if standing.elapsed >= self.seconds and not few:
            raise _Over

    def close(self, result: Result | None) -> None:
        """Nothing is left behind but the journal."""
        if self.screen is not None:
            self.screen.close(result)


def run_pilot(
    pilot: Any,
    evaluate: Callable[..., Any] | Command,
    arms: Sequence[Any],
    options: dict[str, Any],
) -> Path:
    """Race until `pilot` seconds of the race have passed; return its journal.

    If the journal exists, what it has counts. A pilot goes on until every arm has two values.
    """
    if options.get("journal") is None:
        raise InvalidInput(NEEDS_JOURNAL)
    screen = options.get("progress")
    watch = _Watch(seconds_of(pilot, "pilot"), screen if hasattr(screen, "update") else None)
    with contextlib.suppress(_Over):
        races.race(evaluate, arms, **(options | {"progress": watch}))
    return Path(options["journal"])
