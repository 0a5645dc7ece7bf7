"""Setbacks: the machine takes pulls away. They are not started again in a hurry, nor forever."""

import math
from collections.abc import Callable

from paceline.errors import RaceFailed

_MOST_IN_A_ROW = 20
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 5.0  # with all the shorter ones: a minute and a bit in all


class Setbacks:
    """How often in a row pulls were lost, with no value in between, and until when to pause.

    >>> time = [10.0]
    >>> setbacks = Setbacks(lambda: time[0])
    >>> setbacks.add(began=9.0, why="fork: Resource temporarily unavailable")
    >>> setbacks.add(began=8.0, why="another job of the same moment")
    >>> setbacks.over_at, setbacks.in_a_row
    (10.05, 1)
    >>> time[0] = 10.05
    >>> setbacks.over_at
    inf
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.in_a_row = 0
        self._now = now
        self._last = -math.inf  # when the last one was
        self._over = -math.inf
        self._why = ""

    @property
    def over_at(self) -> float:
        """When the pause is over, on the engine's clock; infinite if there is none."""
        return self._over if self._now() < self._over else math.inf

    def add(self, began: float, why: str) -> None:
        """A job that began at this moment was lost.

        All that were under way at the last setback belong to it: they may all be killed at once.
        """
        if began < self._last:
            return
        self.in_a_row += 1
        self._why = why
        pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** (self.in_a_row - 1), _LONGEST_PAUSE_SECONDS)
        self._last = self._now()
        self._over = self._last + pause

    def check(self) -> float:
        """Until when to pause, if at all; stops the race if there were too many for any hope."""
        if self.in_a_row >= _MOST_IN_A_ROW:
            raise RaceFailed(
                f"no pull can be run on this machine: {self._why} ({self.in_a_row} times in a row, "
                "with no value in between). No arm is out because of it: see what is short "
                "(memory, processes, files, disk), and resume"
            )
        return self.over_at

    def clear(self) -> None:
        """A value has come: pulls can be run."""
        self.in_a_row = 0
        self._over = -math.inf
