"""What a race may have of the machine or the cluster: the rules of its pool."""

import math
from collections.abc import Mapping
from typing import Any

from paceline.errors import InvalidInput
from paceline.machine import AvailableCores
from paceline.pools.room import Asked
from paceline.pools.rules import Rules

RECORDED = "as recorded"  # the source of cores that a journal tells of


def rules_of(options: Mapping[str, Any], available: AvailableCores) -> Rules:
    """The pool that these checked options ask for, and what a pull may have of it."""
    unit, is_recorded = options["unit"], available.source == RECORDED
    nodes = _recorded(options, available) if is_recorded else _nodes(options, available)
    per_pull = options["cores_per_pull"] or available.per_pull
    if available.per_pull not in (None, per_pull):
        raise InvalidInput(
            f"cores_per_pull={per_pull}, but every pull has {available.per_pull} here "
            f"({available.source}): leave it out"
        )
    least, most = per_pull if isinstance(per_pull, tuple) else (per_pull or 1, per_pull)
    memory_of_pull, at_once = options["memory_per_pull"], options["at_once"]
    asked = Asked(options["cores"], least, most, memory_of_pull, at_once)
    memory = () if is_recorded else _memory(asked, nodes, available)
    room = asked.room(nodes, memory)
    pool = sum(room.nodes)
    if not pool or least > max(room.nodes):
        raise _too_small(asked, nodes, memory, available, unit)
    timeout = math.inf if options["timeout"] is None else options["timeout"]
    return Rules(
        cores=pool,
        least_cores=room.least,
        most_cores=room.most,
        nodes=room.nodes if available.nodes or len(room.nodes) > 1 else (),
        asked=asked,
        retries=options["retries"],
        timeout=timeout,
        keeps_prints=options["keep_prints"],
    )


def _recorded(options: Mapping[str, Any], available: AvailableCores) -> tuple[int, ...]:
    """What was used is what there was; how much there was besides is not known any more."""
    return available.nodes or (options["cores"] or available.cores,)


def _nodes(options: Mapping[str, Any], available: AvailableCores) -> tuple[int, ...]:
    """The cores or devices of each node; one machine may be divided more finely than it is."""
    cores, unit = options["cores"], options["unit"]
    nodes = available.gpus if unit == "gpus" else available.nodes
    if unit == "gpus" and not sum(nodes) and not (cores and not available.nodes):
        raise InvalidInput(
            "unit='gpus', but there are no GPUs here: say how many as cores=2, or use another unit"
        )
    if not nodes or (cores and not available.nodes):
        return (cores or available.cores,)
    if cores and cores > sum(nodes):
        raise InvalidInput(
            f"cores={cores}, but there are {sum(nodes)} {unit} ({available}): lower cores, or add "
            "nodes"
        )
    return nodes


def _memory(asked: Asked, nodes: tuple[int, ...], available: AvailableCores) -> tuple[int, ...]:
    if asked.memory is None:
        return ()
    if len(available.memory) != len(nodes):
        raise InvalidInput(
            "memory_per_pull was given, but how much memory there is cannot be told here: leave it "
            "out, and fix cores_per_pull instead"
        )
    return available.memory


def _too_small(
    asked: Asked,
    nodes: tuple[int, ...],
    memory: tuple[int, ...],
    available: AvailableCores,
    unit: str,
) -> InvalidInput:
    if memory and asked.memory is not None and max(memory) < asked.memory:
        return InvalidInput(
            f"a pull wants {_size(asked.memory)} of memory and there are {_size(max(memory))}: "
            "lower memory_per_pull"
        )
    size = str(available) if asked.cores is None else f"cores={asked.cores}"
    where = "the pool has" if len(nodes) == 1 else "no node has so many:"
    return InvalidInput(
        f"a pull wants {asked.least} {unit} and {where} {size}: lower cores_per_pull, or raise "
        "cores"
    )


def _size(memory: int) -> str:
    return f"{memory / 1e9:.3g} GB"
