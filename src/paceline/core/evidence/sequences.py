"""Confidence sequences: intervals for a mean that hold at all times at once.

All are made alike (Robbins 1970). Against every possible mean m there is a bet: a wealth that
starts at 1, is never negative, and does not grow on average if m is the mean. By Ville's inequality
it then ever reaches 1/α with probability at most α. So the means against which the wealth is now
below 1/α are an interval that is right with probability 1 − α, whenever and however often one
looks. The noises differ in the bet. It is spread over many alternatives to m, since the right one
is not known, and needs only what a tally has.
"""

import math
from collections.abc import Callable

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.evidence.sigma import SURE_OF_CONSTANCY
from paceline.core.tally import Tally

# The alternatives are spread around m like the mean of this many pulls. The interval is at its best
# after about 8 times as many at α = 0.05, and 14 times at α = 0.003: 40 and 70 pulls.
_MIXING = 5.0
# With unknown variance it is infinite while (N − 1) log(1 + N/r) ≤ 2 log(1/α). At r = 2 that ends
# with the 6th pull at α = 0.05 and with the 9th at α = 0.003; it costs 4% of the width later.
_MIXING_T = 2.0
# Bets on bounded values: from bold ones, for a few pulls, to timid ones, for 2^53 of them.
_BETS: Floats = 0.5 ** np.arange(-3.0, 26.0)[:, None]
_WEIGHTS: Floats = 1 / np.arange(1.0, 30.0)[:, None] / np.sum(1 / np.arange(1.0, 30.0))

_NEWTON_STEPS = 8  # 5 or 6 are taken
_ROUNDING = 1e-6  # of the log of a wealth
_LARGE = 1e6  # from here on, log Γ minus its largest terms uses the series: they would drown it


def intervals_of_coins(
    tally: Tally, limits: tuple[float, float], alpha: float
) -> tuple[Floats, Floats]:
    """For values that are one of the two limits. See `Noise.intervals`, as for all of these.

    >>> tally = Tally(np.array([100, 100]), np.array([50.0, 0.0]), np.array([50.0, 0.0]))
    >>> low, high = intervals_of_coins(tally, (0.0, 1.0), alpha=0.05)
    >>> low.round(3), high.round(3)
    (array([0.35, 0.  ]), array([0.65 , 0.051]))
    """
    with np.errstate(all="ignore"):  # no pulls, or values near the largest floats: nothing is known
        places, count = _both_ways(tally, limits)
        least = _least_share(np.rint(places * count), count, alpha)
        return _within(limits, least)


def intervals_between(
    tally: Tally, limits: tuple[float, float], alpha: float
) -> tuple[Floats, Floats]:
    """For values between limits.

    >>> tally = Tally(np.array([100]), np.array([50.0]), np.array([26.0]))
    >>> [one.round(3).tolist() for one in intervals_between(tally, (0.0, 1.0), alpha=0.05)]
    [[0.454], [0.546]]
    """
    with np.errstate(all="ignore"):
        places, count = _both_ways(tally, limits)
        variances = tally.variances(np.arange(tally.pulls.size))
        if tally.spreads is None:  # rounding may have hidden some
            variances = np.fmax(variances, 1e-12 * tally.squares / tally.pulls)
        spread = np.tile(variances / (limits[1] - limits[0]) ** 2, 2)
        return _within(limits, _least_mean(places, spread, count, alpha / 2))


def intervals_of_scale(tally: Tally, sigma: float, alpha: float) -> tuple[Floats, Floats]:
    """For σ-sub-Gaussian values."""
    with np.errstate(all="ignore"):
        pulls = tally.pulls.astype(np.float64)
        return _around(tally.sums / pulls, sigma * _radius(pulls, alpha))


def intervals_of_normal(tally: Tally, alpha: float) -> tuple[Floats, Floats]:
    """For normal values with unknown variances."""
    with np.errstate(all="ignore"):
        pulls = tally.pulls.astype(np.float64)
        variances = tally.variances(np.arange(pulls.size))
        return _around(tally.sums / pulls, _t_radius(pulls, variances, alpha))


def _both_ways(tally: Tally, limits: tuple[float, float]) -> tuple[Floats, Floats]:
    """Means as shares of the width, from below and from above, and how many pulls each has.

    An upper bound is a lower one of 1 − x.
    """
    pulls, (low, high) = tally.pulls.astype(np.float64), limits
    place = np.clip((tally.sums / pulls - low) / (high - low), 0.0, 1.0)
    return np.concatenate([place, 1 - place]), np.tile(pulls, 2)


