"""What is believed about the arms before a race: each belief draws worlds that fit it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats, finite_floats, positive
from paceline.errors import InvalidInput, seen, unknown_name
from paceline.planning.worlds import World

SHAPES = ("uniform", "linear")


class Belief(ABC):
    """Says of how many arms it is, and draws what they may be. Higher is better in all worlds."""

    arms: int

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> World:
        """A world."""

    @abstractmethod
    def describe(self) -> str:
        """What is believed, in words."""

    @property
    def is_certain(self) -> bool:
        """Whether every world has the same means."""
        return False


@dataclass(frozen=True, eq=False)
class Assumed(Belief):
    """Means that were given, or are drawn anew for each world (`shape`), from 0 to `span`.

    Values are 0 and 1 if there is no `sigma`, and normal otherwise.

    >>> belief = assume(3, gap=0.1, sigma=1.0)
    >>> belief.draw(np.random.default_rng(0)).means.tolist()
    [0.1, 0.0, 0.0]
    """

    arms: int
    sigma: float | None
    means: Floats | None
    shape: str
    words: str

    def draw(self, rng: np.random.Generator) -> World:
        """The means as given, or drawn."""
        means = rng.random(self.arms) if self.means is None else self.means
        return World(means, None if self.sigma is None else np.full(self.arms, self.sigma))

    def describe(self) -> str:
        """The words of whoever assumed it."""
        noise = "values 0 and 1" if self.sigma is None else f"noise of deviation {self.sigma:g}"
        return f"{self.words}; {noise}"

    @property
    def is_certain(self) -> bool:
        """Whether the means were given."""
        return self.means is not None


def assume(
    arms: int | None = None,
    *,
    means: object = None,
    gap: float | None = None,
    sigma: float | None = None,
    minimize: bool = False,
) -> Assumed:
    """A belief from numbers: `means` (or their shape, by name), or a `gap` behind the best.

    With a gap, all arms but the best are equally good: no other race with that gap is longer.
    """
    scale = None if sigma is None else positive(sigma, "sigma")
    if means is not None and gap is not None:
        raise InvalidInput("give means or a gap, not both: means have their own gaps")
    if gap is not None:
        behind = positive(gap, "gap")
        count = _count(arms, "gap")
        words = f"one arm ahead of {count - 1} others by {behind:g}"
        return Assumed(count, scale, _ahead(count, behind, scale), "gap", words)
    if isinstance(means, str):
        if means not in SHAPES:
            raise unknown_name("shape of means", means, SHAPES)
        count = _count(arms, f"means={means!r}")
        if means == "linear":
            steps = np.linspace(1.0, 0.0, count)
            return Assumed(count, scale, steps, means, f"{count} means in even steps from 1 to 0")
        return Assumed(count, scale, None, means, f"{count} means, uniform between 0 and 1")
    array = finite_floats(means, "means")
    if array.size < 2 or (arms is not None and arms != array.size):
        raise InvalidInput(
            f"there are {arms if arms is not None else 'fewer than 2'} arms and {array.size} "
            "means: give one for each of at least two arms"
        )
    if scale is None and (array.min() < 0 or array.max() > 1):
        raise InvalidInput(
            f"means from {array.min():g} to {array.max():g} are not those of values 0 and 1: "
            "give sigma=, the standard deviation of a value"
        )
    if minimize:
        array = 1 - array if scale is None else -array
    return Assumed(array.size, scale, array, "given", f"{array.size} means as given")


def _ahead(arms: int, gap: float, sigma: float | None) -> Floats:
    means = np.zeros(arms)
    means[0] = gap
    if sigma is not None:
        return means
    if gap > 1:
        raise InvalidInput(
            f"gap={gap:g} is more than values 0 and 1 can differ: give sigma=, the standard "
            "deviation of a value"
        )
    return means + 0.5 * (1 - gap)  # where zeros and ones vary most


def _count(arms: int | None, what: str) -> int:
    if arms is None:
        raise InvalidInput(f"{what} does not say how many arms there are: give arms=")
    if isinstance(arms, bool) or not isinstance(arms, int) or arms < 2:
        raise InvalidInput(f"arms must be a whole number of at least 2, got {seen(arms)}")
    return arms
