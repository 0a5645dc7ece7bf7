"""How a race stands, and how it ended: what `paceline.race` returns and callbacks are given."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from paceline.core.pool import CorePool
from paceline.errors import MissingExtra

Status = Literal["best", "in", "out", "failed"]


@dataclass(frozen=True)
class ArmRecord:
    """One arm: its values so far, and where it stands.

    `low` and `high` enclose its mean, for all arms at all times at once, with the confidence of the
    race (0.95 if it has none); −∞ and ∞ while nothing can be said.
    """

    index: int
    label: str
    mean: float
    low: float
    high: float
    pulls: int
    status: Status
    seconds: float  # that its pulls took
    failure: str = ""  # why it failed, if it did

    def to_json(self) -> dict[str, Any]:
        """Plain values; numbers that are unknown are None."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Standing:
    """A race under way."""

    elapsed: float
    deadline: float | None
    rounds: int
    pulls: int
    cores: int
    busy_cores: int
    arms: tuple[ArmRecord, ...]
    minimize: bool
    warnings: tuple[str, ...] = ()  # what looks wrong
    outlook: str = ""  # how long it may still take, if that is very long

    def ranked(self) -> list[ArmRecord]:
        """The arms still in by their means, the best first; then those out, then those failed."""
        return ranked(self.arms, minimize=self.minimize)


@dataclass(frozen=True, eq=False)
class Result:
    """How a race ended. While it is undecided, `best` is the arm in the lead.

    If not one pull gave a value, `best` is None and `index` is −1.
    """

    best: Any
    index: int
    decided: bool
    verdict: str  # in a sentence
    # What is guaranteed; None where nothing is. If a deadline came before the confidence that was
    # asked for, the highest at which the race would have been decided by then: it is no chance of
    # this answer to be right, since it was chosen by the values (see docs/noise.md).
    confidence: float | None
    chosen: tuple[int, ...]  # with `top`, all of the best; else (index,)
    still_in: tuple[int, ...]  # the arms among which it is undecided; none where it is decided
    arms: tuple[ArmRecord, ...]
    elapsed: float
    core_seconds: float  # of all pulls, also those that were cancelled
    pulls: int
    rounds: int
    cores: int
    scaling: CorePool | None  # as given, or as learned; None if the race ended too early for that
    assumed: str  # about the noise
    failures: tuple[str, ...]  # what went wrong, also where a retry helped
    minimize: bool
    journal: str | None
    warnings: tuple[str, ...] = ()  # what looks wrong about the values, and what to do

    def to_frame(self) -> Any:
        """The arms as a pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra(
                "to_frame needs pandas: pip install pandas, or use result.arms"
            ) from None
        return pandas.DataFrame([asdict(record) for record in self.arms])

    def ranked(self) -> list[ArmRecord]:
        """The arms, the best first."""
        return ranked(self.arms, minimize=self.minimize)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for scripts; numbers that are unknown are None."""
        arms = [record.to_json() for record in self.arms]
        return {
            "best": self.arms[self.index].label if self.index >= 0 else None,
            "index": self.index,
            "decided": self.decided,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "chosen": list(self.chosen),
            "still_in": list(self.still_in),
            "arms": arms,
            "elapsed": self.elapsed,
            "core_seconds": self.core_seconds,
            "pulls": self.pulls,
            "rounds": self.rounds,
            "assumed": self.assumed,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "journal": self.journal,
        }

    def __str__(self) -> str:
        return self.verdict


_PLACE: dict[Status, int] = {"best": 0, "in": 1, "out": 2, "failed": 3}


def ranked(arms: Sequence[ArmRecord], *, minimize: bool) -> list[ArmRecord]:
    """Arms by status, then by mean, the best first; those without a value last."""
    sign = 1.0 if minimize else -1.0

    def place(record: ArmRecord) -> tuple[int, bool, float]:
        unknown = record.mean != record.mean
        return _PLACE[record.status], unknown, 0.0 if unknown else sign * record.mean

    return sorted(arms, key=place)
