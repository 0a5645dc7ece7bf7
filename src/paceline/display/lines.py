"""Plain lines about a race under way, for logs."""

import contextlib
import math
from dataclasses import replace
from typing import TextIO, cast

from paceline.characters import clean
from paceline.display.stream import CleanStream, styled
from paceline.result import Result
from paceline.story.brief import describe_standing
from paceline.story.standing import Standing


class PlainLines:
    """A line for every round, for logs, but at most one line per second.

    A line that is held back is replaced by the next round's. The last round always has one.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = cast(TextIO, CleanStream(styled(stream)))
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
        if standing.rounds != self._rounds and standing.pulls:
            self._rounds = standing.rounds
            self._waiting = standing
        if standing.elapsed - self._last_printed >= 1:
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
            print(line, file=self._stream, flush=True)
