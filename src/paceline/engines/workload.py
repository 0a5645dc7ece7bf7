"""What the pulls of a race are: a Python function or a command, its arms, and the pulls' seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paceline.commands import Command, Invocation
from paceline.core.arguments import takes

SeedsOf = Callable[[int, int, int], list[int]]  # takes an arm, its first pull, and how many


@dataclass(frozen=True)
class Workload:
    """The function or the command, the arms, and the seeds of their pulls.

    How it is sent to a worker is up to the engine. A pull gets a number of `unit`s, cores or gpus;
    `memory` is how many bytes it needs, if that was said.
    """

    evaluate: Callable[..., Any] | Command
    arms: Sequence[Any]
    seeds: SeedsOf
    unit: str = "cores"
    memory: int | None = None
    packed: bytes | None = None  # what workers load, where it was made elsewhere

    @property
    def is_command(self) -> bool:
        """Whether each pull is a process of its own."""
        return isinstance(self.evaluate, Command)

    @cached_property
    def takes_seed(self) -> bool:
        """Whether the function is to be given a seed."""
        return not isinstance(self.evaluate, Command) and takes(self.evaluate, "seed")

    @cached_property
    def takes_cores(self) -> bool:
        """Whether the function is to be given the number of its cores, or of its devices."""
        return not isinstance(self.evaluate, Command) and takes(self.evaluate, self.unit)

    def call(self, arm: int, pull: int, cores: int) -> Any:
        """Call the function for one pull, here and now.

        >>> workload = Workload(lambda arm, *, seed: arm + seed, [1, 2], lambda *pulls: [40])
        >>> workload.call(arm=1, pull=0, cores=1)
        42
        """
        assert not isinstance(self.evaluate, Command)
        given: dict[str, int] = {}
        if self.takes_seed:
            given["seed"] = self.seeds(arm, pull, 1)[0]
        if self.takes_cores:
            given[self.unit] = cores
        return self.evaluate(self.arms[arm], **given)

    def invocation(self, arm: int, pull: int, cores: int) -> Invocation:
        """The command of one pull, ready to be run."""
        assert isinstance(self.evaluate, Command)
        return self.evaluate.fill(self.arms[arm], seed=self.seeds(arm, pull, 1)[0], cores=cores)


def stand_in(packed: bytes, arms: int, seeds: SeedsOf, *, takes_seed: bool) -> Workload:
    """A workload for a process that need not load the user's function itself: it is `packed`.

    Such a process imports nothing of the user's, and only hands on what its workers load.

    >>> sent = stand_in(b"...", 3, lambda *pulls: [7], takes_seed=True)
    >>> sent.takes_seed, len(sent.arms), sent.packed
    (True, 3, b'...')
    """
    return Workload(_takes_seed if takes_seed else _takes_none, range(arms), seeds, packed=packed)


def _takes_seed(arm: int, *, seed: int) -> float:
    raise NotImplementedError


def _takes_none(arm: int) -> float:
    raise NotImplementedError
