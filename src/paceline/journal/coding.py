"""How the fields of records are written and read that are not plain values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from paceline.core.delays import Delays
from paceline.core.noise import Noise
from paceline.core.noise.catalog import from_json as read_noise
from paceline.core.pool import CorePool
from paceline.engines.jobs import Run


@dataclass(frozen=True)
class Coded:
    """How a field that is not a plain value is written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _runs(plain: list[list[int]]) -> tuple[Run, ...]:
    return tuple(Run(*run) for run in plain)


def _texts(plain: list[list[Any]]) -> tuple[tuple[int, int, str], ...]:
    return tuple((arm, number, text) for arm, number, text in plain)


def _options(plain: dict[str, Any]) -> dict[str, Any]:
    """How the race was run; format 1 wrote some options differently."""
    if "moment" not in plain:
        return plain
    old = dict(plain)
    moment, seconds, pool, shape = (old.pop(one) for one in ("moment", "deadline", "pool", "shape"))
    deadline = None if seconds is None else {"seconds": seconds, "moment": moment}
    scaling = {"pool": pool} if pool else {"shape": shape} if shape else None
    if old["cores_per_pull"] == [1, old["cores"]]:
        old["cores_per_pull"] = None  # as if the user gave none
    return old | {"deadline": deadline, "scaling": scaling, "engine": "local"}


PLAIN = Coded(lambda value: value, lambda plain: plain)
Arms = Annotated[tuple[int, ...], Coded(list, tuple)]
Labels = Annotated[tuple[str, ...], Coded(list, tuple)]
Runs = Annotated[tuple[Run, ...], Coded(list, _runs)]
Nodes = Annotated[tuple[int, ...], Coded(list, tuple)]
Texts = Annotated[tuple[tuple[int, int, str], ...], Coded(list, _texts)]
Options = Annotated[dict[str, Any], Coded(dict, _options)]
Pool = Annotated[CorePool, Coded(CorePool.to_json, CorePool.from_json)]
MaybePool = Annotated[CorePool | None, Coded(CorePool.to_json, CorePool.from_json)]
MaybeDelays = Annotated[Delays | None, Coded(Delays.to_json, Delays.from_json)]
MaybeCosts = Annotated[tuple[float, ...] | None, Coded(list, tuple)]
AnyNoise = Annotated[Noise, Coded(Noise.to_json, read_noise)]
