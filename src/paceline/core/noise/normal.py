"""Normal values."""

from dataclasses import dataclass

from paceline.core.evidence.base import Evidence
from paceline.core.evidence.closed import ClosedPairs, ClosedSigma, ClosedStudent
from paceline.core.evidence.group_sequential import GroupSequential, KnownSigma
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise.base import Noise
from paceline.core.noise.tails import NormalTails, Tails


@dataclass(frozen=True)
class NormalNoise(Noise):
    """Normal values. Each arm has its own variance, unless all share the known `sigma`.

    >>> NormalNoise().scale is None, NormalNoise(sigma=2.0).variance
    (True, 4.0)
    """

    sigma: float | None = None

    kind = "normal"
    shaped = True

    def describe(self) -> str:
        """What is assumed.

        >>> NormalNoise().describe()
        'normal values with unknown variances'
        """
        if self.sigma is None:
            return "normal values with unknown variances"
        return f"normal values with scale {self.sigma:g}"

    @property
    def scale(self) -> float | None:
        """The standard deviation, if it is known."""
        return self.sigma

    @property
    def variance(self) -> float | None:
        """The square of the standard deviation, if it is known."""
        return None if self.sigma is None else self.sigma**2

    @property
    def sharing_costs_little(self) -> bool:
        """Unknown variances are learned anyway, so those of differences can be learned instead."""
        return self.sigma is None

    def group_sequential(
        self, arms: int, delta: float, *, top: int = 1, paired: bool = False
    ) -> GroupSequential:
        """From the known σ. It says little about differences of pairs: those must show theirs."""
        if paired:
            return PairedStudent(arms, delta, top)
        if self.sigma is None:
            return Student(arms, delta, top)
        return KnownSigma(arms, delta, self.sigma, top=top)

    def closed(
        self, arms: int, delta: float, tolerance: float, *, top: int = 1, paired: bool = False
    ) -> Evidence:
        """From the known σ, unless pairs must show theirs."""
        if paired or self.sigma is None:
            kind = ClosedPairs if paired else ClosedStudent
            return kind(arms, delta, tolerance=tolerance, top=top)
        return ClosedSigma(arms, delta, self.sigma, tolerance=tolerance, top=top)

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """The tails of sums of normal values, unless pairs may depend on each other."""
        if paired:
            return super().tails(sigma=sigma, paired=True)
        return NormalTails(self._scale_or(sigma))
