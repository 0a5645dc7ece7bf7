"""How a race stands at one moment, and where each arm is."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["best", "in", "out", "failed"]


@dataclass(frozen=True)
class ArmRecord:
    """One arm: its values so far, and where it stands.

    `low` and `high` enclose its mean with the confidence of the race (0.95 if it has none), for all
    arms and at all times at once; they are −∞ and ∞ while nothing is known.
    """

    index: int
    label: str
    mean: float
    low: float
    high: float
    pulls: int
    status: Status
    seconds: float  # how long its pulls took
    failure: str = ""  # why it failed, if it did

    def to_json(self) -> dict[str, Any]:
        """Plain values; unknown numbers are None."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True, repr=False)
class Standing:
    """How a race stands at one moment: a snapshot that never changes.

    >>> behind = ArmRecord(0, "x=2", 0.41, 0.3, 0.52, 40, "out", 9.0)
    >>> ahead = ArmRecord(1, "x=4", 0.71, 0.58, 0.84, 56, "in", 12.5)
    >>> standing = Standing(12.4, None, 3, 96, 8, 8, (behind, ahead), minimize=False)
    >>> standing.ranked()[0].label
    'x=4'
    """

    elapsed: float  # seconds, as is the deadline
    deadline: float | None
    rounds: int
    pulls: int
    cores: int  # of the pool
    busy_cores: int
    arms: tuple[ArmRecord, ...]
    minimize: bool
    warnings: tuple[str, ...] = ()  # what looks wrong about the values, and what to do
    outlook: str = ""  # what keeps it, if it may still take very long
    # Seconds until it is decided: a median between the ends of a range that holds 4 of 5 times.
    remaining: tuple[float, float, float] | None = None
    notes: tuple[str, ...] = ()  # how it was resumed, or that nothing was run

    def ranked(self) -> list[ArmRecord]:
        """The arms still in, by their means, best first; then those out, then those that failed."""
        return ranked(self.arms, minimize=self.minimize)

    # A line, or a table: there may be a million arms. The modules that write them know this one.

    def __repr__(self) -> str:
        from paceline.story.brief import describe_standing

        return f"<Standing: {describe_standing(self)}>"

    def _repr_html_(self) -> str:
        from paceline.story.markup import of_standing

        return of_standing(self)


_PLACE: dict[Status, int] = {"best": 0, "in": 1, "out": 2, "failed": 3}


def ranked(arms: Sequence[ArmRecord], *, minimize: bool) -> list[ArmRecord]:
    """Arms by status, then by mean, the best first; those without a value last."""
    sign = 1.0 if minimize else -1.0

    def place(record: ArmRecord) -> tuple[int, bool, float]:
        unknown = record.mean != record.mean
        return _PLACE[record.status], unknown, 0.0 if unknown else sign * record.mean

    return sorted(arms, key=place)
