"""What is assumed about the rewards: every guarantee rests on one of these."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from paceline.core.arrays import finite_floats, positive
from paceline.errors import InvalidInput, unknown_name

NOISES = ("auto", "bernoulli", "bounded", "normal", "subgaussian")


@dataclass(frozen=True)
class Noise:
    """What is assumed about the values: `kind` is one of NOISES, the others are its parameters.

    `"auto"` stands for whatever the first values show.
    """

    kind: str
    bounds: tuple[float, float] | None = None
    sigma: float | None = None

    @classmethod
    def checked(cls, kind: str, bounds: Any = None, sigma: float | None = None) -> "Noise":
        """The noise that a user named; a contradiction is refused.

        >>> Noise.checked("auto", bounds=[0, 10])
        Noise(kind='bounded', bounds=(0.0, 10.0), sigma=None)
        """
        if kind not in NOISES:
            raise unknown_name("noise", kind, NOISES)
        limits = None
        if bounds is not None:
            pair = finite_floats(bounds, "bounds").tolist()
            if len(pair) != 2 or pair[0] >= pair[1]:
                raise InvalidInput(f"bounds must be (lowest, highest), got {bounds!r}")
            limits = (pair[0], pair[1])
        if sigma is not None:
            positive(sigma, "sigma")
        if kind == "auto":
            if limits is not None and sigma is not None:
                raise InvalidInput(
                    "give bounds or sigma, not both: each says how noisy values can be"
                )
            kind = "bounded" if limits else "subgaussian" if sigma is not None else "auto"
        if (kind == "bounded") != (limits is not None):
            raise InvalidInput("noise='bounded' and bounds=(lowest, highest) go together")
        if kind == "subgaussian" and sigma is None:
            raise InvalidInput("noise='subgaussian' needs sigma=, the scale of the noise")
        if kind in ("bernoulli", "bounded") and sigma is not None:
            raise InvalidInput(f"noise={kind!r} needs no sigma")
        return cls(kind, limits, sigma)

    @property
    def scale(self) -> float | None:
        """The sub-Gaussian scale; None if it has to be learned."""
        if self.sigma is not None or self.limits is None:
            return self.sigma
        return (self.limits[1] - self.limits[0]) / 2

    @property
    def limits(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value, if there are such."""
        return self.bounds or ((0.0, 1.0) if self.kind == "bernoulli" else None)

    @property
    def allowed(self) -> Callable[[float], bool] | None:
        """Whether a value is possible; None if all are."""
        limits = self.limits
        if limits is None:
            return None
        low, high = limits
        if self.kind == "bernoulli":
            return lambda value: value in (low, high)
        return lambda value: low <= value <= high

    def negated(self) -> "Noise":
        """The same of the values with their sign changed, as where low ones are good.

        >>> Noise("bounded", bounds=(0.5, 2.0)).negated().limits
        (-2.0, -0.5)
        """
        limits = self.limits
        return self if limits is None else replace(self, bounds=(0.0 - limits[1], 0.0 - limits[0]))

    def describe(self) -> str:
        """What is assumed, for people.

        >>> Noise("bounded", bounds=(0.0, 2.0)).describe()
        'values between 0 and 2'
        """
        if self.kind == "bernoulli":
            return "values 0 and 1"
        if self.bounds is not None:
            return f"values between {self.bounds[0]:g} and {self.bounds[1]:g}"
        if self.kind == "auto":
            return "seen from the first values"
        if self.sigma is not None:
            kind = "normal" if self.kind == "normal" else "sub-Gaussian"
            return f"{kind} values with scale {self.sigma:g}"
        return "normal values with unknown variances"


BERNOULLI = Noise("bernoulli")
