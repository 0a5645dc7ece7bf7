"""λ, the scaling function: how long m pulls take when they share the pool evenly.

One pull on a share α of the pool takes λ(1/α), so λ(1) is the time of one pull on everything. All
that a policy sees of the machine is λ (`seconds`) and its inverse (`pulls`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from paceline.core.arrays import Floats, non_negative, positive
from paceline.errors import InvalidInput

# The relative slack when comparing times that were computed in two ways.
ROUNDING = 1e-12

# λ⁻¹ soon exceeds int64: at m^0.1, twice the time buys 1024 times as many pulls.
MOST_PULLS_AT_ONCE = 2.0**60


class Scaling(ABC):
    """A scaling function and its inverse, for numbers and for arrays.

    A scaling of your own needs only `_seconds`, the time of an array of positive numbers of
    pulls; the inverse is then found by bisection.

    >>> class Logarithmic(Scaling):
    ...     def _seconds(self, pulls):
    ...         return np.log1p(pulls)
    >>> round(Logarithmic().pulls(1.0), 6)
    1.718282
    """

    @abstractmethod
    def _seconds(self, pulls: Floats) -> Floats:
        """λ of an array of positive numbers."""

    @overload
    def seconds(self, pulls: float) -> float: ...
    @overload
    def seconds(self, pulls: Floats) -> Floats: ...
    def seconds(self, pulls: Any) -> Any:
        """λ: the seconds that `pulls` pulls take if they run at once on even shares of the pool."""
        return self._apply(self._seconds, pulls, "pulls")

    @overload
    def pulls(self, seconds: float) -> float: ...
    @overload
    def pulls(self, seconds: Floats) -> Floats: ...
    def pulls(self, seconds: Any) -> Any:
        """λ⁻¹: the largest number of pulls that take at most `seconds`."""
        return self._apply(self._pulls, seconds, "seconds")

    def whole_pulls(self, seconds: float) -> int:
        """The largest whole number of pulls that take at most `seconds`, up to rounding.

        In floating point λ⁻¹(λ(n)) is often a hair below n, and its floor one pull short.

        >>> scaling = PowerLaw(0.25)
        >>> int(scaling.pulls(scaling.seconds(9))), scaling.whole_pulls(scaling.seconds(9))
        (8, 9)
        """
        count = int(min(self.pulls(seconds), MOST_PULLS_AT_ONCE))
        return count + 1 if self.seconds(count + 1.0) <= seconds * (1 + ROUNDING) else count

    @property
    def widest(self) -> float:
        """How many pulls can run at once; more must wait their turn."""
        return math.inf

    @property
    def least_seconds_per_pull(self) -> float:
        """The limit of λ(m)/m: what a pull costs at the highest throughput (the paper's α₁)."""
        # λ(m)/m falls where λ is concave, so a huge m bounds the limit from above.
        return self.seconds(MOST_PULLS_AT_ONCE) / MOST_PULLS_AT_ONCE

    def _pulls(self, seconds: Floats) -> Floats:
        low = np.zeros_like(seconds)
        high = np.ones_like(seconds)
        growing = self._seconds(high) <= seconds
        while growing.any() and high.max() < 1e300:
            high[growing] *= 2.0
            growing = self._seconds(high) <= seconds
        high[growing] = np.inf  # λ stays below `seconds` for ever
        for _ in range(120):  # enough to halve any bracket down to the last bit
            middle = np.where(np.isinf(high), high, 0.5 * (low + high))
            if np.all((middle == low) | (middle == high)):
                break
            fits = self._seconds(np.where(np.isinf(middle), 1.0, middle)) <= seconds
            low = np.where(fits, middle, low)
            high = np.where(fits, high, middle)
        return np.where(np.isinf(high), high, low)

    @staticmethod
    def _apply(function: Any, values: Any, what: str) -> Any:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
        least = array.min() if array.size else 1.0
        if not least >= 0:  # also catches NaN
            raise InvalidInput(f"{what} must be at least 0, got {values!r}")
        if least > 0:
            result = function(array)
        else:
            result = np.zeros_like(array)
            some = array > 0
            result[some] = function(array[some])
        return float(result[0]) if np.ndim(values) == 0 else result

    def __add__(self, other: "Scaling") -> "Scaling":
        """Serial phases that scale differently add up, as in λ(m) = β₁ m + β₂ λ'(m)."""
        return Sum((self, other)) if isinstance(other, Scaling) else NotImplemented

    def __mul__(self, factor: float) -> "Scaling":
        return Sum((self,), (positive(factor, "the factor of a scaling"),))

    __rmul__ = __mul__


class Tabulated(Scaling):
    """A scaling that is a table of numbers: frozen, and equal to any other with the same table.

    Equality must not depend on the object: a resumed race builds new ones.
    """

    @property
    @abstractmethod
    def table(self) -> tuple[Hashable, ...]:
        """All of its parts; arrays as bytes, whose hash is computed once."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tabulated) or type(other) is not type(self):
            return NotImplemented
        return self.table == other.table

    def __hash__(self) -> int:
        return hash(self.table)


def differs(one: Scaling, other: Scaling) -> bool:
    """Whether two scalings differ; the answer is immediate if they are the same object.

    >>> differs(PowerLaw(0.5), PowerLaw(0.5)), differs(PowerLaw(0.5), Amdahl(0.5))
    (False, True)
    """
    return one is not other and one != other


@dataclass(frozen=True)
class PowerLaw(Scaling):
    """λ(m) = unit_seconds · m^q, with 0 < q ≤ 1. Scaling is perfect at q = 1 and poor near 0.

    >>> PowerLaw(0.5).seconds(64), PowerLaw(0.25).pulls(2.0)
    (8.0, 16.0)
    """

    q: float
    unit_seconds: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < positive(self.q, "q of PowerLaw") <= 1:
            raise InvalidInput(
                f"q of PowerLaw must lie in (0, 1], got {self.q!r}: above 1 a share of the pool "
                "would be worth more than its size; below 0 λ falls"
            )
        positive(self.unit_seconds, "unit_seconds")

    def _seconds(self, pulls: Floats) -> Floats:
        return self.unit_seconds * pulls**self.q

    def _pulls(self, seconds: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return (seconds / self.unit_seconds) ** (1.0 / self.q)

    @property
    def least_seconds_per_pull(self) -> float:
        """Zero unless q = 1: a power law has no least work, so c_λ of the lower bound is 0."""
        return self.unit_seconds if self.q == 1 else 0.0


@dataclass(frozen=True)
class Amdahl(Scaling):
    """λ(m) = unit_seconds · (serial · m^serial_exponent + (1 − serial) · m).

    `serial` is the share of a pull's time, on the whole pool, that more resource cannot shorten.
    `serial_exponent=0.5` is the variant of Hill and Marty for chips that lend all their resource
    to the serial part, which then speeds up by its square root.

    >>> Amdahl(0.1).seconds(10)
    9.1
    >>> Amdahl(0.1, serial_exponent=0.5).seconds(9)
    8.4
    """

    serial: float
    serial_exponent: float = 0.0
    unit_seconds: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= non_negative(self.serial, "serial of Amdahl") < 1:
            raise InvalidInput(
                f"serial of Amdahl must lie in [0, 1), got {self.serial!r}: it is the share of a "
                "pull's time that more resource cannot shorten"
            )
        if not 0 <= non_negative(self.serial_exponent, "serial_exponent") < 1:
            raise InvalidInput(f"serial_exponent must lie in [0, 1), got {self.serial_exponent!r}")
        positive(self.unit_seconds, "unit_seconds")

    def _seconds(self, pulls: Floats) -> Floats:
        serial_part = self.serial * pulls**self.serial_exponent
        return self.unit_seconds * (serial_part + (1 - self.serial) * pulls)

    def _pulls(self, seconds: Floats) -> Floats:
        if self.serial_exponent > 0:
            return super()._pulls(seconds)
        parallel = seconds / self.unit_seconds - self.serial
        return np.maximum(parallel, 0.0) / (1 - self.serial)

    @property
    def least_seconds_per_pull(self) -> float:
        """The parallel part: ever more pulls share the serial one."""
        return self.unit_seconds * (1 - self.serial)


@dataclass(frozen=True)
class Ernest(Scaling):
    """Ernest's model of a run on c cores: τ(c) = fixed + parallel/c + log·ln c + linear·c seconds.

    A pull never uses more cores than help it, so λ never falls. Shares below one core count as
    time slices of a core: λ(m) = τ(1)·m/cores for m > cores. The last two terms make λ convex in
    between, so the paper's third assumption fails. It stays subadditive, which the policies need.

    >>> model = Ernest(fixed=1.0, parallel=8.0, linear=0.5, cores=16)
    >>> model.seconds(1), model.seconds(4), model.seconds(16), model.seconds(32)
    (5.0, 5.0, 9.5, 19.0)
    """

    fixed: float
    parallel: float
    log: float = 0.0
    linear: float = 0.0
    cores: float = 1.0

    def __post_init__(self) -> None:
        for name in ("fixed", "parallel", "log", "linear"):
            non_negative(getattr(self, name), f"{name} of Ernest")
        if positive(self.cores, "cores of Ernest") < 1:
            raise InvalidInput(f"cores of Ernest must be at least 1, got {self.cores!r}")
        positive(self.runtime(1.0), "fixed + parallel + linear of Ernest")

    def runtime(self, cores: Any) -> Any:
        """τ: the seconds of one pull on `cores` cores, or on fewer if more would slow it down."""
        used = np.clip(cores, 1.0, self.fastest_cores)
        return self.fixed + self.parallel / used + self.log * np.log(used) + self.linear * used

    @cached_property
    def fastest_cores(self) -> float:
        """The number of cores at which τ is least: the root of its derivative in 1/c."""
        if self.linear > 0:
            # linear·c² + log·c − parallel = 0
            root = np.sqrt(self.log**2 + 4 * self.linear * self.parallel)
            return max(1.0, float(root - self.log) / (2 * self.linear))
        return max(1.0, self.parallel / self.log) if self.log > 0 else float("inf")

    def _seconds(self, pulls: Floats) -> Floats:
        slices = np.maximum(pulls / self.cores, 1.0)
        return np.asarray(self.runtime(self.cores / pulls) * slices, dtype=np.float64)

    @property
    def least_seconds_per_pull(self) -> float:
        """One core's time, spread over all cores."""
        return float(self.runtime(1.0)) / self.cores


@dataclass(frozen=True)
class Sum(Scaling):
    """A sum of scalings with positive factors, made by `2.0 * a + b`; concave if its parts are.

    >>> (0.25 * PowerLaw(1.0) + PowerLaw(0.5)).seconds(16)
    8.0
    """

    parts: tuple[Scaling, ...]
    factors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.factors:
            object.__setattr__(self, "factors", (1.0,) * len(self.parts))

    def _seconds(self, pulls: Floats) -> Floats:
        times = (f * part._seconds(pulls) for f, part in zip(self.factors, self.parts, strict=True))
        return np.asarray(sum(times), dtype=np.float64)

    @property
    def least_seconds_per_pull(self) -> float:
        """The sum of the parts'."""
        pairs = zip(self.factors, self.parts, strict=True)
        return sum(f * part.least_seconds_per_pull for f, part in pairs)
