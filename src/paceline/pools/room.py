"""How much of the nodes a race may use, and the least that a pull must have of them.

Memory counts in cores. If three pulls fit into a node's memory, each is given so many cores that a
fourth does not find any: then cores alone say what runs where.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

from paceline.errors import InvalidInput, seen
from paceline.machine import first_nodes


class Room(NamedTuple):
    """The cores of each node that may be used, and the fewest and most of a pull."""

    nodes: tuple[int, ...]
    least: int
    most: int


@dataclass(frozen=True)
class Asked:
    """What a race was given, whatever nodes there are: cores in all, and cores and bytes of a pull.

    >>> Asked().room((20, 20))
    Room(nodes=(20, 20), least=1, most=20)
    >>> Asked(cores=30, most=4).room((20, 20))
    Room(nodes=(20, 10), least=1, most=4)

    A node that is too small for a pull is not used. A node's memory may allow fewer pulls than its
    cores do:

    >>> Asked(memory=8).room((20, 20), memory=(24, 4))
    Room(nodes=(20, 0), least=6, most=20)
    >>> Asked(memory=8, most=2).room((20, 20), memory=(24, 24))
    Room(nodes=(6, 6), least=2, most=2)

    If only so many pulls may run at once, each of them has its share of all cores; what is left
    over then would let one more pull in, and is not used:

    >>> Asked(at_once=2).room((8,)), Asked(at_once=3).room((8,))
    (Room(nodes=(8,), least=4, most=8), Room(nodes=(7,), least=2, most=7))
    >>> Asked(at_once=2, most=1).room((8, 4))
    Room(nodes=(2, 0), least=1, most=1)
    """

    cores: int | None = None
    least: int = 1
    most: int | None = None
    memory: int | None = None  # bytes
    at_once: int | None = None  # how many pulls may run at the same time, on all nodes together

    def room(self, nodes: Sequence[int], memory: Sequence[int] = ()) -> Room:
        """What may be used of these nodes. A node keeps its place."""
        allowed = first_nodes(nodes, sum(nodes) if self.cores is None else self.cores)
        sizes = [*allowed, *[0] * (len(nodes) - len(allowed))]
        least = self.least
        if self.memory is not None and memory:
            fitting = [size // self.memory for size in memory]
            if self.most is not None:
                sizes = [min(has, n * self.most) for has, n in zip(sizes, fitting, strict=True)]
            sizes = [has if n else 0 for has, n in zip(sizes, fitting, strict=True)]
            needed = [has // (n + 1) + 1 for has, n in zip(sizes, fitting, strict=True) if has]
            least = max([least, *needed])
        sizes = [has if has >= least else 0 for has in sizes]
        if self.at_once is not None:
            sizes, least = _shared(sizes, least, self.most, self.at_once)
        most = max(sizes, default=0)
        most = most if self.most is None else min(self.most, most)
        return Room(tuple(sizes), least, max(most, least))


def _shared(sizes: list[int], least: int, most: int | None, at_once: int) -> tuple[list[int], int]:
    """What to use of nodes of these sizes, and the least of a pull, that only so many run at once.

    >>> _shared([20, 20], least=1, most=None, at_once=3)
    ([20, 19], 10)
    """

    def fit(cores: int) -> int:
        return sum(size // cores for size in sizes)

    if fit(least) <= at_once:
        return sizes, least
    widest = max(sizes) if most is None else min(most, max(sizes))
    least = max(cores for cores in range(least, widest + 1) if fit(cores) >= at_once)
    used, left = [0] * len(sizes), at_once
    for place in sorted(range(len(sizes)), key=lambda place: -(sizes[place] // least)):
        pulls = min(sizes[place] // least, left)
        left -= pulls
        if pulls:
            used[place] = min(sizes[place], pulls * widest, (pulls + 1) * least - 1)
    return used, least


_SIZE = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_MOST_BYTES = 2**60


def bytes_of(value: object, what: str) -> int:
    """The bytes that a user wrote: a number, or a text with a unit.

    >>> bytes_of("4GB", "memory_per_pull"), bytes_of("1.5 GiB", "memory_per_pull")
    (4000000000, 1610612736)
    """
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    amount = 0.0
    if isinstance(value, Real) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            amount = float(value)
    if match is not None:
        digits, unit, binary = match.groups()
        amount = float(digits) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " ")
    if not 1 <= amount < _MOST_BYTES:
        raise InvalidInput(f"{what} must be a size, such as '4GB' or '500MiB', got {seen(value)}")
    return int(amount)
