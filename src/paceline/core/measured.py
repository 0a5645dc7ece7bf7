"""λ through measured points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, finite_floats
from paceline.core.scaling import ROUNDING, Tabulated
from paceline.errors import InvalidInput

_MOST_SHOWN = 20  # points in a repr


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Measured(Tabulated):
    """λ through measured points: `seconds[i]` is how long a round of `pulls[i]` pulls took.

    λ is the least-squares fit, in relative error, among functions that start at 0, rise and are
    concave. It passes through all points if they already have that shape. Beyond the last point it
    continues with the slope it had there.

    >>> scaling = Measured(pulls=[1, 2, 4], seconds=[1.0, 1.5, 2.0])
    >>> round(scaling.seconds(2), 9), round(scaling.seconds(3), 9), round(scaling.pulls(2.5), 9)
    (1.5, 1.75, 6.0)
    """

    knots: Floats
    values: Floats
    last_slope: float

    def __init__(self, pulls: Any, seconds: Any) -> None:
        knots = finite_floats(pulls, "pulls of Measured")
        times = finite_floats(seconds, "seconds of Measured")
        if knots.size != times.size or knots.size == 0:
            raise InvalidInput(
                f"Measured needs as many pulls as seconds, and at least one: "
                f"got {knots.size} and {times.size}"
            )
        if knots.min() <= 0 or times.min() <= 0:
            raise InvalidInput("pulls and seconds of Measured must be above 0")
        at = np.unique(knots)
        weights = _fit(at, knots, times)
        # Σ w_j min(m, m_j) with w ≥ 0: every rising concave function with knots m_j is one.
        values = np.minimum(at[:, None], at) @ weights
        at.flags.writeable = values.flags.writeable = False
        vars(self).update(knots=at, values=values, last_slope=float(weights[-1]))

    @cached_property
    def table(self) -> tuple[bytes, bytes, float]:
        """The points, and the slope beyond them."""
        return self.knots.tobytes(), self.values.tobytes(), self.last_slope

    def _seconds(self, pulls: Floats) -> Floats:
        inside: Floats = np.interp(pulls, np.r_[0.0, self.knots], np.r_[0.0, self.values])
        beyond: Floats = np.maximum(pulls - self.knots[-1], 0.0)
        return inside + self.last_slope * beyond

    def _pulls(self, seconds: Floats) -> Floats:
        inside: Floats = np.interp(seconds, np.r_[0.0, self.values], np.r_[0.0, self.knots])
        beyond: Floats = np.maximum(seconds - self.values[-1], 0.0)
        return inside + beyond / self.last_slope

    @property
    def least_seconds_per_pull(self) -> float:
        """The last slope."""
        return self.last_slope

    def __repr__(self) -> str:
        if self.knots.size > _MOST_SHOWN:
            first, last = self.knots[[0, -1]]
            return f"<Measured at {self.knots.size} numbers of pulls, from {first:g} to {last:g}>"
        return f"Measured(pulls={self.knots.tolist()}, seconds={self.values.round(6).tolist()})"


def _fit(knots: Floats, pulls: Floats, seconds: Floats) -> Floats:
    """The weights of min(m, m_j), for all knots m_j."""
    from scipy.optimize import nnls  # here, because it doubles the time to import paceline

    order = np.argsort(pulls, kind="stable")
    half = pulls.size // 2
    if half and seconds[order[-half:]].mean() <= seconds[order[:half]].mean() * (1 + ROUNDING):
        raise InvalidInput(
            f"the measured seconds do not rise: {seconds[order[0]]:g} s for "
            f"{pulls[order[0]]:g} pulls and {seconds[order[-1]]:g} s for {pulls[order[-1]]:g}. "
            "More pulls must take longer: repeat the measurements, or add one with more pulls"
        )
    # Where noise makes the end flat, λ still has to rise beyond it.
    least_slope = 0.05 * seconds[order[-1]] / pulls[order[-1]]
    design = np.minimum(pulls[:, None], knots) / seconds[:, None]
    weights, _ = nnls(design, 1.0 - least_slope * design[:, -1])
    weights[-1] += least_slope
    return np.asarray(weights, dtype=np.float64)
