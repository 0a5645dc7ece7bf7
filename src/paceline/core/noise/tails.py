"""How likely the mean of many values is to stray from the true one; bounds for cuts use this.

Exponents are those of Cramér and Ville: the mean of t values, for any t ≥ t₀, is beyond a threshold
with probability at most exp(−t₀·I).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats
from paceline.errors import InvalidInput

_MOST_COUNTED = 1e9  # pulls, above which binomial tails are not asked for
_MOST_STEPS = 128


class Tails(ABC):
    """Tails of means. All methods but `placed` take means in the form that `placed` returns."""

    paired: bool  # whether the k-th values of all arms may depend on each other

    @abstractmethod
    def placed(self, means: Floats) -> Floats:
        """Means in the form that the other methods take; impossible ones are refused."""

    @abstractmethod
    def rates(self, best: float, others: Floats) -> Floats:
        """How fast each of `others` falls behind an arm with mean `best`: see `theory.rates`."""

    @abstractmethod
    def cramer(self, means: Floats, thresholds: Floats) -> Floats:
        """I: the mean of t values is beyond the threshold with probability at most exp(−t·I)."""

    def chance(self, exponents: Floats) -> Floats:
        """A bound on the chance that, at any t ≥ t₀, a threshold with this exponent is reached."""
        return np.exp(-exponents)  # Ville

    def counted(self, pulls: float) -> "Counted | None":
        """The exact tails of the mean of `pulls` values, if they are known."""
        return None


@dataclass(frozen=True)
class SubgaussianTails(Tails):
    """The tails of sub-Gaussian values with the scale `sigma`.

    >>> SubgaussianTails(0.5).rates(0.9, np.array([0.5, 0.1])).round(3).tolist()
    [0.16, 0.64]
    """

    sigma: float
    paired: bool = False

    def placed(self, means: Floats) -> Floats:
        """Means stay as they are."""
        return means

    def rates(self, best: float, others: Floats) -> Floats:
        """If paired, the difference of two values is 2σ-sub-Gaussian, whatever joins them."""
        return ((best - others) / self.sigma) ** 2 / (8 if self.paired else 4)

    def cramer(self, means: Floats, thresholds: Floats) -> Floats:
        """The same as for normal values."""
        return ((means - thresholds) / self.sigma) ** 2 / 2


class NormalTails(SubgaussianTails):
    """The tails of independent normal values with the standard deviation `sigma`."""

    def chance(self, exponents: Floats) -> Floats:
        """Sums of normal values are a Brownian motion looked at now and then.

        It is beyond the threshold at t₀, or gets there later, each with probability Φ(−√2x).
        """
        from scipy.special import erfc  # here, because it doubles the time to import paceline

        return np.asarray(erfc(np.sqrt(exponents)))


@dataclass(frozen=True)
class UnitTails(Tails):
    """The tails of values between limits. Means are scaled to [0, 1]; `values` names the values."""

    limits: tuple[float, float]
    values: str
    paired: bool = False

    def placed(self, means: Floats) -> Floats:
        """0 at the lowest, 1 at the highest possible value."""
        low, high = self.limits
        if means.max() > high or means.min() < low:
            raise InvalidInput(
                f"{self.values}: the means must lie between {low:g} and {high:g}, "
                f"got {means.min():g} to {means.max():g}"
            )
        return (means - low) / (high - low)

    def rates(self, best: float, others: Floats) -> Floats:
        """From the worst law of two such values; if paired, from their worst joint law."""
        if self.paired:
            overlap = np.minimum(others, 1 - best)
            lost = (np.sqrt(overlap + (best - others)) - np.sqrt(overlap)) ** 2
            return _minus_log(lost)
        # 1 − √(p₁p_i) − √((1−p₁)(1−p_i)), without cancellation
        apart = (np.sqrt(best) - np.sqrt(others)) ** 2
        apart += (np.sqrt(1 - others) - np.sqrt(1 - best)) ** 2
        return 2 * _minus_log(apart / 2)

    def cramer(self, means: Floats, thresholds: Floats) -> Floats:
        """The divergence of zeros and ones, which are the worst case."""
        from scipy.special import rel_entr  # here, because it doubles the time to import paceline

        divergence: Floats = rel_entr(thresholds, means) + rel_entr(1 - thresholds, 1 - means)
        return divergence


class BinomialTails(UnitTails):
    """The tails of independent zeros and ones."""

    def counted(self, pulls: float) -> "Counted | None":
        """The tails of the number of ones."""
        return Counted(pulls) if pulls <= _MOST_COUNTED else None


@dataclass(frozen=True)
class Counted:
    """The number of ones among `pulls` zeros and ones: exact tails.

    >>> Counted(2.0).reach(np.array([0.5]), np.array([0.5, 1.0])).round(3).tolist()
    [0.75, 0.25]
    """

    pulls: float

    def thresholds(self, best: float, worst: float) -> Floats:
        """Thresholds, falling: each lies between two numbers of ones that such an arm may show.

        The mean of the arm lies between `worst` and `best`.
        """
        ends = np.array([best, worst])
        reach = 8 * np.sqrt(self.pulls * ends * (1 - ends)) + 8
        first, last = self.pulls * ends + reach * [1, -1]
        ones = np.linspace(first, last, _MOST_STEPS).round().clip(0, self.pulls)
        falling: Floats = (np.unique(ones)[::-1] - 0.5) / self.pulls
        return falling

    def reach(self, means: Floats, thresholds: Floats) -> Floats:
        """How likely the mean of `pulls` values is to reach each threshold θ."""
        from scipy.special import betainc  # here, because it doubles the time to import paceline

        ones = np.ceil(thresholds * self.pulls).clip(min=0.0)
        tails = betainc(np.maximum(ones, 1.0), np.maximum(self.pulls - ones + 1, 1e-300), means)
        return np.asarray(np.where(ones == 0, 1.0, np.where(ones > self.pulls, 0.0, tails)))


def _minus_log(lost: Floats) -> Floats:
    """−ln(1 − lost), infinite at 1."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.minimum(lost, 1.0))
