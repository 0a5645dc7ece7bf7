"""Values between limits: what zeros and ones share with all bounded values."""

from abc import abstractmethod

from paceline.core.evidence.base import Evidence
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.capped import Cap, cap_between
from paceline.core.evidence.nearness import Gains, gains_of_bets
from paceline.core.noise.base import Bounds, Noise
from paceline.core.noise.tails import Tails, UnitTails
from paceline.errors import InvalidInput


class Between(Noise):
    """A noise with a lowest and a highest value: bets on it need no variance."""

    @classmethod
    def _refuse_sigma(cls, sigma: float | None) -> None:
        if sigma is not None:
            raise InvalidInput(f"noise={cls.kind!r} needs no sigma")

    @property
    @abstractmethod
    def limits(self) -> Bounds:
        """The lowest and the highest possible value."""

    @property
    def scale(self) -> float:
        """Half the width, by Hoeffding's lemma."""
        return (self.limits[1] - self.limits[0]) / 2

    def evidence(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Evidence:
        """Bets: they see how little the values vary."""
        return self.betting(arms, delta, top=top, paired=paired)

    def betting(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Betting:
        """Evidence by bets on values between the limits."""
        return Betting(arms, delta, self.limits, paired=paired, top=top)

    def gains(self, arms: int, delta: float, *, paired: bool = False) -> Gains:
        """The same bets, against one opponent."""
        return gains_of_bets(self.betting(arms, delta, paired=paired))

    def cap(
        self, arms: int, delta: float, tolerance: float, *, top: int = 1, paired: bool = False
    ) -> Cap:
        """By the limits, and by how little the values vary."""
        width = self.limits[1] - self.limits[0]
        return cap_between(width, arms, delta, tolerance, top=top, paired=paired)

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """The tails of values in [0, 1], to which means are scaled, unless `sigma` is given."""
        if sigma is not None:
            return super().tails(sigma=sigma, paired=paired)
        return UnitTails(self.limits, self.describe(), paired)


def mirrored(limits: Bounds) -> Bounds:
    """The limits of the values with their sign changed; 0.0 stays 0.0.

    >>> mirrored((0.0, 2.0))
    (-2.0, 0.0)
    """
    return 0.0 - limits[1], 0.0 - limits[0]
