"""What a worker loads before its first pull: the function and the arms."""

from collections.abc import Callable
from typing import Any, NamedTuple

from . import orders
from .generators import Generators

Call = Callable[[int, int | None], Any]  # takes an arm and a seed


class Loaded(NamedTuple):
    """The function and its arms, as the driver has pickled them."""

    evaluate: Callable[..., Any]
    arms: list[Any]
    takes_seed: bool
    takes_cores: bool
    cores: int  # those that libraries were told of while they were imported
    generators: Generators  # that a forked worker has to renew

    def call(self, cores: int) -> Call:
        """The function, for pulls on `cores` cores."""
        evaluate, arms = self.evaluate, self.arms
        fixed = {"cores": cores} if self.takes_cores else {}
        if self.takes_seed:
            return lambda arm, seed: evaluate(arms[arm], seed=seed, **fixed)
        return lambda arm, _: evaluate(arms[arm], **fixed)


def load(file: int, cores: int, generators: Generators | None = None) -> Loaded:
    """Load what the driver has pickled into a file; this imports the user's modules."""
    evaluate, arms, takes_seed, takes_cores = orders.load(file)
    return Loaded(evaluate, arms, takes_seed, takes_cores, cores, generators or Generators())
