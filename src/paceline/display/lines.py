"""Plain lines about a race under way, for logs."""

import contextlib
import math
from dataclasses import replace
from typing import TextIO, cast

from paceline.characters import clean
from paceline.display.stream import CleanStream, styled
from paceline.durations import say_seconds
from paceline.result import Result
from paceline.story.brief import describe_standing
from paceline.story.standing import Standing

_LONGEST_PAUSE = 7.5  # seconds: updates may be two seconds apart, and ten must not pass
_SHORTEST_PAUSE, _PAUSE_SHARE = 1.0, 0.05  # after a while, a second is too often for a log


class PlainLines:
    """A line for every round, for logs, but never ten seconds without one.

    Lines are a second apart or more, and seven after a few minutes. A line that is held back is
    replaced by the next round's. The last round always has one.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = cast(TextIO, CleanStream(styled(stream)))
        self._rounds = 0  # of the last line printed or waiting
        self._last_printed = -math.inf  # seconds of the race, not of a clock
        self._waiting: Standing | None = None
        self._warned: set[str] = set()
        self._next_outlook = 0.0  # seconds of the race

    def update(self, standing: Standing) -> None:
        """Print new warnings, and a line if a round has ended."""
        for text in standing.notes:
            if text not in self._warned:
                self._warned.add(text)
                self._write(clean(text))
        for text in standing.warnings:
            advice = text.partition(": ")[2]  # the part before it changes during a race
            if advice not in self._warned:
                self._warned.add(advice)
                self._write(f"WARNING: {clean(text)}")
        if standing.outlook and standing.elapsed >= self._next_outlook:
            self._next_outlook = 2 * standing.elapsed
            self._write(clean(standing.outlook))
        pause = standing.elapsed - self._last_printed
        if standing.rounds != self._rounds and standing.pulls:
            self._rounds = standing.rounds
            self._waiting = standing
        elif self._waiting is None and min(pause, standing.elapsed) >= _LONGEST_PAUSE:
            self._write(_between_rounds(standing))
            self._last_printed = standing.elapsed
        if pause >= min(max(_SHORTEST_PAUSE, _PAUSE_SHARE * standing.elapsed), _LONGEST_PAUSE):
            self._print()

    def close(self, result: Result | None) -> None:
        """Print what was held back, or how the last round ended."""
        if result is not None and result.pulls and result.rounds != self._rounds:
            # The result has its own warnings.
            self.update(replace(result.standing, warnings=()))
        self._print()

    def _print(self) -> None:
        if self._waiting is not None:
            self._write(describe_standing(self._waiting))
            self._last_printed = self._waiting.elapsed
            self._waiting = None

    def _write(self, line: str) -> None:
        # A full log, or a reader that is gone, must not end a race.
        with contextlib.suppress(OSError):
            print(line, file=self.stream, flush=True)


def _between_rounds(standing: Standing) -> str:
    """How a race stands in the middle of a round, in a line."""
    if not standing.pulls:
        when, cores = say_seconds(standing.elapsed), f"{standing.busy_cores} of {standing.cores}"
        return f"{when}: no pull has given a value yet, {cores} cores at work"
    said = describe_standing(standing).partition(", ")[2]
    return f"in round {standing.rounds + 1}, {said}"
