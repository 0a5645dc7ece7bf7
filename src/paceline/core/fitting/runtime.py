"""τ(c): the seconds of one pull on c cores, as a formula."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import non_negative, positive
from paceline.core.scaling import Ernest
from paceline.errors import InvalidInput, unknown_name

# The simplest first: on a near tie the earlier one wins. The numbers count their parameters.
PARAMETERS = {"constant": 1, "power law": 2, "Amdahl": 2, "Ernest": 4}

# Logarithms need times above 0; no clock resolves less than this.
LEAST_SECONDS = 1e-9


@dataclass(frozen=True)
class Runtime:
    """The seconds of one pull on c cores: fixed + parallel·c^-exponent + log·ln c + linear·c.

    If that formula rises again, a pull leaves idle the cores that would slow it down. So the
    runtime never rises, as `CorePool` requires. `error` is the relative error on core counts that
    were held out of the fit; NaN if there were too few to hold one out.

    >>> runtime = Runtime("Ernest", fixed=1.0, parallel=8.0, linear=0.5)
    >>> runtime(1), runtime(4), runtime(16)
    (9.5, 5.0, 5.0)
    >>> runtime.describe()
    '1 s + 8 s/c + 0.5 s · c'
    """

    model: str
    fixed: float = 0.0
    parallel: float = 0.0
    exponent: float = 1.0
    log: float = 0.0
    linear: float = 0.0
    error: float = math.nan

    def __post_init__(self) -> None:
        if self.model not in PARAMETERS:
            raise unknown_name("runtime model", self.model, PARAMETERS)
        for name in ("fixed", "parallel", "exponent", "log", "linear"):
            non_negative(getattr(self, name), f"{name} of Runtime")
        if self.exponent != 1 and (self.log > 0 or self.linear > 0):
            raise InvalidInput(
                f"a Runtime with log or linear has exponent 1, got exponent={self.exponent!r}"
            )
        positive(self.fixed + self.parallel + self.linear, "the runtime on 1 core")
        if not math.isnan(self.error):
            non_negative(self.error, "error of Runtime")

    def __call__(self, cores: float) -> float:
        """τ: the seconds of one pull that may use `cores` cores."""
        if positive(cores, "cores") < 1:
            raise InvalidInput(f"cores must be at least 1, got {cores!r}: a pull needs a core")
        fastest, least_seconds = self._minimum
        return max(float(self.on_all(min(float(cores), fastest))), least_seconds)

    @cached_property
    def _minimum(self) -> tuple[float, float]:
        """Where τ is least, and its least value on a whole number of cores."""
        if self.log == 0 and self.linear == 0:
            return math.inf, 0.0
        fastest = Ernest(self.fixed, self.parallel, self.log, self.linear).fastest_cores
        below, above = self.on_all(np.floor(fastest)), self.on_all(np.ceil(fastest))
        return fastest, float(min(below, above))

    def on_all(self, cores: Any) -> Any:
        """The seconds of a pull that uses all of `cores`, even those that slow it down.

        >>> float(Runtime("Ernest", fixed=1.0, parallel=8.0, linear=0.5).on_all(16))
        9.5
        """
        falling = self.fixed + self.parallel * cores**-self.exponent
        return falling + self.log * np.log(cores) + self.linear * cores

    def scaled(self, factor: float) -> "Runtime":
        """The same shape at another level: every pull takes `factor` times as long.

        >>> Runtime("Amdahl", fixed=0.5, parallel=1.5).scaled(2.0)(1)
        4.0
        """
        names = ("fixed", "parallel", "log", "linear")
        return replace(self, **{name: getattr(self, name) * factor for name in names})

    def describe(self) -> str:
        """The formula in text; c stands for the cores.

        >>> Runtime("power law", parallel=1.02, exponent=0.49).describe()
        '1.02 s · c^-0.49'
        >>> Runtime("Amdahl", fixed=0.5, parallel=1.5).describe()
        '2 s · (0.25 + 0.75/c)'
        >>> Runtime("constant", fixed=3.0).describe()
        '3 s on any number of cores'
        """
        if self.model == "constant":
            return f"{self(1):.3g} s on any number of cores"
        if self.model == "power law":
            return f"{self.parallel:.3g} s · c^-{self.exponent:.2f}"
        if self.model == "Amdahl":
            serial = self.fixed / self(1)
            return f"{self(1):.3g} s · ({serial:.2g} + {1 - serial:.2g}/c)"
        terms = {"": self.fixed, "/c": self.parallel, " · ln c": self.log, " · c": self.linear}
        return " + ".join(f"{weight:.3g} s{term}" for term, weight in terms.items() if weight)

    def to_json(self) -> dict[str, str | float | None]:
        """Plain values, for a journal; an unknown error is None, since JSON has no NaN.

        >>> Runtime.from_json(Runtime("constant", fixed=3.0).to_json())(8)
        3.0
        """
        return asdict(self) | {"error": None if math.isnan(self.error) else self.error}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Runtime":
        """Undo `to_json`."""
        error = values.get("error")
        try:
            return cls(**{**values, "error": math.nan if error is None else error})
        except TypeError as wrong:
            raise InvalidInput(f"not a runtime written by to_json: {values!r}") from wrong
