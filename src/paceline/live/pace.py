"""How often a page can afford to look, so that it costs the race next to nothing."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator

from paceline.machine import available_cores

SHARE = 0.02  # of the time of the race's cores
POLL_SECONDS = 0.1  # how often it is seen whether the journal has grown
LEAST_SECONDS = 0.5  # nobody reads faster, and browsers take time to draw
BYTES_PER_SECOND = 250_000  # of what a viewer is sent, before it is compressed


class Pace:
    """Allows a look when what was spent since the last one is a small share of the time since.

    What many viewers are sent is spent as well. Loading a page is not: that is done once. What is
    rare shows at once: it is looks that follow each other which have to wait.

    >>> now = iter([0.0, 0.5, 1.0]).__next__
    >>> used = iter([0.0, 0.015]).__next__
    >>> pace = Pace(now, used)
    >>> pace.begin()
    >>> with pace.spending():
    ...     pass
    >>> pace.is_due(), pace.is_due()     # 15 ms take 0.75 s of one core to be 2 % of them
    (False, True)
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        self._now, self._used = now, used
        self.cores = 1  # of the race's pool
        self._here = available_cores().cores
        self._began, self._spent, self._largest = -math.inf, 0.0, 0

    def begin(self) -> None:
        """A look begins; what was spent before is settled."""
        self._began, self._spent, self._largest = self._now(), 0.0, 0

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """Charge the CPU time that this thread spends here."""
        before = self._used()
        try:
            yield
        finally:
            self._spent += self._used() - before

    def sends(self, size: int) -> None:
        """A viewer is sent so many bytes."""
        self._largest = max(self._largest, size)

    def is_due(self) -> bool:
        """Whether it is time for the next look."""
        return self._now() - self._began >= self.pause

    @property
    def pause(self) -> float:
        """From the beginning of a look to that of the next, by what was spent so far."""
        affordable = self._spent / (SHARE * min(self.cores, self._here))
        return max(LEAST_SECONDS, affordable, self._largest / BYTES_PER_SECOND)
