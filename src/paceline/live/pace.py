"""How often a page can afford to look, so that it costs the race next to nothing."""

import math
import time
from collections.abc import Callable

from paceline.machine import available_cores

SHARE = 0.02  # of the time of the race's cores
POLL_SECONDS = 0.1  # how often it is seen whether the journal has grown


class Pace:
    """Allows a look when all that was spent since the last one is a small share of the time since.

    What is spent is the CPU time of the whole server, so what many viewers are sent counts as well.

    >>> now = iter([0.0, 0.0, 0.5, 1.0]).__next__
    >>> used = iter([0.0, 0.0, 0.015, 0.015]).__next__
    >>> pace = Pace(now, used)
    >>> pace.begin()
    >>> pace.is_due(), pace.is_due()     # 15 ms take 0.75 s of one core to be 2 % of them
    (False, True)
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.process_time,
    ) -> None:
        self._now, self._used = now, used
        self.cores = 1  # of the race's pool
        self._here = available_cores().cores
        self._began = (-math.inf, used())

    def begin(self) -> None:
        """A look begins; what is spent from now on is its cost."""
        self._began = (self._now(), self._used())

    def forgive(self) -> None:
        """What was spent so far was spent once, to read what there was already."""
        self.begin()

    def is_due(self) -> bool:
        """Whether it is time for the next look."""
        return self._now() - self._began[0] >= self.pause

    @property
    def pause(self) -> float:
        """From the beginning of a look to that of the next, by what was spent so far."""
        spent = self._used() - self._began[1]
        return spent / (SHARE * min(self.cores, self._here))
