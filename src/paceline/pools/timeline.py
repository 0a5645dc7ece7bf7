"""What runs when in virtual time: an event queue over shares of the pool.

A round without shares is one event, so a round of a million arms or of a billion pulls costs a few
array operations. Pulls with shares start when their share of the pool is free and end at their own
times.
"""

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.rounds import Round, Shares
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput

# Shares and times are sums of floats: 3 · (1/3) must fit into the whole, 3 stages of T/3 into T.
_SLACK = 1e-9


@dataclass(frozen=True)
class Span:
    """For drawing: `pulls` pulls of `arm`, each on `share` of the pool, from `start` to `end`."""

    arm: int
    pulls: int
    share: float
    start: float
    end: float


class Batch(NamedTuple):
    """Pulls that started together on equal shares, and so end together."""

    end: float
    number: int  # batches that end at the same time come back in the order they started
    start: float
    share: float
    arms: Ints
    pulls: Ints
    total: int


class Timeline:
    """Pulls that are queued and that run, and the time `now`; `spans`, if given, records them.

    >>> from paceline.core.scaling import PowerLaw
    >>> timeline = Timeline(2, PowerLaw(0.5))
    >>> timeline.want(Round(np.array([0, 1]), np.array([8, 8])))
    >>> [batch.total for batch in timeline.advance(math.inf)], timeline.now
    ([16], 4.0)
    """

    def __init__(self, arms: int, scaling: Scaling, spans: list[Span] | None = None) -> None:
        self.now = 0.0
        self._arms = arms
        self._scaling = scaling
        self._spans = spans
        self._free = 1.0
        self._running: list[Batch] = []
        self._queue: deque[Round] = deque()
        self._batches = 0
        self._known_seconds: dict[float, float] = {}

    def want(self, wanted: Round) -> None:
        """Have exactly these pulls queued or running."""
        if self._running or self._queue:
            wanted = self._reconcile(wanted)
        if wanted.arms.size:
            self._queue.append(wanted)
            self._fill()

    def advance(self, until: float) -> list[Batch]:
        """Move to where the next pulls finish, and return them; or to `until` with none."""
        if not self._running or self._running[0].end > until * (1 + _SLACK):
            self.now = max(self.now, until) if math.isfinite(until) else self.now
            return []
        end = self._running[0].end
        self.now = min(end, until)
        finished = [heapq.heappop(self._running)]
        while self._running and self._running[0].end == end:
            finished.append(heapq.heappop(self._running))
        for batch in finished:
            self._release(batch)
        self._refill()
        return finished

    def under_way(self) -> list[Span]:
        """What is running now, each span up to when it would end."""
        return [span for batch in self._running for span in _spans(batch, batch.end)]

    def _release(self, batch: Batch) -> None:
        """Free the shares of a batch that has ended or was cancelled."""
        self._free += batch.share * batch.total
        if self._spans is not None:
            self._spans.extend(_spans(batch, self.now))

    # Starting.

    def _refill(self) -> None:
        """Use the shares that pulls have released."""
        if not self._running:
            self._free = 1.0  # forget the rounding
        self._fill()

    def _fill(self) -> None:
        """Start queued pulls, in order, as far as the pool is free."""
        while self._queue:
            head = self._queue[0]
            if not isinstance(head.how, Shares):
                if self._running:  # an even split needs the whole pool
                    return
                self._queue.popleft()
                self._start(head.arms, head.pulls, head.total, 1.0 / head.total)
            elif not self._start_some(head, head.how.share):
                return

    def _start_some(self, head: Round, shares: float | np.ndarray) -> bool:
        """Start the first pulls of a queued round with shares that fit; False if none does."""
        share = float(shares[0]) if isinstance(shares, np.ndarray) else shares
        if not 0 < share <= 1:
            raise InvalidInput(f"a pull's share of the pool must lie in (0, 1], got {share!r}")
        room = int(self._free / share * (1 + _SLACK) + _SLACK)
        if room == 0:
            return False
        # The first arms that ask for the same share, as far as there is room.
        alike = head.arms.size
        if isinstance(shares, np.ndarray) and (shares != share).any():
            alike = int(np.argmax(shares != share))
        elif head.total <= room:
            self._queue.popleft()
            self._start(head.arms, head.pulls, head.total, share)
            return True
        before = np.cumsum(head.pulls[:alike]) - head.pulls[:alike]
        taken = np.clip(room - before, 0, head.pulls[:alike])
        some = taken > 0
        self._start(head.arms[:alike][some], taken[some], int(taken.sum()), share)
        left = head.pulls.copy()
        left[:alike] -= taken
        self._queue.popleft()
        if left.any():
            self._queue.appendleft(head.keeping(left))
        return True

    def _start(self, arms: Ints, pulls: Ints, total: int, share: float) -> None:
        together = 1.0 / share
        seconds = self._known_seconds.get(together)
        if seconds is None:
            seconds = self._scaling.seconds(round(together) if _is_whole(together) else together)
            self._known_seconds[together] = seconds
        self._free = max(0.0, self._free - share * total)
        end = self.now + seconds
        batch = Batch(end, self._batches, self.now, share, arms, pulls, total)
        self._batches += 1
        heapq.heappush(self._running, batch)

    # Changing one's mind.

    def _reconcile(self, wanted: Round) -> Round:
        """Cancel what is no longer wanted; return what is wanted and not yet under way."""
        surplus = np.zeros(self._arms, dtype=np.int64)
        for waiting in self._queue:
            surplus[waiting.arms] += waiting.pulls
        for batch in self._running:
            surplus[batch.arms] += batch.pulls
        missing = wanted.pulls - surplus[wanted.arms]
        surplus[wanted.arms] = np.maximum(-missing, 0)
        if surplus.any():
            self._cancel(surplus)
        return wanted.keeping(missing)

    def _cancel(self, surplus: Ints) -> None:
        """Drop `surplus[i]` pulls of arm i, the last queued or started first."""
        queue = deque[Round]()
        for waiting in reversed(self._queue):
            gone = np.minimum(surplus[waiting.arms], waiting.pulls)
            surplus[waiting.arms] -= gone
            if (waiting.pulls > gone).any():
                queue.appendleft(waiting.keeping(waiting.pulls - gone))
        self._queue = queue
        running, self._running = sorted(self._running, key=lambda b: -b.number), []
        for batch in running:
            gone = np.minimum(surplus[batch.arms], batch.pulls)
            surplus[batch.arms] -= gone
            keep = batch.pulls > gone
            if keep.any():
                left = (batch.pulls - gone)[keep]
                kept = batch._replace(arms=batch.arms[keep], pulls=left, total=int(left.sum()))
                heapq.heappush(self._running, kept)
            some = gone > 0
            if some.any():
                dropped = batch._replace(
                    arms=batch.arms[some], pulls=gone[some], total=int(gone.sum())
                )
                self._release(dropped)
        self._refill()


def _is_whole(together: float) -> bool:
    """Whether 1/share is whole up to rounding: λ must then be asked for exactly that number."""
    return abs(together - round(together)) <= _SLACK * together


def _spans(batch: Batch, end: float) -> list[Span]:
    each = zip(batch.arms.tolist(), batch.pulls.tolist(), strict=True)
    return [Span(arm, pulls, batch.share, batch.start, end) for arm, pulls in each]
