"""Sub-Gaussian values."""

from dataclasses import dataclass

from paceline.core.noise.base import Bounds, Noise
from paceline.errors import InvalidInput


@dataclass(frozen=True)
class SubgaussianNoise(Noise):
    """Values with tails no heavier than those of normal ones with the standard deviation `sigma`.

    >>> SubgaussianNoise(0.5).scale
    0.5
    """

    sigma: float

    kind = "subgaussian"

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> Noise:
        """It takes the scale and nothing else."""
        noise = super().declared(bounds, sigma)
        if sigma is None:
            raise InvalidInput("noise='subgaussian' needs sigma=, the scale of the noise")
        return noise

    def describe(self) -> str:
        """What is assumed.

        >>> SubgaussianNoise(4.0).describe()
        'sub-Gaussian values with scale 4'
        """
        return f"sub-Gaussian values with scale {self.sigma:g}"

    @property
    def scale(self) -> float:
        """The scale."""
        return self.sigma

    @property
    def variance(self) -> float:
        """The largest that it can be."""
        return self.sigma**2
