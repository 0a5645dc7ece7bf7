"""What a worker loads before its first pull: the function and the arms."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from . import orders
from .generators import Generators

Call = Callable[[int, int | None], Any]  # takes an arm and a seed


class Loaded(NamedTuple):
    """The function and its arms, as the driver has pickled them."""

    evaluate: Callable[..., Any]
    arms: list[Any]
    takes_seed: bool
    takes: str  # how the number of its cores, or devices, is called; "" if it takes none
    cores: int  # those that libraries were told of while they were imported
    generators: Generators  # that a forked worker has to renew

    def call(self, cores: int) -> Call:
        """The function, for pulls on so many cores, or devices."""
        evaluate, arms = self.evaluate, self.arms
        if self.takes:
            evaluate = partial(evaluate, **{self.takes: cores})
        if self.takes_seed:
            return lambda arm, seed: evaluate(arms[arm], seed=seed)
        return lambda arm, _: evaluate(arms[arm])


def load(file: int, cores: int, generators: Generators | None = None) -> Loaded:
    """Load what the driver has pickled into a file; this imports the user's modules."""
    evaluate, arms, takes_seed, unit = orders.load(file)
    return Loaded(evaluate, arms, takes_seed, unit, cores, generators or Generators())
