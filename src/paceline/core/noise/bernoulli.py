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
    """Values 0 and 1; with `bounds`, the two values that stand for them if a one is bad.

    >>> BernoulliNoise().limits, BernoulliNoise().negated().limits
    ((0.0, 1.0), (-1.0, 0.0))
    """

    bounds: Bounds | None = None  # or (−1, 0)

    kind = "bernoulli"
    binary = True

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> Noise:
        """It takes no numbers."""
        noise = super().declared(bounds, sigma)
        cls._refuse_sigma(sigma)
        return noise

    def describe(self) -> str:
        """What is assumed; users never see the sign.

        >>> BernoulliNoise().describe()
        'values 0 and 1'
        """
        return "values 0 and 1"

    def negated(self) -> "BernoulliNoise":
        """Ones become −1, and −1 becomes 1."""
        return BernoulliNoise(mirrored(_COIN) if self.bounds is None else None)

    @property
    def limits(self) -> Bounds:
        """The two values."""
        return self.bounds or _COIN

    @property
    def allowed(self) -> Callable[[float], bool]:
        """Only the two values are possible."""
        both = self.limits
        return lambda value: value in both

    @property
    def sharing_costs_little(self) -> bool:
        """Zeros and ones lose little by sharing."""
        return True

    def intervals(self, tally: Tally, alpha: float) -> tuple[Floats, Floats]:
        """From the number of ones."""
        return intervals_of_coins(tally, self.limits, alpha)

    def estimates(self, tally: Tally, arms: Ints) -> tuple[Floats, Floats]:
        """Add half a one and half a zero (Jeffreys), so that an arm of zeros has a variance too."""
        low, pulls = self.limits[0], tally.pulls[arms]
        chance = ((tally.means(arms) - low) * pulls + 0.5) / (pulls + 1)
        return low + chance, chance * (1 - chance)

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """The exact tails, unless pairs may depend on each other."""
        if sigma is not None or paired:
            return super().tails(sigma=sigma, paired=paired)
        return BinomialTails(self.limits, self.describe())
