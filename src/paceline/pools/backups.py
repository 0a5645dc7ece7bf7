"""Backups: a pull that takes far too long is started once more, elsewhere.

It has the same seed, so whichever of the two ends first gives the same value: nothing is assumed.
If the machine made the pull slow, the wait for it is over sooner. If its seed did, both are slow,
the first one wins, and soon no more backups are started.
"""

import math

from paceline.pools.assignments import Assignment, Assignments
from paceline.pools.backlog import Backlog

_TIMES_EXPECTED = 2.0  # a straggler of ten times the usual is noticed early, few others are
_MOST_OF_POOL = 0.5  # that slow pulls and their backups may have: one that hangs must not take all
_WORTH_SECONDS = 0.1  # what is over before that was not slow
_TRUST = 2  # backups count as won before any was tried, and
_LOST_PER_WON = 4  # that many may lose for each that wins


class Backups:
    """Decides which pull to start once more; `won` and `lost` count how backups ended."""

    def __init__(self, assignments: Assignments, backlog: Backlog, *, allowed: bool) -> None:
        self.allowed = allowed
        self.won = 0
        self.lost = 0
        self._assignments = assignments
        self._backlog = backlog

    def next(self) -> Assignment | None:
        """The pull to start once more now, if there is one."""
        if not self.allowed or self.lost >= _LOST_PER_WON * (self.won + _TRUST):
            return None
        late, now = self._assignments.late(), self._assignments.now()
        slow = [one for one in late if self._is_slow(one, now)]
        if not slow:
            return None
        one = min(slow, key=lambda one: one.began)
        twins = {other.twin for other in late if other.twin is not None}
        held = {*slow, *twins, *(twin.twin for twin in twins if twin.twin is not None)}
        cores = one.job.cores + sum(other.job.cores for other in held)
        # On two cores half of the pool is no room for a backup. A single one may have the other
        # core: it gives way as soon as something else is to be done.
        fits = cores <= _MOST_OF_POOL * self._assignments.cores or held == {one}
        return one if fits else None

    def next_moment(self) -> float:
        """When a pull that is late by now will be slow enough."""
        if not self.allowed:
            return math.inf
        late, now = self._assignments.late(), self._assignments.now()
        moments = (_slow_at(one) for one in late if not one.has_backup)
        return min((moment + 0.001 for moment in moments if moment >= now), default=math.inf)

    def ended(self, first: Assignment) -> None:
        """One of two that did the same pull was first."""
        if first.is_backup:
            self.won += 1
        else:
            self.lost += 1

    def _is_slow(self, one: Assignment, now: float) -> bool:
        again = one.is_backup or one.has_backup
        if again or one.is_ending or one.loading:
            return False
        if now < _slow_at(one):
            return False
        return [run.pulls for run in one.left] == [1] and self._backlog.is_wanted(one.left[0])


def _slow_at(one: Assignment) -> float:
    return one.began + max(_TIMES_EXPECTED * one.expected, _WORTH_SECONDS)
