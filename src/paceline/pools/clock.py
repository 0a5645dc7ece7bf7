"""The clock of a race: it stands still while the race is interrupted."""

import math
from collections.abc import Callable

from paceline.engines.base import MayStarve, Workers

_TICK_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 2.0
_LATE_SECONDS, _LATE_SHARE = 0.1, 0.002  # a tenth of what a race may be late
_TIMES_LATE = 2.0


class RaceClock:
    """Seconds of the race, of its policy, and of the engine's clock, on which both are based.

    The policy's clock is `shift` behind the race's: it is not charged for what came before it.

    >>> engine = iter([100.0, 103.0, 103.0])
    >>> clock = RaceClock(lambda: next(engine))
    >>> clock.elapsed(), clock.moment(policy_seconds=5.0)
    (3.0, 105.0)
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now  # the engine's clock
        self.shift = 0.0
        self._zero = now()

    def elapsed(self) -> float:
        """The seconds since the race began, without those it was interrupted for."""
        return self.now() - self._zero

    def stamp(self) -> float:
        """The seconds of the race as records have them, to the microsecond."""
        return round(self.elapsed(), 6)

    def policy_seconds(self) -> float:
        """The same, as the policy counts them."""
        return self.elapsed() - self.shift

    def resume_at(self, elapsed: float) -> None:
        """Continue where an earlier session of the race ended."""
        self._zero = self.now() - elapsed

    def moment(self, policy_seconds: float) -> float:
        """The time on the engine's clock when the policy's clock shows this."""
        return policy_seconds + self.shift + self._zero


class Ticker:
    """Calls a function a few times a second, from within the race: no thread is needed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.call: Callable[[], None] | None = None
        self._now = now
        self._next = -math.inf

    @property
    def next_moment(self) -> float:
        """When it wants to be called next."""
        return math.inf if self.call is None else self._next

    def tick(self) -> None:
        """Call the function, if it is time."""
        if self.call is not None and self._now() >= self._next:
            began = self._now()
            self.call()
            # With thousands of arms a call is slow: spend no more than a tenth of the time on it.
            pause = min(9 * (self._now() - began), _LONGEST_PAUSE_SECONDS)
            self._next = self._now() + pause + _TICK_SECONDS


def early_seconds(deadline: float, workers: Workers | None) -> float:
    """How long before a deadline to stop, on a machine so full that everything takes very long.

    A starved process is late twice: when it wakes up, and when it has ended what runs. A second, or
    2 %, is what a race may be late.
    """
    if deadline == math.inf or not isinstance(workers, MayStarve):
        return 0.0
    starved = workers.starved_seconds
    return max(0.0, _TIMES_LATE * starved - max(_LATE_SECONDS, _LATE_SHARE * deadline))
