"""What is recorded of a race: a type per kind of line in its journal.

Everything reported about a race, while it runs or afterwards, is a fold over these. What is not
recorded did not happen. `at` is in seconds of the race; time while it was interrupted is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self, get_type_hints

from paceline.errors import InvalidInput
from paceline.journal.coding import (
    PLAIN,
    AnyNoise,
    Arms,
    Coded,
    Labels,
    MaybeCosts,
    MaybeDelays,
    MaybePool,
    Nodes,
    Options,
    Pool,
    Runs,
    Texts,
)

FORMAT = 2  # added a checksum to every line, and `spent` records
READABLE = (1, FORMAT)


@dataclass(frozen=True)
class Record:
    """One line of a journal. A field with a default is written only if its value differs."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which `from_json` makes an equal record."""
        plain: dict[str, Any] = {"kind": self.kind}
        for name, default, coded in _fields(self.kind):
            value = getattr(self, name)
            if default is MISSING or value != default:
                plain[name] = None if value is None else coded.write(value)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The record of a line; unknown keys are ignored, for a later version may have them."""
        return cls(
            **{
                name: None if plain[name] is None else coded.read(plain[name])
                for name, _, coded in _fields(cls.kind)
                if name in plain
            }
        )


@cache
def _fields(kind: str) -> list[tuple[str, Any, Coded]]:
    """The fields of a kind of record, with their defaults and how they are coded."""
    record = _KINDS[kind]
    hints = get_type_hints(record, include_extras=True)
    return [
        (one.name, one.default, (*getattr(hints[one.name], "__metadata__", ()), PLAIN)[0])
        for one in fields(record)
    ]


@dataclass(frozen=True)
class RaceBegun(Record):
    """The first line: what the race is, which must not change, and how it was to be run."""

    kind = "race"
    format: int
    problem: dict[str, Any]
    options: Options
    labels: Labels
    started: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    parameters: list[dict[str, Any]] | None = None  # of the arms of a function, if they have names


@dataclass(frozen=True)
class SessionBegun(Record):
    """A process began or resumed the race: where, and with which options."""

    kind = "session"
    at: float
    options: Options
    cores: int = 0  # of the pool; 0 in the first format, where the options have them
    nodes: Nodes = ()  # the cores of each, if there are several
    started: str = ""
    host: str = ""
    process: int = 0
    work: dict[str, Any] | None = None  # what was raced from then on, if a change was accepted


@dataclass(frozen=True)
class PoolResized(Record):
    """Nodes came or went: the cores of each from then on, 0 for one that is gone."""

    kind = "pool"
    at: float
    nodes: Nodes
    why: str = ""


@dataclass(frozen=True)
class PullsReturned(Record):
    """Pulls gave values, which are listed run by run, in the order of the pulls of each run."""

    kind = "results"
    at: float
    cores: int
    pulls: Runs
    values: list[float]
    seconds: list[float]


@dataclass(frozen=True)
class ManyReturned(PullsReturned):
    """Several lines of one pull each, read as one record: the arm, number and time of each."""

    arms: Sequence[int] = ()
    firsts: Sequence[int] = ()
    moments: Sequence[float] = ()


@dataclass(frozen=True)
class TimeSpent(Record):
    """Cores were in use without giving a value: a pull failed or was ended, or a worker loaded."""

    kind = "spent"
    at: float
    cores: int
    seconds: float
    arm: int
    why: str  # "failed", "lost", "cancelled", "unfinished", "backup" or "starting"


@dataclass(frozen=True)
class PullsLost(Record):
    """The pulls of a job gave no value, and their arms are not charged: they are done again."""

    kind = "lost"
    at: float
    pulls: Runs
    what: str  # "machine", "killed", "shortage" or "died after others"
    message: str


@dataclass(frozen=True)
class PullFailed(Record):
    """A pull failed, for the `attempt`-th time."""

    kind = "failure"
    at: float
    arm: int
    pull: int
    attempt: int
    what: str
    message: str
    detail: str
    printed: str = ""


@dataclass(frozen=True)
class PullsPrinted(Record):
    """What pulls printed that gave values: arm, number and text of each; nobody acts on it.

    Of the arms in `cut`, no more is kept.
    """

    kind = "printed"
    at: float
    pulls: Texts
    cut: Arms = ()


@dataclass(frozen=True)
class ArmOut(Record):
    """An arm is out of the race, because its pulls failed more often than allowed."""

    kind = "out"
    at: float
    arm: int


@dataclass(frozen=True)
class FieldChanged(Record):
    """The policy put arms out of the race, or took some back in."""

    kind = "field"
    at: float
    out: Arms = ()
    back: Arms = ()


@dataclass(frozen=True)
class PlanMade(Record):
    """A policy was started: its arms, λ, the noise, and the deadline on its own clock."""

    kind = "plan"
    arms: Arms
    pool: Pool
    noise: AnyNoise
    deadline: float | None
    shift: float  # by how much the policy's clock is behind the race's
    delays: MaybeDelays = None


@dataclass(frozen=True)
class RoundEnded(Record):
    """A round was complete: the policy's time then; λ, delays and costs if they had changed."""

    kind = "round"
    at: float
    seconds: float
    pool: MaybePool = None
    delays: MaybeDelays = None
    boxed: bool = False  # whether it ended with what was back by then
    costs: MaybeCosts = None  # of the arms in the plan; empty if they turned out to be alike


@dataclass(frozen=True)
class Warned(Record):
    """Something looked wrong: what it is about, and in words."""

    kind = "warning"
    at: float
    about: str
    text: str


@dataclass(frozen=True)
class RaceEnded(Record):
    """The race ended; a higher cap, a later deadline or a stricter goal may reopen it."""

    kind = "ending"
    at: float
    verdict: str
    decided: bool
    confidence: float | None
    arms: Arms
    index: int
    ended: str = ""  # when, by the calendar; not in older journals


_KINDS: dict[str, type[Record]] = {
    one.kind: one
    for one in (
        RaceBegun,
        SessionBegun,
        PoolResized,
        PullsReturned,
        TimeSpent,
        PullsLost,
        PullFailed,
        PullsPrinted,
        ArmOut,
        FieldChanged,
        PlanMade,
        RoundEnded,
        Warned,
        RaceEnded,
    )
}


def record_of(plain: Mapping[str, Any]) -> Record:
    """The record of a line of a journal.

    >>> record_of({"kind": "out", "at": 2.5, "arm": 3})
    ArmOut(at=2.5, arm=3)
    """
    kind = _KINDS.get(plain["kind"])
    if kind is None:
        raise InvalidInput(
            f"unknown kind of record {plain['kind']!r}: a later version of paceline wrote it"
        )
    return kind.from_json(plain)
