"""Values between bounds."""

from collections.abc import Callable
from dataclasses import dataclass

from paceline.core.arrays import Floats
from paceline.core.evidence.sequences import intervals_between
from paceline.core.noise.base import Bounds, Noise, not_together
from paceline.core.noise.between import Between, mirrored
from paceline.core.tally import Tally


@dataclass(frozen=True)
class BoundedNoise(Between):
    """Values between `bounds`, with any distribution.

    `sigma` is their sub-Gaussian scale if it is known to be less than half the width, as when each
    arm keeps to a part of the range.

    >>> BoundedNoise((0.0, 10.0)).scale, BoundedNoise((0.0, 10.0), sigma=1.0).scale
    (5.0, 1.0)
    """

    bounds: Bounds
    sigma: float | None = None

    kind = "bounded"

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> Noise:
        """It takes bounds and nothing else."""
        if bounds is None:
            raise not_together()
        cls._refuse_sigma(sigma)
        return cls(bounds)

    def describe(self) -> str:
        """What is assumed.

        >>> BoundedNoise((0.0, 2.0)).describe()
        'values between 0 and 2'
        """
        return f"values between {self.bounds[0]:g} and {self.bounds[1]:g}"

    def negated(self) -> "BoundedNoise":
        """The bounds change places.

        >>> BoundedNoise((0.5, 2.0)).negated().limits
        (-2.0, -0.5)
        """
        return BoundedNoise(mirrored(self.bounds), self.sigma)

    @property
    def limits(self) -> Bounds:
        """The bounds."""
        return self.bounds

    @property
    def allowed(self) -> Callable[[float], bool]:
        """All values between the bounds are possible, and the bounds themselves."""
        low, high = self.bounds
        return lambda value: low <= value <= high

    @property
    def scale(self) -> float:
        """Half the width, unless a smaller scale is known."""
        return super().scale if self.sigma is None else self.sigma

    @property
    def variance(self) -> float | None:
        """The square of `sigma`, if that is known."""
        return None if self.sigma is None else self.sigma**2

    def intervals(self, tally: Tally, alpha: float) -> tuple[Floats, Floats]:
        """From bets, which see how little the values vary."""
        return intervals_between(tally, self.bounds, alpha)
