"""How many values of each arm are enough, if an arm within ε of the best is good enough.

Take N values of each arm, and the arm with the highest mean. For that arm to be too bad, one that
is worse than the best by more than ε must have shown a mean no lower. N is so large that this has a
probability of α at most, for any means. If variances must be learned, N depends on those that were
seen in a stage of their own. These say nothing about the means of that stage, so its values count
(Stein 1945; Rinott 1978).
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, Floats, Ints

_NODES = 128
_REACH = 1e-14  # of a chi-square: what lies beyond these quantiles is counted as an error


def enough(constant: float, variance: float | Floats, tolerance: float) -> Ints:
    """h² σ²/ε², as a whole number that can be counted.

    >>> enough(3.0, np.array([1.0, 4.0]), tolerance=0.5).tolist()
    [36, 144]
    """
    most = float(MOST_PULLS_PER_ARM)
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.sqrt(np.asarray(variance, dtype=np.float64)) / tolerance
        needed = np.nan_to_num(np.ceil((constant * deviations) ** 2), nan=most)
    return np.asarray(np.clip(needed, 1.0, most).astype(np.int64))


@lru_cache(maxsize=256)
def bechhofer(rivals: int, alpha: float) -> float:
    """h for σ known and N = h² σ²/ε²: the best loses to one of the `rivals` with chance α at most.

    Means of N values are σ/√N apart by chance; given that of the best, all others are independent.

    >>> round(bechhofer(1, 0.05), 3), round(bechhofer(9, 0.05), 3)
    (2.326, 3.418)
    """
    from scipy.special import log_ndtr

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()

    def error(h: float) -> float:
        return float(weights @ -np.expm1(rivals * log_ndtr(nodes + h)))

    return _least(error, alpha)


@lru_cache(maxsize=256)
def rinott(free: int, rivals: int, alpha: float) -> float:
    """h for variances S² with `free` degrees of freedom, and N = h² S²/ε² of each arm's own.

    Given all S², the means are normal, and the difference of two has a variance of at most
    ε²/h² · (σ²/S² + σ'²/S'²). That the best is above one rival makes it likelier to be above
    another (Slepian 1962), so the chances may be multiplied; given S of the best, the rivals' S are
    independent.

    >>> round(rinott(19, 9, 0.05), 2), round(rinott(1000, 1, 0.05), 2)
    (3.88, 2.33)
    """
    from scipy.special import gammaincinv, gammaln, ndtr

    low, high = (2 * gammaincinv(free / 2, [_REACH, 1 - _REACH])) ** 0.5  # of χ, not χ²
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    chi = low + 0.5 * (high - low) * (nodes + 1)
    density = (free - 1) * np.log(chi) - chi**2 / 2 - gammaln(free / 2) - (free / 2 - 1) * np.log(2)
    weights = weights * np.exp(density) * 0.5 * (high - low)
    inverse = free / chi**2  # σ²/S²
    spread = np.sqrt(inverse[:, None] + inverse)

    def error(h: float) -> float:
        lost = np.minimum(ndtr(-h / spread) @ weights, 1.0)
        with np.errstate(divide="ignore"):
            kept = np.exp(rivals * np.log1p(-lost))
        return 1.0 - float(weights @ kept)

    return _least(error, alpha)


@lru_cache(maxsize=256)
def stein(free: int, alpha: float) -> float:
    """Student's quantile: h if the variance of one mean, or difference, was seen.

    >>> round(stein(19, 0.05), 3)
    1.729
    """
    from scipy.special import stdtrit

    return float(-stdtrit(free, alpha))


def hoeffding(scale: float, pairs: int, alpha: float, tolerance: float, *, paired: bool) -> int:
    """N for values with sub-Gaussian noise: exp(−N ε²/4σ²), or twice the N if pairs may depend.

    >>> hoeffding(0.5, 1, 0.05, 0.1, paired=False)
    300
    """
    constant = (4 * np.log(pairs / alpha) * (2 if paired else 1)) ** 0.5
    return int(enough(float(constant), scale**2, tolerance))


def between_limits(pairs: int, alpha: float, tolerance: float, *, paired: bool) -> int:
    """N for values in [0, 1]: zeros and ones of means (1 ± ε)/2 are the worst case.

    They give (1 − ε²)^N; half the exponent if pairs may depend.

    >>> between_limits(1, 0.05, 0.1, paired=False), between_limits(1, 0.05, 2.0, paired=False)
    (299, 1)
    """
    if tolerance >= 1:
        return 1
    rate = -np.log1p(-(tolerance**2)) * (0.5 if paired else 1.0)
    return int(min(np.ceil(np.log(pairs / alpha) / rate), float(MOST_PULLS_PER_ARM)))


def _least(error: Callable[[float], float], alpha: float) -> float:
    """The least h with an error of at most α; errors fall as h rises."""
    low, high = 0.0, 1.0
    while error(high) > alpha:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if error(middle) > alpha else (low, middle)
    return high