def _within(limits: tuple[float, float], least: Floats) -> tuple[Floats, Floats]:
    """Turn the lower bounds from below and from above into bounds on the means."""
    (floor, ceiling), arms = limits, least.size // 2
    width = ceiling - floor
    return _kept(floor + width * least[:arms], ceiling - width * least[arms:], limits)


def _around(means: Floats, half: Floats) -> tuple[Floats, Floats]:
    return _kept(means - half, means + half, (-np.inf, np.inf))


def _kept(low: Floats, high: Floats, limits: tuple[float, float]) -> tuple[Floats, Floats]:
    """The bounds, or the limits where the bounds say nothing more."""
    floor, ceiling = limits
    low = np.where(np.isfinite(low) & (low > floor), low, floor)
    return low, np.where(np.isfinite(high) & (high < ceiling), high, ceiling)


def _radius(pulls: Floats, alpha: float) -> Floats:
    """Half the width for σ-sub-Gaussian values, in units of σ (Robbins 1970).

    exp(λS − λ²N/2), where S sums the N values less m, does not grow on average. The mean of it
    over λ ~ Normal(0, 1/r) is √(r/(N + r)) exp(S²/2(N + r)), and below 1/α where |S|/N is below

    >>> _radius(np.array([1.0, 100.0]), alpha=0.05).round(3)
    array([6.086, 0.308])
    """
    return np.sqrt((pulls + _MIXING) * 2 * _log_needed(pulls, _MIXING, alpha)) / pulls


def _t_radius(pulls: Floats, variances: Floats, alpha: float) -> Floats:
    """Half the width for normal values of unknown variance (Lai 1976; Wang and Ramdas 2023).

    With S the sum of the values less m and V that of their squares, integrate the likelihood over
    dσ/σ, and for the alternative also over the effect (mean − m)/σ ~ Normal(0, 1/r). The ratio is

        E = √(r/(N + r)) (1 − S²/(N + r)V)^(−N/2).

    The ratios of the values less m to the size of the first have one law under m, whatever σ is,
    and one under the alternative; E is the ratio of these: a martingale, with E = 1 at N = 1.
    E < 1/α says S² < kV; then S = Nd and V = (N − 1)·variance + Nd² give the largest d.

    Values that do not vary are not normal. Before the 30th of them nothing is said; then they get
    the largest variance of the other arms. If no arm's values have varied, nothing is ever said.

    >>> _t_radius(np.array([10.0, 100.0]), np.array([1.0, 1.0]), alpha=0.05).round(3)
    array([1.29 , 0.325])
    """
    largest = np.max(variances, where=variances > 0, initial=0.0)
    unseen = np.where((pulls < SURE_OF_CONSTANCY) | (largest == 0), np.inf, largest)
    variances = np.where(variances == 0, unseen, variances)
    exponent = 2 * _log_needed(pulls, _MIXING_T, alpha) / pulls
    k = -np.expm1(-exponent) * (pulls + _MIXING_T)
    room = pulls - k  # S² < NV always, so without room no d is too large
    square = k * (pulls - 1) * variances / (pulls * np.where(room > 0, room, np.nan))
    return np.where(room > 0, np.sqrt(square), np.inf)


def _least_mean(means: Floats, variances: Floats, pulls: Floats, alpha: float) -> Floats:
    """The lower bound on the mean m of values in [0, 1]: close to their mean if they vary little.

    A value x multiplies the wealth by (1 + cx)/(1 + cm), which is 1 on average: a bet that x > m,
    the bolder the larger c (Waudby-Smith and Ramdas 2024). The product of all 1 + cx is at least
    what it would be for values 0 and x* = mean + v/mean in the proportion with the same mean and
    variance v: the parabola that meets log(1 + cx) at 0 and touches it at x* is below it, as its
    third derivative is positive, and has the same average over both. So sums and squares are
    enough. (Fan, Grama and Liu's parabola, 2015, touches at m: a quarter wider after 100 coins.)
    With weights on several c, fixed in advance, the log of the wealth is convex and falls with m.

    >>> mean, many = np.array([0.5, 0.5]), np.array([100.0, 100.0])
    >>> _least_mean(mean, np.array([0.25, 0.01]), many, alpha=0.025).round(3)
    array([0.332, 0.454])
    """
    v = np.where(pulls > 1, variances * (pulls - 1) / pulls, 0.0)
    v = np.fmin(v, means * (1 - means))  # it cannot be more
    # Bets too timid to win anything yet are left out: that is safe, and saves time.
    worth = int(np.sum(_BETS * math.sqrt(pulls.max(initial=1.0)) >= 0.5))
    bets, weights = _BETS[:worth], _WEIGHTS[:worth]
    ones = pulls * means**2 / (means**2 + v)
    paid = pulls * np.log1p(bets * means) - ones * np.log1p(bets * (means + v / means))
    paid = np.maximum(paid, 0.0)  # for the variance; below 0 it is rounding

    def excess(distance: Floats) -> tuple[Floats, Floats]:
        slopes = bets / (1 + bets * (means - distance))
        logs = -pulls * np.log1p(-distance * bets / (1 + bets * means)) - paid
        top = logs.max(axis=0)
        wealths = weights * np.exp(logs - top)
        total = wealths.sum(axis=0)
        slope = pulls * (wealths * slopes).sum(axis=0) / total
        return top + np.log(total) - math.log(1 / alpha), slope

    about = _log_needed(pulls, _MIXING, alpha) / pulls
    start = np.fmin(np.sqrt(2 * v * about) + about * means, means)
    return means - _edge(excess, start, means)


