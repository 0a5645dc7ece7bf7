"""A noise that was not declared: the first values show which it is."""

from dataclasses import dataclass

from paceline.core.noise.base import Bounds, Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.errors import InvalidInput


@dataclass(frozen=True)
class UnknownNoise(Noise):
    """Becomes zeros and ones, or normal values, depending on the first values.

    Until then it answers like normal values with unknown variances.

    >>> UnknownNoise().learned(binary=True)
    BernoulliNoise(bounds=None)
    """

    kind = "auto"
    known = False

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> Noise:
        """The numbers may say which noise it is."""
        if bounds is not None and sigma is not None:
            raise InvalidInput("give bounds or sigma, not both: each says how noisy values can be")
        if bounds is not None:
            return BoundedNoise(bounds)
        return cls() if sigma is None else SubgaussianNoise(sigma)

    def describe(self) -> str:
        """What will be assumed.

        >>> UnknownNoise().describe()
        'seen from the first values'
        """
        return "seen from the first values"

    def learned(self, *, binary: bool) -> Noise:
        """Values other than 0 and 1 are taken as normal."""
        return BernoulliNoise() if binary else NormalNoise()

    @property
    def scale(self) -> None:
        """It must be learned."""
        return None

    @property
    def sharing_costs_little(self) -> bool:
        """Neither of the noises that it may become loses much by sharing."""
        return True
