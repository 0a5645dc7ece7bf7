"""How much longer a race may take, judged by how far apart the remaining arms are."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats


@dataclass(frozen=True)
class Outlook:
    """The gap between the leader (with a top k, the k-th) and the arm nearest to it.

    `nearest` holds the places of these two. `pulls` estimates how many more pulls are needed in
    all, if the gaps are what they seem. `unclear` says that the gap could also be 0; then the race
    takes longer.
    """

    nearest: tuple[int, int]
    gap: float
    error: float
    pulls: float
    unclear: bool
    variance: float  # of a difference of these two


def outlook(
    values: Sequence[Floats], delta: float, *, paired: bool = False, top: int = 1
) -> Outlook | None:
    """The outlook for arms with these values (higher is better); None if it is too early to tell.

    >>> rng = np.random.default_rng(0)
    >>> found = outlook([rng.normal(0, 1, 400), rng.normal(0.2, 1, 400)], delta=0.05)
    >>> found.nearest, round(found.gap, 1), round(found.error, 2), found.unclear
    ((1, 0), 0.2, 0.07, False)
    """
    if len(values) <= top or min(one.size for one in values) < 2:
        return None
    with np.errstate(all="ignore"):  # values near the largest floats
        return _outlook(values, delta, paired, top)


def _outlook(values: Sequence[Floats], delta: float, paired: bool, top: int) -> Outlook | None:
    means = np.array([one.mean() for one in values])
    ahead = np.argsort(-means, kind="stable")[:top].tolist()
    leader = ahead[-1]  # the last that would be chosen; it must be told apart from the next
    best = values[leader]
    bar = 2 * math.log(1 / delta) + _COST  # squared standard errors
    needed, nearest = np.zeros(means.size), (-1, math.inf, 0.0, 0.0)
    for place, one in enumerate(values):
        if place in ahead:
            continue
        both = min(one.size, best.size)
        gap, variance = float(means[leader] - means[place]), float(best.var() + one.var())
        if paired:
            apart = best[:both] - one[:both]
            gap, variance = max(float(apart.mean()), 0.0), float(apart.var())
            gap, variance = _beyond_rounding(gap, variance, float(abs(best).max()))
        error = math.sqrt(variance / both)
        if not math.isfinite(gap + error):
            return None
        likely = max(gap, error)  # a gap lost in the noise is no larger than the error
        needed[place] = bar * (math.sqrt(variance) / likely) ** 2 if likely > 0 else math.inf
        if gap < nearest[1]:
            nearest = (place, gap, error, variance)
    needed[leader] = needed.max()
    done = np.array([one.size for one in values], dtype=np.float64)
    more = float(np.maximum(needed - done, 0.0).sum())
    place, gap, error, variance = nearest
    unclear = gap < 2 * error
    return Outlook((leader, place), gap, error, more, unclear, variance)


def affordable_tolerance(
    variance: float, arms: int, delta: float, pulls: float
) -> tuple[float, float] | None:
    """The least round tolerance for which a new race of tied arms takes at most `pulls` in all.

    With it, how many it takes; `variance` is that of a difference of two arms. None if no
    tolerance helps.

    >>> affordable_tolerance(variance=2.0, arms=2, delta=0.05, pulls=1500)
    (0.1, 1298.7)
    """
    from scipy.special import ndtri  # here, because it takes as long as the rest of paceline

    bar = _COST_OF_ENDING * float(ndtri(delta / max(arms - 1, 1))) ** 2
    if not 0 < variance < math.inf or pulls <= 0:
        return None
    least = math.sqrt(arms * bar * variance / pulls)
    size = 10.0 ** math.floor(math.log10(least))
    tolerance = next(step * size for step in (1, 2, 5, 10) if step * size >= least)
    return float(f"{tolerance:.1g}"), round(arms * bar * variance / tolerance**2, 1)


def _beyond_rounding(gap: float, variance: float, size: float) -> tuple[float, float]:
    """A gap and a variance of differences of numbers of this size, without what is rounding.

    >>> _beyond_rounding(0.3, 1e-33, size=1.0), _beyond_rounding(5e-17, 1e-33, size=1.0)
    ((0.3, 0.0), (0.0, 0.0))
    """
    unit = _ROUNDINGS * sys.float_info.epsilon * size
    return 0.0 if gap <= unit else gap, 0.0 if variance <= unit**2 else variance


_ROUNDINGS = 8  # of a number, in the sums that a pull and we make of it
_COST_OF_ENDING = 1.2  # times a single look: ties with tolerances of .1 and .3, 2 to 8 arms
_COST = 4.0  # the cost of looking often, in squared standard errors
