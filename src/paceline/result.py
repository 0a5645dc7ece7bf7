"""How a race stands, and how it ended: what `paceline.race` returns and callbacks are given."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from paceline.characters import visible
from paceline.core.pool import CorePool
from paceline.errors import MissingExtra
from paceline.timeline import CoreTime, Timeline

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


@dataclass(frozen=True)
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
    outlook: str = ""  # how long it may still take, if that is very long
    notes: tuple[str, ...] = ()  # how it was resumed, or that nothing was run

    def ranked(self) -> list[ArmRecord]:
        """The arms still in, by their means, best first; then those out, then those that failed."""
        return ranked(self.arms, minimize=self.minimize)


@dataclass(frozen=True, eq=False)
class Result:
    """How a race ended. If it is undecided, `best` is the arm in the lead.

    If no pull gave a value, `best` is None and `index` is −1. What a race under way also has
    (`arms`, `elapsed`, `pulls` …) is in `standing`, the last snapshot, and available here as well.
    """

    best: Any
    index: int
    decided: bool
    verdict: str  # in a sentence
    # What is guaranteed; None if nothing is. If a deadline came before the confidence asked for, it
    # is the highest at which the race would have been decided by then. That is not the probability
    # that this answer is right, since the values chose it (see docs/noise.md).
    confidence: float | None
    chosen: tuple[int, ...]  # with `top`, all of the best; else (index,)
    still_in: tuple[int, ...]  # the arms among which it is undecided; none if it is decided
    standing: Standing  # at the end
    core_seconds: float  # of all pulls, also those that were cancelled
    scaling: CorePool | None  # as given, or as learned; None if the race ended too early to learn
    assumed: str  # about the noise
    failures: tuple[str, ...]  # what went wrong, also if a retry helped
    timeline: Timeline  # what every core was used for, and when
    journal: str | None

    @property
    def arms(self) -> tuple[ArmRecord, ...]:
        """A record per arm, in the order in which the arms were given."""
        return self.standing.arms

    @property
    def elapsed(self) -> float:
        """How many seconds the race ran."""
        return self.standing.elapsed

    @property
    def pulls(self) -> int:
        """How many pulls gave a value."""
        return self.standing.pulls

    @property
    def rounds(self) -> int:
        """How many rounds the policy asked for."""
        return self.standing.rounds

    @property
    def cores(self) -> int:
        """The cores of the pool."""
        return self.standing.cores

    @property
    def minimize(self) -> bool:
        """Whether the lowest mean is the best."""
        return self.standing.minimize

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong about the values, and what to do."""
        return self.standing.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """With which changes the race was resumed; or that it had ended, and nothing was run."""
        return self.standing.notes

    @property
    def core_time(self) -> CoreTime:
        """How the time of the pool's cores was spent."""
        return self.timeline.core_time()

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
        return self.standing.ranked()

    def to_json(self) -> dict[str, Any]:
        """Plain values, for scripts; unknown numbers are None."""
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
            "core_time": self.core_time.to_json(),
            "pulls": self.pulls,
            "rounds": self.rounds,
            "assumed": self.assumed,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "journal": self.journal,
        }

    def __str__(self) -> str:
        return visible(self.verdict)


_PLACE: dict[Status, int] = {"best": 0, "in": 1, "out": 2, "failed": 3}


def ranked(arms: Sequence[ArmRecord], *, minimize: bool) -> list[ArmRecord]:
    """Arms by status, then by mean, the best first; those without a value last."""
    sign = 1.0 if minimize else -1.0

    def place(record: ArmRecord) -> tuple[int, bool, float]:
        unknown = record.mean != record.mean
        return _PLACE[record.status], unknown, 0.0 if unknown else sign * record.mean

    return sorted(arms, key=place)
