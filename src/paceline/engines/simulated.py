"""Virtual time: an event queue over shares of the pool.

A round without shares is one event, its rewards drawn as sufficient statistics, so a round of a
million arms or of a billion pulls costs a few array operations. Pulls with shares start when so
much of the pool is free and end at their own times.
"""

import heapq
import math
from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.problem import Problem
from paceline.core.rounds import NO_ARMS, NO_RESULTS, Conditions, Results, Round
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


class _Batch(NamedTuple):
    """Pulls that started together on equal shares, and so end together."""

    end: float
    number: int  # batches that end at the same time come back in the order they started
    start: float
    share: float
    arms: Ints
    pulls: Ints
    total: int


class SimulatedEngine:
    """Runs pulls of a problem in virtual time; `spans`, if given, records what ran when.

    >>> from paceline.core.problem import Bernoulli
    >>> from paceline.core.scaling import PowerLaw
    >>> engine = SimulatedEngine(Bernoulli([0.0, 1.0]), PowerLaw(0.5), np.random.default_rng(0))
    >>> engine.pursue(Round(np.array([0, 1]), np.array([8, 8])))
    >>> engine.wait(until=math.inf).sums, engine.now()
    (array([0., 8.]), 4.0)
    """

    def __init__(
        self,
        problem: Problem,
        scaling: Scaling,
        rng: np.random.Generator,
        spans: list[Span] | None = None,
    ) -> None:
        self.pulls = 0
        self.wasted = 0
        self._problem = problem
        self._scaling = scaling
        self._rng = rng
        self._spans = spans
        self._now = 0.0
        self._free = 1.0
        self._running: list[_Batch] = []
        self._queue: deque[Round] = deque()
        self._wanted = Round(NO_ARMS, NO_ARMS)
        self._ready: Ints | None = None  # finished, and not told while others are due
        self._drawn: Ints = np.zeros(problem.arms, dtype=np.int64)
        self._batches = 0
        self._known_seconds: dict[float, float] = {}

    def now(self) -> float:
        """The virtual seconds since the race began."""
        return self._now

    def pursue(self, wanted: Round) -> None:
        """Have exactly these pulls queued or running, besides those finished and not yet told."""
        self._wanted = wanted
        if self._ready is not None:
            kept = np.minimum(self._ready[wanted.arms], wanted.pulls)
            self.wasted += int(self._ready.sum() - kept.sum())
            self._ready[:] = 0
            self._ready[wanted.arms] = kept
            if int(kept.sum()) == wanted.total:
                return
            wanted = wanted.keeping(wanted.pulls - kept)
        if self._running or self._queue:
            wanted = self._reconcile(wanted)
        if wanted.arms.size:
            self._queue.append(wanted)
            self._fill()

    def wait(self, until: float) -> Results:
        """Move to the next completion, or to `until` if that is earlier."""
        while True:
            if self._due_is_ready():
                return self._tell_due()
            results = self._advance(until)
            if results is not None:
                return results

    def _advance(self, until: float) -> Results | None:
        """Let the next pulls finish; None if they have to wait for others that are due."""
        if not self._running or self._running[0].end > until * (1 + _SLACK):
            self._now = max(self._now, until) if math.isfinite(until) else self._now
            return replace(NO_RESULTS, last=self._wanted.until <= until)
        end = self._running[0].end
        self._now = min(end, until)
        finished = [heapq.heappop(self._running)]
        while self._running and self._running[0].end == end:
            finished.append(heapq.heappop(self._running))
        self.pulls += sum(batch.total for batch in finished)
        if self._wanted.due is None:
            results = _merge([self._finish(batch) for batch in finished])
            self._refill()
            return results
        for batch in finished:
            self._release(batch)
            if self._ready is None:
                self._ready = np.zeros(self._problem.arms, dtype=np.int64)
            self._ready[batch.arms] += batch.pulls
        self._refill()
        return None

    def _due_is_ready(self) -> bool:
        wanted = self._wanted
        if wanted.due is None or self._ready is None or not wanted.due.any():
            return False
        return bool((self._ready[wanted.arms] >= wanted.due).all())

    def _tell_due(self) -> Results:
        wanted = self._wanted
        assert wanted.due is not None
        assert self._ready is not None
        arms, pulls = wanted.arms, wanted.due
        if not pulls.all():
            arms, pulls = arms[pulls > 0], pulls[pulls > 0]
        self._ready[arms] -= pulls
        if not self._ready.any():
            self._ready = None
        return self._draw(arms, pulls)

    def conditions(self, rounds: int) -> Conditions:
        """The time; λ is known and stays."""
        return Conditions(self._now, self._scaling)

    def under_way(self) -> list[Span]:
        """What is running now, each span up to when it would end."""
        return [span for batch in self._running for span in _spans(batch, batch.end)]

    def _finish(self, batch: _Batch) -> Results:
        self._release(batch)
        return self._draw(batch.arms, batch.pulls)

    def _draw(self, arms: Ints, pulls: Ints) -> Results:
        if self._wanted.each and pulls.min() == pulls.max():
            return self._draw_each(arms, pulls)
        # Numbered when they finish: a cancelled pull then leaves no hole.
        first = self._drawn[arms] if self._problem.numbered else self._drawn
        sums, squares = self._problem.draw(arms, pulls, first, self._rng)
        if self._problem.numbered:
            self._drawn[arms] += pulls
        return Results(arms, pulls, sums, squares)

    def _draw_each(self, arms: Ints, pulls: Ints) -> Results:
        first, count = int(self._drawn[arms[0]]), int(pulls[0])
        values = self._problem.draw_each(arms, count, first, self._rng)
        self._drawn[arms] += pulls
        sums = values.sum(axis=1)
        spreads = ((values - sums[:, None] / count) ** 2).sum(axis=1)
        return Results(arms, pulls, sums, (values**2).sum(axis=1), spreads, values)

    def _release(self, batch: _Batch) -> None:
        """It has ended, or was cancelled."""
        self._free += batch.share * batch.total
        if self._spans is not None:
            self._spans.extend(_spans(batch, self._now))

    # Starting.

    def _refill(self) -> None:
        """Use what pulls have released."""
        if not self._running:
            self._free = 1.0  # forget the rounding
        self._fill()

    def _fill(self) -> None:
        """Start queued pulls, in order, as far as the pool is free."""
        while self._queue:
            head = self._queue[0]
            if head.share is None:
                if self._running:  # an even split is of the whole pool
                    return
                self._queue.popleft()
                self._start(head.arms, head.pulls, head.total, 1.0 / head.total)
            elif not self._start_some(head):
                return

    def _start_some(self, head: Round) -> bool:
        """Start the first pulls of a queued round with shares that fit; False if none does."""
        shares = head.share
        share = float(shares[0]) if isinstance(shares, np.ndarray) else float(shares or 0.0)
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
        end = self._now + seconds
        batch = _Batch(end, self._batches, self._now, share, arms, pulls, total)
        self._batches += 1
        heapq.heappush(self._running, batch)

    # Changing one's mind.

    def _reconcile(self, wanted: Round) -> Round:
        """Cancel what is no longer wanted; return what is wanted and not yet under way."""
        surplus = np.zeros(self._problem.arms, dtype=np.int64)
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
    """Whether 1/share is a whole number but for rounding: λ must be asked for exactly that."""
    return abs(together - round(together)) <= _SLACK * together


def _spans(batch: _Batch, end: float) -> list[Span]:
    each = zip(batch.arms.tolist(), batch.pulls.tolist(), strict=True)
    return [Span(arm, pulls, batch.share, batch.start, end) for arm, pulls in each]


def _merge(parts: list[Results]) -> Results:
    """Results of batches that ended together, each arm once."""
    if len(parts) == 1:
        return parts[0]
    arms, where = np.unique(np.concatenate([part.arms for part in parts]), return_inverse=True)

    def total(values: list[np.ndarray]) -> np.ndarray:
        return np.bincount(where, weights=np.concatenate(values), minlength=arms.size)

    return Results(
        arms,
        total([part.pulls for part in parts]).astype(np.int64),
        total([part.sums for part in parts]),
        total([part.squares for part in parts]),
    )
