"""What a noise is: an assumption about the values, and everything that follows from it.

No caller asks a noise what kind it is. Callers ask for the evidence that fits it, for an interval,
or for the possible values. `tests/core/noise_contract.py` tests every noise against this interface.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from paceline.core.arrays import Floats, Ints, positive
from paceline.core.evidence.base import Evidence, shrunk_variances
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.capped import NEAR, Cap, Capped, cap_of_scale, cap_of_unknown
from paceline.core.evidence.closed import ClosedPairs, ClosedStudent
from paceline.core.evidence.group_sequential import GroupSequential, KnownSigma
from paceline.core.evidence.nearness import Gains, Nearness, gains_of_scores
from paceline.core.evidence.sequences import intervals_of_normal, intervals_of_scale
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise.tails import SubgaussianTails, Tails
from paceline.core.tally import Tally
from paceline.errors import InvalidInput

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Noise(ABC):
    """What is assumed about the values. A subclass may have the fields `bounds` and `sigma`.

    By default values are sub-Gaussian with the `scale`, or normal if there is none. A noise that
    knows more overrides what it can answer better.

    >>> from paceline.core.noise.catalog import checked
    >>> checked("normal", sigma=2.0).describe()
    'normal values with scale 2'
    """

    kind: ClassVar[str]  # its name in the catalog, and in journals
    known: ClassVar[bool] = True  # False: the first values will show which noise it is
    binary: ClassVar[bool] = False  # whether only two values are possible
    shaped: ClassVar[bool] = False  # whether the shape of the values may contradict it

    # What it is.

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> "Noise":
        """The noise that a user declared by name; numbers that do not fit it are refused."""
        if bounds is not None:
            raise not_together()
        return cls.of(bounds, sigma)

    @classmethod
    def of(cls, bounds: Bounds | None, sigma: float | None) -> "Noise":
        """The noise of this kind with those of these numbers that it has fields for."""
        numbers = {"bounds": bounds, "sigma": sigma}
        return cls(**{one.name: numbers[one.name] for one in fields(cls)})

    def to_json(self) -> dict[str, Any]:
        """Its kind and numbers, as written to journals; `catalog.from_json` undoes it.

        >>> from paceline.core.noise.bounded import BoundedNoise
        >>> BoundedNoise((0.0, 2.0)).to_json()
        {'kind': 'bounded', 'bounds': [0.0, 2.0], 'sigma': None}
        """
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        bounds, sigma = own.get("bounds"), own.get("sigma")
        return {"kind": self.kind, "bounds": bounds and list(bounds), "sigma": sigma}

    @abstractmethod
    def describe(self) -> str:
        """What is assumed, in words."""

    def negated(self) -> "Noise":
        """The noise of the values with their sign changed, for races where low values are good."""
        return self

    def learned(self, *, binary: bool) -> "Noise":
        """What is assumed after the first values; `binary` says that all of them were 0 or 1."""
        return self

    # What values there can be.

    @property
    def limits(self) -> Bounds | None:
        """The lowest and the highest possible value, if there are any."""
        return None

    @property
    def allowed(self) -> Callable[[float], bool] | None:
        """A test of whether a value is possible; None if all are."""
        return None

    @property
    @abstractmethod
    def scale(self) -> float | None:
        """The sub-Gaussian scale; None if it must be learned."""

    @property
    def variance(self) -> float | None:
        """The assumed variance of a pull; None if the values must show it."""
        return None

    @property
    def sharing_costs_little(self) -> bool:
        """Whether all arms may share seeds by default.

        With a known scale, the worst case is assumed for differences, which costs half as many
        pulls again. With bounds wider than 0 and 1 it costs an eighth.
        """
        return False

    # What speaks against an arm.

    def evidence(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Evidence:
        """The evidence that needs the fewest pulls."""
        return self.group_sequential(arms, delta, top=top, paired=paired)

    def group_sequential(
        self, arms: int, delta: float, *, top: int = 1, paired: bool = False
    ) -> GroupSequential:
        """Evidence from the sums of rounds, by the scale; without one, as for normal values.

        >>> from paceline.core.noise import BERNOULLI
        >>> BERNOULLI.group_sequential(3, 0.05).sigma
        0.5
        """
        if self.scale is None:
            return PairedStudent(arms, delta, top) if paired else Student(arms, delta, top)
        return KnownSigma(arms, delta, self.scale, tails="subgaussian", paired=paired, top=top)

    def betting(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Betting:
        """Evidence from bets on values between bounds; refused if there are no bounds."""
        raise InvalidInput("betting is for values between bounds: declare them, or leave it out")

    def closed(
        self, arms: int, delta: float, tolerance: float, *, top: int = 1, paired: bool = False
    ) -> Evidence:
        """The evidence that needs the fewest pulls if being worse by `tolerance` is good enough.

        >>> from paceline.core.noise import BERNOULLI
        >>> BERNOULLI.closed(3, 0.05, tolerance=0.1).next_look()
        1
        """
        if self.scale is None:
            kind = ClosedPairs if paired else ClosedStudent
            return kind(arms, delta, tolerance=tolerance, top=top)
        inner = self.evidence(arms, Capped.SHARE * delta, top=top, paired=paired)
        return self.capped(inner, delta, tolerance, paired=paired)

    def capped(
        self, inner: Evidence, delta: float, tolerance: float, *, paired: bool = False
    ) -> Capped:
        """Any evidence, made for its share of δ, with an end."""
        arms, top, near = inner.alive.size, inner.top, NEAR * delta
        gains = self.gains(arms, near, paired=paired)
        return Capped(
            inner,
            delta,
            self.cap(arms, delta, tolerance, top=top, paired=paired),
            Nearness(arms, near, tolerance, top, gains),
        )

    def gains(self, arms: int, delta: float, *, paired: bool = False) -> Gains:
        """The games that show that a leader is near enough to all others."""
        return gains_of_scores(self.group_sequential(arms, delta, paired=paired))

    def cap(
        self, arms: int, delta: float, tolerance: float, *, top: int = 1, paired: bool = False
    ) -> Cap:
        """How many values of each arm are enough, whatever the evidence, if some error is allowed.

        `tolerance` is that error, and δ is for the whole race.
        """
        if self.scale is None:
            return cap_of_unknown(arms, delta, tolerance)
        return cap_of_scale(self.scale, arms, delta, tolerance, top=top, paired=paired)

    # What can be said about a mean.

    def intervals(self, tally: Tally, alpha: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds on the means of all arms.

        Each pair fails with probability at most `alpha`, over all times at once. For several arms
        together, divide `alpha` by their number. An arm about which nothing can be said gets the
        limits, or ∓∞ if there are none.

        >>> from paceline.core.noise import BERNOULLI
        >>> tally = Tally(np.array([100, 100]), np.array([50.0, 0.0]), np.array([50.0, 0.0]))
        >>> low, high = BERNOULLI.intervals(tally, alpha=0.05)
        >>> low.round(3), high.round(3)
        (array([0.35, 0.  ]), array([0.65 , 0.051]))
        """
        if self.scale is None:
            return intervals_of_normal(tally, alpha)
        return intervals_of_scale(tally, self.scale, alpha)

    def estimates(self, tally: Tally, arms: Ints) -> tuple[Floats, Floats] | None:
        """Means, and variances of a pull; None if nothing can be said yet.

        While pulls are few, the variances are drawn towards what all arms have in common.
        """
        means = tally.means(arms)
        if self.variance is not None:
            return means, np.full(arms.size, self.variance)
        return (means, shrunk_variances(tally, arms)) if tally.pulls[arms].max() > 1 else None

    def pull_variances(self, tally: Tally, arms: Ints) -> Floats | None:
        """Unbiased variances of a pull, of the arms that show one; None if no arm does."""
        if self.variance is not None:
            return np.full(arms.size, self.variance)
        variances = tally.variances(arms)
        shown = np.isfinite(variances)
        return variances[shown] if shown.any() else None

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """How likely means are to stray. `sigma` overrides the scale; refused without either."""
        return SubgaussianTails(self._scale_or(sigma), paired)

    def _scale_or(self, sigma: float | None) -> float:
        scale = self.scale if sigma is None else positive(sigma, "sigma")
        if scale is None:
            raise InvalidInput(
                f"{self.describe()}: a bound needs their scale; give sigma=, or declare bounds"
            )
        return scale


def not_together() -> InvalidInput:
    """The error for bounds that the noise does not take, or for a missing pair that it needs."""
    return InvalidInput("noise='bounded' and bounds=(lowest, highest) go together")
