"""What a noise is: an assumption about the values, which answers all that follows from it.

Nobody asks a noise of which kind it is: they ask for the evidence that fits, for an interval, for
what a value may be. `tests/core/noise_contract.py` holds every noise to what is promised here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from paceline.core.arrays import Floats, Ints, positive
from paceline.core.evidence.base import Evidence, shrunk_variances
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.group_sequential import GroupSequential, KnownSigma
from paceline.core.evidence.nearness import Gains, gains_of_scores
from paceline.core.evidence.sequences import intervals_of_normal, intervals_of_scale
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise.tails import SubgaussianTails, Tails
from paceline.core.tally import Tally
from paceline.errors import InvalidInput

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Noise(ABC):
    """What is assumed about the values; its fields are those of `bounds` and `sigma` that it has.

    By default values are sub-Gaussian with the `scale`, and normal where there is none: a noise
    of which more is known overrides what it can answer better.

    >>> from paceline.core.noise.catalog import checked
    >>> checked("normal", sigma=2.0).describe()
    'normal values with scale 2'
    """

    kind: ClassVar[str]  # its name in the catalog, and in journals
    known: ClassVar[bool] = True  # False: it stands for what the first values show
    binary: ClassVar[bool] = False  # whether there are two possible values only
    shaped: ClassVar[bool] = False  # whether the shape of the values may speak against it

    # What it is.

    @classmethod
    def declared(cls, bounds: Bounds | None, sigma: float | None) -> "Noise":
        """The noise that a user declared by its name; numbers that do not fit it are refused."""
        if bounds is not None:
            raise not_together()
        return cls.of(bounds, sigma)

    @classmethod
    def of(cls, bounds: Bounds | None, sigma: float | None) -> "Noise":
        """The noise of this kind with these numbers, as far as it has them."""
        numbers = {"bounds": bounds, "sigma": sigma}
        return cls(**{one.name: numbers[one.name] for one in fields(cls)})

    def to_json(self) -> dict[str, Any]:
        """Its kind and numbers, as journals have them; `catalog.from_json` undoes it.

        >>> from paceline.core.noise.bounded import BoundedNoise
        >>> BoundedNoise((0.0, 2.0)).to_json()
        {'kind': 'bounded', 'bounds': [0.0, 2.0], 'sigma': None}
        """
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        bounds, sigma = own.get("bounds"), own.get("sigma")
        return {"kind": self.kind, "bounds": bounds and list(bounds), "sigma": sigma}

    @abstractmethod
    def describe(self) -> str:
        """What is assumed, for people."""

    def negated(self) -> "Noise":
        """The same of the values with their sign changed, as where low ones are good."""
        return self

    def learned(self, *, binary: bool) -> "Noise":
        """What is assumed after the first values, all of them 0 or 1 if `binary`."""
        return self

    # What values there can be.

    @property
    def limits(self) -> Bounds | None:
        """The lowest and the highest possible value, if there are such."""
        return None

    @property
    def allowed(self) -> Callable[[float], bool] | None:
        """Whether a value is possible; None if all are."""
        return None

    @property
    @abstractmethod
    def scale(self) -> float | None:
        """The sub-Gaussian scale; None if it has to be learned."""

    @property
    def variance(self) -> float | None:
        """What the variance of a pull is taken for; None if the values have to show it."""
        return None

    @property
    def sharing_costs_little(self) -> bool:
        """Whether seeds may be shared by all arms without asking.

        With a known scale the worst that differences may do is assumed, which costs half as many
        pulls again; between wider bounds than 0 and 1 it costs an eighth.
        """
        return False

    # What speaks against an arm.

    def evidence(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Evidence:
        """The evidence that needs the fewest pulls."""
        return self.group_sequential(arms, delta, top=top, paired=paired)

    def group_sequential(
        self, arms: int, delta: float, *, top: int = 1, paired: bool = False
    ) -> GroupSequential:
        """Evidence by the sums of rounds: by the scale, or if there is none, as of normal values.

        >>> from paceline.core.noise import BERNOULLI
        >>> BERNOULLI.group_sequential(3, 0.05).sigma
        0.5
        """
        if self.scale is None:
            return PairedStudent(arms, delta, top) if paired else Student(arms, delta, top)
        return KnownSigma(arms, delta, self.scale, tails="subgaussian", paired=paired, top=top)

    def betting(self, arms: int, delta: float, *, top: int = 1, paired: bool = False) -> Betting:
        """Evidence by bets on values between bounds; refused where there are none."""
        raise InvalidInput("betting is for values between bounds: declare them, or leave it out")

    def gains(self, arms: int, delta: float, *, paired: bool = False) -> Gains:
        """The games by which a leader is shown to be near enough to all others."""
        return gains_of_scores(self.group_sequential(arms, delta, paired=paired))

    # What can be said about a mean.

    def intervals(self, tally: Tally, alpha: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds on the means of all arms; each pair fails with chance `alpha`.

        That is at most, and over all times at once; for several arms together divide `alpha` by
        their number. An arm of which nothing can be said gets the limits, else ∓∞.

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
        """Means, and variances of a pull, drawn to what all have in common while pulls are few.

        None if nothing can be said yet.
        """
        means = tally.means(arms)
        if self.variance is not None:
            return means, np.full(arms.size, self.variance)
        return (means, shrunk_variances(tally, arms)) if tally.pulls[arms].max() > 1 else None

    def pull_variances(self, tally: Tally, arms: Ints) -> Floats | None:
        """Variances of a pull, without bias, of the arms that show one; None if no arm does."""
        if self.variance is not None:
            return np.full(arms.size, self.variance)
        variances = tally.variances(arms)
        shown = np.isfinite(variances)
        return variances[shown] if shown.any() else None

    def tails(self, *, sigma: float | None = None, paired: bool = False) -> Tails:
        """How likely means stray; `sigma` overrides the scale. Refused where there is neither."""
        return SubgaussianTails(self._scale_or(sigma), paired)

    def _scale_or(self, sigma: float | None) -> float:
        scale = self.scale if sigma is None else positive(sigma, "sigma")
        if scale is None:
            raise InvalidInput(
                f"{self.describe()}: a bound needs their scale; give sigma=, or declare bounds"
            )
        return scale


def not_together() -> InvalidInput:
    """Bounds for a noise that has none, or none for the one that needs them."""
    return InvalidInput("noise='bounded' and bounds=(lowest, highest) go together")
