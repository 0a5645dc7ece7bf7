"""The bar that a Brownian motion, looked at on a fixed grid, crosses with probability δ at most.

A score that is the sum of independent normal steps, one per cell of the grid, is such a motion.
The boundary is found look by look: the density of the motions that have not crossed yet is
carried on from look to look by numerical integration (Armitage, McPherson and Rowe 1969), and
each look's bar is set where exactly its share of δ crosses (Lan and DeMets 1983).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from paceline.core.arrays import Floats, Ints

PILOT = 3  # pulls of each arm that only choose opponents
_FIRST_LOOK = 8
_GROWTH = 1.5
_LOOKS = 95  # enough for more pulls of an arm than can be counted

# Most of δ goes to the looks at which races end; the rest lasts for ever.
_EARLY = 50
_EARLY_SHARE = 0.98
_SPENT = 0.999  # the rest covers the error of the integration, which is far smaller

_NODES = 160
_LOWEST = -9.0  # standard deviations: anything below is dropped


def _depths() -> Ints:
    depths = [_FIRST_LOOK]
    while len(depths) < _LOOKS:
        depths.append(-int(-depths[-1] * _GROWTH // 1))
    return np.array(depths, dtype=np.int64)


DEPTHS: Ints = _depths()  # N_g: the pulls of an arm at each look
TIMES: Floats = (DEPTHS - PILOT).astype(np.float64)  # τ_g: the pulls that count


def spending(delta: float) -> Floats:
    """α_g: how much of δ each look may use; the sum over all looks, for ever, is below δ.

    >>> spending(0.1)[[0, 1, 10, 60]].round(6)
    array([1.9583e-02, 1.1797e-02, 2.0850e-03, 2.7000e-05])
    """
    looks = np.arange(_LOOKS, dtype=np.float64)
    early = (looks[:_EARLY] + 2) ** -1.25
    early *= _EARLY_SHARE / early.sum()
    late = (1 - _EARLY_SHARE) * _EARLY / (looks[_EARLY:] * (looks[_EARLY:] + 1))
    spent: Floats = np.r_[early, late] * (_SPENT * delta)
    return spent


@dataclass
class Boundary:
    """b_g, in standard deviations, look by look; computed as far as it is asked for.

    >>> bars = boundary(0.1)
    >>> [round(bars.at(look), 2) for look in (0, 5, 10, 20, 30)]
    [2.06, 2.37, 2.62, 2.91, 3.07]
    """

    spends: Floats  # α_g
    times: Floats  # τ_g
    _bars: list[float] = field(default_factory=list)
    _points: Floats = field(default_factory=lambda: np.zeros(1))  # where the motion may be now
    _mass: Floats = field(default_factory=lambda: np.ones(1))  # and with which probability

    def at(self, look: int) -> float:
        """The bar at a look."""
        while len(self._bars) <= look:
            self._extend()
        return self._bars[look]

    def up_to(self, look: int) -> Floats:
        """The bars of all looks before `look`."""
        if look > 0:
            self.at(look - 1)
        return np.array(self._bars[:look])

    def _extend(self) -> None:
        from scipy.special import ndtr

        look = len(self._bars)
        now = self.times[look]
        step = np.sqrt(now - (self.times[look - 1] if look else 0.0))
        allowed = self.spends[look]

        def crossing(bar: float) -> float:
            return float(self._mass @ ndtr((self._points - bar * np.sqrt(now)) / step))

        bar = _falling_root(crossing, allowed)
        self._bars.append(bar)
        # Gauss–Legendre on what has not crossed; the density is smooth, so few nodes suffice.
        nodes, weights = _legendre()
        half = 0.5 * (bar - _LOWEST) * np.sqrt(now)
        points = half * (nodes + 1) + _LOWEST * np.sqrt(now)
        apart = (points[:, None] - self._points) / step
        density = np.exp(-0.5 * apart**2) @ self._mass / (step * np.sqrt(2 * np.pi))
        self._points, self._mass = points, density * weights * half


def _falling_root(function: Callable[[float], float], target: float) -> float:
    low, high = 0.0, 40.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) > target else (low, middle)
    return high


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(_NODES)


@lru_cache(maxsize=256)
def boundary(delta: float) -> Boundary:
    """The boundary for δ, shared by all races of a process."""
    return Boundary(spending(delta), TIMES)


@lru_cache(maxsize=1024)
def closed_boundary(delta: float, shares: tuple[float, ...], times: tuple[float, ...]) -> Boundary:
    """The boundary on a grid that ends: look g, at the time `times[g]`, may use `shares[g]` of δ.

    >>> closed_boundary(0.05, (0.5, 0.5), (1.0, 2.0)).up_to(2).round(2)
    array([1.96, 1.81])
    """
    return Boundary(_SPENT * delta * np.array(shares), np.array(times))
