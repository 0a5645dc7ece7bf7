"""How long this process waits for a processor: on a machine full of others' work, that is long."""

import time
from collections.abc import Callable

_LOOK_SECONDS = 0.1  # it waits in parts no longer than that
_HALF_LIFE_SECONDS = 10.0  # of what was seen


class Starvation:
    """Learns `seconds`: how long it was kept from its work at worst, not long ago.

    >>> wall, own = [0.0], [0.0]
    >>> starvation = Starvation(lambda: wall[0], lambda: own[0])
    >>> starvation.part(3.0)                 # to wait 3 s, it first waits for a tenth
    0.1
    >>> wall[0] = 0.6
    >>> starvation.woken()                   # it was woken half a second late
    >>> starvation.seconds
    0.5
    >>> wall[0], own[0] = 2.6, 0.1
    >>> starvation.part(3.0)                 # of two seconds, it had the processor for a tenth
    0.1
    >>> starvation.seconds
    1.9
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.monotonic,
        own: Callable[[], float] = time.thread_time,
    ) -> None:
        self.seconds = 0.0
        self._wall = wall
        self._own = own
        self._until = 0.0
        self._looked = self._woken = wall()
        self._worked = own()

    def part(self, seconds: float) -> float:
        """How long to wait now, if it is to wait that long."""
        now, part = self._wall(), min(seconds, _LOOK_SECONDS)
        self._take(now, now - self._woken - (self._own() - self._worked))
        self._until = now + part
        return part

    def woken(self) -> None:
        """It waits no more."""
        now = self._wall()
        self._take(now, now - self._until)
        self._woken, self._worked = now, self._own()

    def _take(self, now: float, late: float) -> None:
        seen = self.seconds * 0.5 ** ((now - self._looked) / _HALF_LIFE_SECONDS)
        self.seconds, self._looked = max(late, seen, 0.0), now
