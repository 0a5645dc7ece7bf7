"""Random generators that modules have made: which of them a forked worker has to renew.

A worker that imports a module by itself gets other random numbers than its neighbours, unless the
module gives its generators a seed. A forked worker would get those of all others. A race takes the
values of different workers for independent, so this decides whether its confidence holds.

Python's own generator, and numpy's, are renewed if nobody gave them a seed. A seed is kept: then
the numbers are the same in every worker, forked or not. numpy's generators are seeded with what
they draw from the system, so they are known by that. Of other generators of Python it cannot be
told whether they have a seed.
"""

import contextlib
import gc
import random
import sys
from collections.abc import Iterator
from typing import Any

_library: Any = random  # some of what is needed has no public name


class Generators:
    """The random generators that were made in this process within `watching`."""

    def __init__(self) -> None:
        self.seeded = False  # whether Python's own was given a seed
        self._drawn: set[int] = set()  # what was drawn from the system
        self._unseeded: list[Any] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Note what is drawn from the system, and whether Python's own generator gets a seed."""
        seed, restore, draw = random.seed, random.setstate, _library._urandom

        def seeding(*arguments: Any, **named: Any) -> None:
            self.seeded = True
            seed(*arguments, **named)

        def restoring(state: Any) -> None:
            self.seeded = True
            restore(state)

        def drawing(size: int) -> bytes:
            drawn: bytes = draw(size)
            self._drawn.add(int.from_bytes(drawn, "big"))
            return drawn

        # Numbers that are merely drawn from it do no harm: workers will draw others.
        random.seed, random.setstate, _library._urandom = seeding, restoring, drawing
        try:
            yield
        finally:
            random.seed, random.setstate, _library._urandom = seed, restore, draw

    def find(self) -> bool:
        """Find those that have to be renewed; False if it cannot be told, or not be done."""
        numpy: Any = sys.modules.get("numpy.random")
        temporary: Any = sys.modules.get("tempfile")
        plain, names, bits, states = _objects(
            random.Random,
            # The names of temporary files: they know when they were forked.
            getattr(temporary, "_RandomNameSequence", None),
            getattr(numpy, "BitGenerator", None),
            getattr(numpy, "RandomState", None),
        )
        known = [_library._inst, *(getattr(one, "_rng", None) for one in names)]
        if self.seeded or {id(one) for one in plain} - {id(one) for one in known}:
            return False
        if any(one.seed_seq is None for one in bits):  # `seed` was called, with a seed or without
            return False
        mine = [one for one in bits if getattr(one.seed_seq, "entropy", None) in self._drawn]
        ids = {id(one) for one in mine}
        self._unseeded = mine + [one for one in states if id(one._bit_generator) in ids]
        return True

    def renew(self) -> None:
        """Draw new numbers in a process that was forked."""
        random.seed()
        for one in self._unseeded:
            if hasattr(one, "seed"):  # a `RandomState`, which may have a number in store
                one.seed()
            else:
                one.state = type(one)().state


def _objects(*kinds: type | None) -> list[list[Any]]:
    """All objects of each of these kinds."""
    found: list[list[Any]] = [[] for _ in kinds]
    places: dict[type, int | None] = {random.SystemRandom: None}  # which has no numbers in store
    for one in gc.get_objects():
        mine = type(one)  # not `isinstance`: that asks the object, which may be anything
        if mine not in places:
            fitting = (
                place
                for place, kind in enumerate(kinds)
                if kind is not None and issubclass(mine, kind)
            )
            places[mine] = next(fitting, None)
        place = places[mine]
        if place is not None:
            found[place].append(one)
    return found
