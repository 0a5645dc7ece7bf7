"""The pools that a plan compares, each with its λ in seconds."""

import math
from collections.abc import Sequence
from typing import Any

from paceline.core.arrays import whole
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.durations import seconds_of
from paceline.errors import InvalidInput, seen
from paceline.races.settings import Settings

Pools = list[tuple[int | None, Scaling]]
HOW_LONG = (
    "say how long pulls take: pull='30s' for pulls on one core each; or scaling=, as "
    "paceline.profile measures it; or pilot='30s', which runs the first pulls of the race"
)


def sizes_of(cores: Any) -> list[int]:
    """The pools to compare, smallest first.

    >>> sizes_of([4, 1, 2]), sizes_of(8), sizes_of(None)
    ([1, 2, 4], [8], [])
    """
    return sorted({whole(one, "cores") for one in several(cores)})


def several(values: Any) -> list[Any]:
    """A list of what may be one value, or none."""
    if values is None:
        return []
    return list(values) if isinstance(values, list | tuple | range) else [values]


def given_scaling(scaling: Any, pull: Any, sizes: Sequence[int]) -> Scaling | None:
    """The scaling for the largest of these pools, as a race takes it; None if nothing is known.

    A pull of known length and no scaling stands for pulls that run on one core each.
    """
    if scaling is not None and not isinstance(scaling, Scaling):
        raise InvalidInput(f"scaling must be a Scaling such as PowerLaw(0.5), got {seen(scaling)}")
    if not sizes:
        return scaling
    most = sizes[-1]
    if scaling is None:
        return None if pull is None else CorePool(most, lambda _: seconds_of(pull, "pull"))
    return resized(scaling, most) if isinstance(scaling, CorePool) else scaling


def pools_of(settings: Settings, pull: Any, sizes: Sequence[int]) -> Pools:
    """The pools of these sizes for a race that was checked; by default the one that it has."""
    pool = settings.pool
    if pull is not None:
        known = pool or settings.shape
        if known is None:
            known = settings.rules.pool(lambda _: 1.0)
        pool = in_seconds(known, seconds_of(pull, "pull"))
    if pool is None:
        if settings.shape is None:
            raise InvalidInput(HOW_LONG)
        raise InvalidInput(
            f"{settings.options['scaling']} says how pulls scale, not how long one takes: give "
            "pull=, the time of a pull on the fewest cores it may have"
        )
    return [(size, resized(pool, size)) for size in sizes or [pool.cores]]


def resized(pool: CorePool, cores: int) -> CorePool:
    """The pool with another number of cores. No pull gets more of them than are known to help.

    >>> resized(CorePool(2, {1: 3.0, 2: 2.0}), 8).seconds(4)
    2.0
    """
    if cores == pool.cores:
        return pool
    table = pool.runtime_seconds
    if not math.isfinite(table[min(cores, table.size) - 1]):
        least = 1 + int((table == math.inf).sum())
        raise InvalidInput(f"a pull needs {least} cores: leave cores={cores} out")
    return CorePool(cores, lambda count: float(table[min(count, table.size) - 1]))


def in_seconds(pool: CorePool, pull: float) -> CorePool:
    """The same pool, scaled so that a pull takes `pull` on the fewest cores it may have.

    >>> in_seconds(CorePool(2, {1: 3.0, 2: 2.0}), 30.0).runtime_seconds
    array([30., 20.])
    """
    table = pool.runtime_seconds
    return slowed(pool, pull / float(table[table < math.inf][0]))


def slowed(pool: CorePool, factor: float) -> CorePool:
    """The same pool, on which all pulls take `factor` times as long."""
    table = pool.runtime_seconds
    return CorePool(pool.cores, lambda cores: factor * float(table[cores - 1]), pool.nodes)