def _least_share(ones: Floats, pulls: Floats, alpha: float) -> Floats:
    """The lower bound on p, the probability of a one.

    The wealth is the likelihood of S ones and F zeros if their probability was drawn from
    Beta(a, b), over that at p: B(a + S, b + F)/B(a, b) / p^S (1 − p)^F. Jeffreys' a = b = ½ is good
    for every p; but p is known when one bets against it, and more weight near it makes the interval
    4 to 10% narrower from 100 pulls on: a = ½ + rp and b = ½ + r(1 − p). All that depends on p is

        Σ_{i<S} log(r + (i + ½)/p) + Σ_{i<F} log(r + (i + ½)/(1 − p))

    in the log of the wealth: it is convex in p and in log p, so what is below 1/α is an interval.

    >>> _least_share(np.array([1.0, 50.0]), np.array([9.0, 100.0]), alpha=0.05).round(4)
    array([0.0011, 0.3505])
    """
    from scipy.special import gammaln, psi, xlogy  # here: it takes as long as the rest of paceline

    zeros = pulls - ones
    share, rest = ones / pulls, zeros / pulls

    def rising(a: Floats, count: Floats) -> Floats:
        """The log of Γ(a + count)/Γ(a), less count·log(count) − count."""
        safe = np.maximum(count, _LARGE)
        series = (a - 0.5) * np.log(safe) + (6 * a * (a - 1) + 1) / (12 * safe)
        exact = gammaln(a + count) - xlogy(count, count) + count
        large = series + 0.5 * math.log(2 * math.pi)
        return np.asarray(np.where(count < _LARGE, exact, large) - gammaln(a))

    needed = math.log(1 / alpha) + rising(np.full_like(pulls, _MIXING + 1), pulls)

    def excess(distance: Floats) -> tuple[Floats, Floats]:
        """As a function of the distance in log p."""
        p, more = share * np.exp(-distance), -share * np.expm1(-distance)
        a, b = 0.5 + _MIXING * p, 0.5 + _MIXING * (rest + more)
        fit = ones * distance - np.where(zeros > 0, zeros * np.log1p(more / rest), 0.0)
        drift = _MIXING * (psi(a + ones) - psi(a) - psi(b + zeros) + psi(b))
        slope = ones - zeros * p / (rest + more) - p * drift
        return fit + rising(a, ones) + rising(b, zeros) - needed, slope

    about = _log_needed(pulls, _MIXING, alpha) / np.maximum(ones, 1.0)
    return share * np.exp(-_edge(excess, np.sqrt(2 * about * rest) + about, np.inf))


def _log_needed(pulls: Floats, mixing: float, alpha: float) -> Floats:
    """log(1/α), plus the cost of betting on many alternatives at once."""
    return np.asarray(math.log(1 / alpha) + 0.5 * np.log1p(pulls / mixing))


def _edge(
    excess: Callable[[Floats], tuple[Floats, Floats]], start: Floats, most: Floats | float
) -> Floats:
    """The distance from the mean at which a wealth is enough; `most` if none is found.

    `excess` gives the log of the wealth, minus what is needed, and its slope. It is convex, so
    Newton's steps from outside never cross the edge, and one from inside leads out. The last point
    outside counts: if the steps have not converged, the interval is too wide, not wrong.
    """
    at, edge = start, np.broadcast_to(most, start.shape)
    for _ in range(_NEWTON_STEPS):
        over, slope = excess(at)
        edge = np.where(over >= -_ROUNDING, at, edge)
        before, at = at, np.clip(at - over / slope, 0.0, most)
        if not np.any((np.abs(over) > _ROUNDING) & (at != before)):
            break
    return edge
