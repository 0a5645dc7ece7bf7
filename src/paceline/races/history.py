"""What earlier sessions of a race left behind: a fold over its records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.rounds import Conditions
from paceline.journal.records import (
    ArmOut,
    PlanMade,
    RaceBegun,
    Record,
    RoundEnded,
    SessionBegun,
    Warned,
)
from paceline.pools.books import Books
from paceline.pools.interruptions import PastRound
from paceline.races.identity import needs_new_plan


@dataclass(frozen=True)
class Plan:
    """What a policy is started with, and the rounds that it was told of in earlier sessions."""

    made: PlanMade
    rounds: tuple[PastRound, ...] = ()

    @property
    def racing(self) -> Ints:
        """The arms that it races, by their numbers in the race."""
        return np.array(self.made.arms, dtype=np.int64)


RUNNING = "running"  # what a warning is about: pulls that could not be ended with the session


class History:
    """How far a race had come: its books, its plan, its warnings, and how long it ran."""

    def __init__(self, arms: int, sign: float, records: Sequence[Record] = ()) -> None:
        self.books = Books(arms, sign)
        self.elapsed = 0.0
        self.warnings: dict[str, str] = {}  # by what each is about
        self._made: PlanMade | None = None
        self._rounds: list[PastRound] = []
        self._options: dict[str, Any] = {}  # as recorded, of the last session
        for record in records:
            self.take(record)

    @property
    def plan(self) -> Plan | None:
        """The plan that the race was following; None if it has to be planned anew."""
        return None if self._made is None else Plan(self._made, tuple(self._rounds))

    def forget_plan(self) -> None:
        """Have the race planned anew."""
        self._made, self._rounds = None, []

    def take(self, record: Record) -> None:
        """Take a record into account."""
        self.books.take(record)
        self.elapsed = max(self.elapsed, getattr(record, "at", 0.0))
        if isinstance(record, PlanMade):
            self._made, self._rounds = record, []
        elif isinstance(record, RoundEnded):
            self._take_round(record)
        elif isinstance(record, ArmOut):
            self.forget_plan()  # the race goes on without that arm
        elif isinstance(record, Warned):
            self.warnings[record.about] = record.text
        elif isinstance(record, RaceBegun):
            self._options = record.problem | record.options
        elif isinstance(record, SessionBegun):
            self._forgive()
            self.warnings.pop(RUNNING, None)
            options = self._options | record.options
            if needs_new_plan(self._options, options):
                self.forget_plan()
            self._options = options

    def _take_round(self, record: RoundEnded) -> None:
        if self._made is None:  # a round of the first pulls, before there was a plan
            return
        before = self._rounds[-1].conditions if self._rounds else None
        pool = record.pool or (before.scaling if before else self._made.pool)
        delays = record.delays or (before.delays if before else self._made.delays)
        costs = record.costs
        if costs is None:
            costs = before.costs if before else ()
        elif len(costs) != len(self._made.arms):  # of other arms: they say nothing
            costs = ()
        known = self.books.ledger.snapshot() if record.boxed else None
        self._rounds.append(PastRound(Conditions(record.seconds, pool, delays, costs), known))

    def _forgive(self) -> None:
        """If failures stopped the race, whoever resumes it has fixed them: all arms are in."""
        attempts, arms = self.books.attempts, len(self.books.arm_seconds)
        stops = self._options.get("on_failure") == "stop"
        if attempts.out and (stops or len(attempts.out) == arms):
            attempts.forgive()
            self.forget_plan()
