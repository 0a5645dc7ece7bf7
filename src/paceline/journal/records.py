"""What is recorded of a race: a type per kind of line in its journal.

Whatever is told of a race, while it runs or afterwards, is a fold over these. What is not recorded
did not happen. `at` is in seconds of the race, without the time that it was interrupted for.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

from paceline.core.delays import Delays
from paceline.core.noise import Noise
from paceline.core.noise.catalog import from_json as read_noise
from paceline.core.pool import CorePool
from paceline.engines.jobs import Run
from paceline.errors import InvalidInput

FORMAT = 2  # a checksum in every line; `spent` records
READABLE = (1, FORMAT)


@dataclass(frozen=True)
class Record:
    """One line of a journal. Fields with a default are written only if they have another value."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which `from_json` makes an equal record."""
        plain: dict[str, Any] = {"kind": self.kind}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.default is MISSING or value != one.default:
                write = one.metadata.get("write")
                plain[one.name] = value if write is None or value is None else write(value)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The record of a line; what it has beyond the fields, a later version may have written."""
        given: dict[str, Any] = {}
        for one in fields(cls):
            if one.name in plain:
                value, read = plain[one.name], one.metadata.get("read")
                given[one.name] = value if read is None or value is None else read(value)
        return cls(**given)


def _coded(
    write: Callable[[Any], Any] | None, read: Callable[[Any], Any], default: Any = MISSING
) -> Any:
    """A field that is no plain value: how it is written, and read again."""
    return field(default=default, metadata={"write": write, "read": read})


def _runs(plain: list[list[int]]) -> tuple[Run, ...]:
    return tuple(Run(*(int(number) for number in run)) for run in plain)


def _options(plain: dict[str, Any]) -> dict[str, Any]:
    """How the race was run; the first format wrote some options otherwise."""
    if "moment" not in plain:
        return plain
    old = dict(plain)
    moment, seconds, pool, shape = (old.pop(one) for one in ("moment", "deadline", "pool", "shape"))
    deadline = None if seconds is None else {"seconds": seconds, "moment": moment}
    scaling = {"pool": pool} if pool else {"shape": shape} if shape else None
    if old["cores_per_pull"] == [1, old["cores"]]:
        old["cores_per_pull"] = None  # as it is where nothing was said
    return old | {"deadline": deadline, "scaling": scaling, "engine": "local"}


@dataclass(frozen=True)
class RaceBegun(Record):
    """The first line: what the race is, which must not change, and how it was to be run."""

    kind = "race"
    format: int
    problem: dict[str, Any]
    options: dict[str, Any] = _coded(None, _options)
    labels: tuple[str, ...] = _coded(list, tuple)
    started: str = ""
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionBegun(Record):
    """A process began the race, or took it up again: where, and under which options."""

    kind = "session"
    at: float
    options: dict[str, Any] = _coded(None, _options)
    cores: int = 0  # of the pool; 0 in the first format, where the options have them
    started: str = ""
    host: str = ""
    process: int = 0


@dataclass(frozen=True)
class PullsReturned(Record):
    """Pulls gave values: those of each run in the order of its pulls, one run after the other."""

    kind = "results"
    at: float
    cores: int
    pulls: tuple[Run, ...] = _coded(None, _runs)
    values: list[float]
    seconds: list[float]


@dataclass(frozen=True)
class TimeSpent(Record):
    """So many cores were in use for so long without a value: a pull failed or was ended."""

    kind = "spent"
    at: float
    cores: int
    seconds: float
    arm: int
    why: str  # "failed", "cancelled", "lost" or "unfinished"


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


@dataclass(frozen=True)
class ArmOut(Record):
    """An arm is out of the race, because its pulls failed more often than is allowed."""

    kind = "out"
    at: float
    arm: int


@dataclass(frozen=True)
class PlanMade(Record):
    """A policy was started: on which arms, by which λ and noise, until when on its own clock."""

    kind = "plan"
    arms: tuple[int, ...] = _coded(list, tuple)
    pool: CorePool = _coded(CorePool.to_json, CorePool.from_json)
    noise: Noise = _coded(Noise.to_json, read_noise)
    deadline: float | None
    shift: float  # by how much the policy's clock is behind the race's
    delays: Delays | None = _coded(Delays.to_json, Delays.from_json, default=None)


@dataclass(frozen=True)
class RoundEnded(Record):
    """A round was complete: the policy's time then, and λ and delays if they had changed."""

    kind = "round"
    at: float
    seconds: float
    pool: CorePool | None = _coded(CorePool.to_json, CorePool.from_json, default=None)
    delays: Delays | None = _coded(Delays.to_json, Delays.from_json, default=None)
    boxed: bool = False  # whether it ended with what was back by then


@dataclass(frozen=True)
class Warned(Record):
    """Something looked wrong: of which kind, and in words."""

    kind = "warning"
    at: float
    about: str
    text: str


@dataclass(frozen=True)
class RaceEnded(Record):
    """The race came to an end, which a higher cap or a later deadline may reopen."""

    kind = "ending"
    at: float
    verdict: str
    decided: bool
    confidence: float | None
    arms: tuple[int, ...] = _coded(list, tuple)
    index: int


_KINDS: dict[str, type[Record]] = {
    one.kind: one
    for one in (
        RaceBegun,
        SessionBegun,
        PullsReturned,
        TimeSpent,
        PullFailed,
        ArmOut,
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
            f"a record of the kind {plain['kind']!r} is unknown: a later paceline wrote it"
        )
    return kind.from_json(plain)
