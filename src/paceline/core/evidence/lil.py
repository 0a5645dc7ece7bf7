"""The paper's confidence interval, from the law of the iterated logarithm.

Jun et al. (2016), lemma 1: for σ-sub-Gaussian rewards and ω < √(1/6), with probability at least
1 − 6ω² the mean of N rewards is within 4σ √(log(log2(2N)/ω)/N) of its expectation for all N at
once. With ω = √(δ/6n) this holds for all n arms with probability 1 − δ.
"""

import math
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.sigma import largest_sigma
from paceline.core.rounds import Results
from paceline.core.tally import Tally


def omega(delta: float, arms: int) -> float:
    """ω = √(δ / 6n), the argument that spreads δ over the arms.

    >>> round(omega(0.1, 16), 5)
    0.03227
    """
    return math.sqrt(delta / (6 * arms))


def radius(
    pulls: Ints, omega: float, sigma: float | Floats = 0.5, deviation: float = 1.0
) -> Floats:
    """Half the width of the interval after `pulls` pulls; infinite before the first.

    The paper's D(N, ω) = √(4 log(log2(2N)/ω) / N) is this at σ = ½, right for rewards in [0, 1];
    the 1-sub-Gaussian rewards of its model need twice that. `deviation` multiplies the width:
    the paper's experiments use 0.2, which voids the guarantee.

    >>> radius(np.array([1, 64]), omega=0.1).round(4)
    array([3.0349, 0.5153])
    """
    count = np.maximum(pulls, 1).astype(np.float64)
    width = (4.0 * sigma * deviation) * np.sqrt(np.log(np.log2(2.0 * count) / omega) / count)
    return np.where(pulls > 0, width, np.inf)


# If σ must be learned, this share of δ is spent on it.
_DELTA_FOR_SIGMA = 0.1


@dataclass(frozen=True)
class LilInterval:
    """The interval for every arm of a race, valid at all times at once.

    `sigma=None` is for normal rewards with unknown variances. An upper bound on σ, which holds for
    all arms at all times with probability 1 − δ/10, then takes its place, and the interval gets the
    rest of δ.
    """

    delta: float
    arms: int
    sigma: float | None
    deviation: float = 1.0

    def bounds(self, tally: Tally, arms: Ints) -> tuple[Floats, Floats]:
        """Lower and upper bounds on the means of `arms`, L_i and U_i."""
        pulls = tally.pulls[arms]
        if self.sigma is not None:
            half = radius(pulls, omega(self.delta, self.arms), self.sigma, self.deviation)
        else:
            spent = _DELTA_FOR_SIGMA * self.delta
            sigma = largest_sigma(tally, arms, spent / self.arms)
            half = radius(pulls, omega(self.delta - spent, self.arms), sigma, self.deviation)
        means = tally.sums[arms] / np.maximum(pulls, 1)
        return means - half, means + half


class LilEvidence(Evidence):
    """The paper's rule: an arm is out when its interval lies below those of k others.

    The intervals hold for all arms at all times with probability 1 − δ, and then none of the top k
    falls. No opponents are chosen; the price is a union over all arms.
    """

    def __init__(
        self, arms: int, delta: float, sigma: float | None, *, arms_at_start: int, top: int = 1
    ) -> None:
        super().__init__(arms, top)
        self.interval = LilInterval(delta, arms_at_start, sigma)

    def next_look(self) -> int:
        """A tenth more pulls."""
        return self.depth + max(1, self.depth // 10)

    def weigh(self, fresh: Results) -> Floats:
        """How far each upper end is below the k-th highest lower end."""
        known = deepcopy(self.tally)
        known.add(fresh)
        return self._below(self.interval, known)

    def out_at(self, level: float, arms: Ints) -> bool:
        """Judged by the current intervals; those of a level contain those of higher levels."""
        below = self._below(replace(self.interval, delta=level), self.tally)
        return bool((below[np.isin(self.alive, arms)] >= 0).all())

    def _below(self, interval: LilInterval, tally: Tally) -> Floats:
        low, high = interval.bounds(tally, self.alive)
        bar = np.sort(low)[-self.top]
        # An interval may be too narrow for floats; the arms that set the bar stay in.
        return np.where(low < bar, bar - high, -np.inf)

    def bars(self, depths: Ints) -> Floats:
        """Two intervals side by side, each four times σ √(log …/N) wide."""
        spread_out = omega(self.interval.delta, self.interval.arms)
        return np.asarray(4 * np.sqrt(2 * np.log(np.log2(2.0 * depths) / spread_out)))

    def scores(self) -> Floats:
        """From the distance to the k-th best mean."""
        means = self.tally.means(self.alive)
        apart = np.sort(means)[-self.top] - means
        scores: Floats = apart * np.sqrt(self.depth / np.maximum(2 * self.variances(), 1e-300))
        return scores
