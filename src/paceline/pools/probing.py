"""Probes: pulls on other numbers of cores than the plan says, which show how pulls scale.

They count like all others. The first ones run side by side, so that a pull that hangs holds its own
cores only. Later ones look again whether the first impression was right: the machine may have been
busy. A probe that needs more cores than are free waits for them, but not for long.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable

from paceline.pools.timekeeping import Timekeeper

_PATIENCE = 3.0  # times as long as pulls take
_LEAST_PATIENCE_SECONDS = 0.05
_SHARE = 0.02  # of the core time may go into looking again


class Probing:
    """The widths to try next, in turn.

    >>> probing = Probing(Timekeeper(arms=1), now=lambda: 0.0)
    >>> probing.begin([4, 2, 8])
    >>> [probing.fits(free=6), probing.take(free=6), probing.take(free=2), probing.fits(free=7)]
    [True, 4, 2, False]
    """

    def __init__(self, times: Timekeeper, now: Callable[[], float]) -> None:
        self._times = times
        self._now = now
        self._widths: deque[int] = deque()
        self._waits_since = math.nan
        self._patience = _PATIENCE
        self._spent = 0.0  # core seconds, of looking again

    def __bool__(self) -> bool:
        return bool(self._widths)

    def begin(self, widths: Iterable[int], *, patience: float = _PATIENCE) -> None:
        """Try these from now on, and no others; wait `patience` times as long as pulls take."""
        self._widths = deque(widths)
        self._waits_since = math.nan
        self._patience = patience

    def look_again(self, levels: Iterable[int], core_seconds: float) -> None:
        """Try the width that was tried least, if that is cheap compared to all that was done."""
        if self._widths:
            return
        width = min(levels, key=lambda cores: (self._times.count(cores), -cores))
        cost = width * self._slowest()  # also to wait until the cores are free
        if 0 < self._spent + cost <= _SHARE * core_seconds:
            self._spent += cost
            self.begin([width])

    def fits(self, free: int) -> bool:
        """Whether a probe can start now; if not, it begins to wait."""
        if any(width <= free for width in self._widths):
            return True
        if self._widths and math.isnan(self._waits_since):
            self._waits_since = self._now()
        self.give_up()
        return False

    def drop_above(self, cores: int) -> None:
        """Give up probes on more cores than a pull may have now."""
        if any(width > cores for width in self._widths):
            kept = [width for width in self._widths if width <= cores]
            self.begin(kept, patience=self._patience)

    def give_up(self) -> bool:
        """Give up a probe that has waited long enough; say whether there was one."""
        late = self._now() >= self.next_moment()
        if late:
            self.begin(())
        return late

    def take(self, free: int) -> int:
        """The first width that fits."""
        width = next(width for width in self._widths if width <= free)
        self._widths.remove(width)
        self._waits_since = math.nan
        return width

    def next_moment(self) -> float:
        """When a probe that waits will be given up, on the engine's clock."""
        if not self._widths or math.isnan(self._waits_since) or self._patience == math.inf:
            return math.inf
        return self._waits_since + max(self._patience * self._slowest(), _LEAST_PATIENCE_SECONDS)

    def _slowest(self) -> float:
        """The mean seconds of pulls on the cores on which they are slowest."""
        return max(self._times.means(), default=0.0)
