"""What interrupts the policy of a real race, and what it was told before."""

from dataclasses import dataclass
from typing import NamedTuple

from paceline.core.rounds import Conditions, Interruption
from paceline.pools.ledger import Snapshot


@dataclass(frozen=True)
class ArmsFailed(Interruption):
    """Pulls of these arms failed more often than allowed: the race goes on without them."""

    arms: tuple[int, ...]


@dataclass(frozen=True)
class NotAsAssumed(Interruption):
    """A value contradicts what is assumed about the noise."""


@dataclass(frozen=True)
class StopAsked(Interruption):
    """Somebody who heard of a result wants the race to stop."""


@dataclass(frozen=True)
class RecordsEnded(Interruption):
    """There are no workers, and everything recorded has been told."""


class PastRound(NamedTuple):
    """A past round: how the pool was then, and which pulls were back if it was cut off."""

    conditions: Conditions
    known: Snapshot | None
