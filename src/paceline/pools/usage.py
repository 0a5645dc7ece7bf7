"""What cores were used for: a fold over the records of a race, in columns that stay small."""

from array import array
from collections.abc import Sequence
from itertools import repeat

import numpy as np

from paceline.core.arrays import Ints
from paceline.journal.records import (
    ManyReturned,
    PoolResized,
    PullsReturned,
    Record,
    SessionBegun,
    TimeSpent,
)
from paceline.story.timeline import USES, Timeline
from paceline.story.values import SeedsOf, Values

_COUNTED, _AHEAD, _BACKUPS, _CANCELLED, _FAILED, _STARTING = range(len(USES))
_WHY = {
    "failed": _FAILED,
    "lost": _FAILED,
    "cancelled": _CANCELLED,
    "unfinished": _CANCELLED,
    "backup": _BACKUPS,
    "starting": _STARTING,
}


class Usage:
    """Notes who used which cores and when; whether a value counts is known only later."""

    def __init__(self) -> None:
        self._arms = array("i")
        self._firsts = array("q")
        self._pulls = array("i")
        self._cores = array("i")
        self._ends = array("d")
        self._seconds = array("d")
        self._uses = array("b")
        self._values = array("d")  # of all pulls that gave one, and the seconds of each
        self._each = array("d")
        self._pool: list[tuple[float, int]] = []

    def take(self, record: Record) -> None:
        """Take a record into account."""
        if isinstance(record, PullsReturned):
            self._values.extend(record.values)
            self._each.extend(record.seconds)
        if isinstance(record, ManyReturned):
            self._take_many(record)
        elif isinstance(record, PullsReturned):
            self._take_values(record)
        elif isinstance(record, TimeSpent):
            use = _WHY.get(record.why, _FAILED)
            self._add(record.arm, -1, 1, record.cores, record.at, record.seconds, use)
        elif isinstance(record, PoolResized):
            self._size(record.at, sum(record.nodes))
        elif isinstance(record, SessionBegun):
            self._size(record.at, record.cores or record.options.get("cores") or 0)

    def _size(self, at: float, cores: int) -> None:
        if self._pool[-1:] != [(at, cores)]:  # a new session is heard of twice
            self._pool.append((at, cores))

    def _take_values(self, record: PullsReturned) -> None:
        """The pulls of a job came one after the other, the last of them just now."""
        seconds, done = record.seconds, 0
        if len(record.pulls) == 1:
            (arm, first, pulls), total = record.pulls[0], sum(seconds)
            self._add(arm, first, pulls, record.cores, record.at, total, _COUNTED)
            return
        begun = record.at - sum(seconds)
        for arm, first, pulls in record.pulls:
            total = sum(seconds[done : done + pulls])
            begun += total
            self._add(arm, first, pulls, record.cores, begun, total, _COUNTED)
            done += pulls

    def _take_many(self, record: ManyReturned) -> None:
        count = len(record.pulls)
        self._arms.extend(record.arms)
        self._firsts.extend(record.firsts)
        self._pulls.extend(repeat(1, count))
        self._cores.extend(repeat(record.cores, count))
        self._ends.extend(record.moments)
        self._seconds.extend(record.seconds)
        self._uses.extend(repeat(_COUNTED, count))

    def _add(
        self, arm: int, first: int, pulls: int, cores: int, end: float, seconds: float, use: int
    ) -> None:
        self._arms.append(arm)
        self._firsts.append(first)
        self._pulls.append(pulls)
        self._cores.append(cores)
        self._ends.append(end)
        self._seconds.append(seconds)
        self._uses.append(use)

    def values(self, seeds: SeedsOf) -> Values:
        """A row per pull that gave a value, in the order of the record."""
        firsts, counts = np.array(self._firsts, dtype=np.int64), np.array(self._pulls)
        spans = np.flatnonzero(firsts >= 0)
        pulls = counts[spans].astype(np.int64)
        each, ends = np.array(self._each), np.cumsum(pulls)
        # Within a span, a pull ended before the ones after it began.
        place = np.arange(each.size) - np.repeat(ends - pulls, pulls)
        sums = np.cumsum(each)
        after = np.repeat(sums[ends - 1], pulls) - sums if spans.size else each
        return Values(
            np.repeat(np.array(self._arms, dtype=np.int64)[spans], pulls),
            np.repeat(firsts[spans], pulls) + place,
            np.array(self._values),
            each,
            np.repeat(np.array(self._cores, dtype=np.int64)[spans], pulls),
            np.repeat(np.array(self._ends)[spans], pulls) - after,
            seeds,
        )

    def timeline(self, asked_until: Ints, failed: Sequence[int], elapsed: float) -> Timeline:
        """All of it by now. Of each arm, the pulls below `asked_until` were asked for by rounds."""
        arm, first = np.array(self._arms, dtype=np.int64), np.array(self._firsts, dtype=np.int64)
        use = np.array(self._uses, dtype=np.int64)
        has_values = use == _COUNTED
        use[has_values & (first >= asked_until[arm])] = _AHEAD
        use[has_values & np.isin(arm, failed)] = _FAILED
        return Timeline(
            arm,
            first,
            np.array(self._pulls, dtype=np.int64),
            np.array(self._cores, dtype=np.int64),
            np.array(self._ends),
            np.array(self._seconds),
            use,
            tuple(self._pool),
            elapsed,
        )
