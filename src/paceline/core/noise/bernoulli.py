"""Zeros and ones."""

from collections.abc import Callable
from dataclasses import dataclass

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.sequences import intervals_of_coins
from paceline.core.noise.base import Bounds, Noise
from paceline.core.noise.between import Between, mirrored
from paceline.core.noise.tails import BinomialTails, Tails
from paceline.core.tally import Tally

_COIN = (0.0, 1.0)


@dataclass(frozen=True)
class BernoulliNoise(Between):
    """Values 0 and 1; with `bounds`, the two values that stand for them where a one is bad.

    >>> BernoulliNoise().limits, BernoulliNoise().negated().limits
    ((0.0, 1.0), (-1.0, 0.0))
    """

    bounds: Bounds | None = None  # or (−1, 0)

    kind = "bernoulli"
    binary = True

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> Noise:
        """There is nothing to say about it."""
        noise = super().declared(bounds, sigma)
        cls._refuse_sigma(sigma)
        return noise

    def describe(self) -> str:
        """What is assumed; the sign is nothing that people see.

        >>> BernoulliNoise().describe()
        'values 0 and 1'
        """
        return "values 0 and 1"

    def negated(self) -> "BernoulliNoise":
        """Ones become −1, or −1 a one."""
        return BernoulliNoise(mirrored(_COIN) if self.bounds is None else None)

    @property
    def limits(self) -> Bounds:
        """The two values."""
        return self.bounds or _COIN

    @property
    def allowed(self) -> Callable[[float], bool]:
        """Nothing between the two."""
        both = self.limits
        return lambda value: value in both

    @property
    def sharing_costs_little(self) -> bool:
        """Zeros and ones lose little by it."""
        return True

    def intervals(self, tally: Tally, alpha: float) -> tuple[Floats, Floats]:
        """By the number of ones."""
        return intervals_of_coins(tally, self.limits, alpha)

    def estimates(self, tally: Tally, arms: Ints) -> tuple[Floats, Floats]:
        """With half a one and half a zero added (Jeffreys): an arm of zeros has a variance too."""
        low, pulls = self.limits[0], tally.pulls[arms]
        chance = ((tally.means(arms) - low) * pulls + 0.5) / (pulls + 1)
        return low + chance, chance * (1 - chance)

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """Exact ones, unless pairs may depend on each other."""
        if sigma is not None or paired:
            return super().tails(sigma=sigma, paired=paired)
        return BinomialTails(self.limits, self.describe())
