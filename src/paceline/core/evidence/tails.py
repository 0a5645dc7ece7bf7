"""Scores z = Φ⁻¹(1 − p) of one-sided exact tests, one for each arm.

While an arm is as good as its rival, its score exceeds x no more often than a standard normal
number does. Counts have ties, and uniform numbers from the caller break them: then p is uniform,
not merely above uniform, and no evidence is lost where counts are small.
"""

import numpy as np

from paceline.core.arrays import Floats, Ints

# Φ(−37): no score lies beyond ±37.
_LEAST_TAIL = 5.8e-300

# With more than so many expected in every cell of the table, the sum gives way to the saddlepoint;
_MANY = 250.0
# so it does where it would need more terms than this on a side, which is far out in the tails.
_MOST_TERMS = 256.0
# The sum leaves out a probability of at most exp(−16) = 1e-7 on a side.
_LEFT_OUT = 16.0
# Which counts of the table grow with the arm's ones, and which shrink.
_SIGN = np.array([[1.0], [-1.0], [1.0], [-1.0]])


def fisher_scores(
    ones: Ints | Floats,
    pulls: Ints | Floats,
    rival_ones: Ints | Floats,
    rival_pulls: Ints | Floats,
    uniform: Floats,
) -> Floats:
    """Fisher's exact test that an arm has ones as often as its rival: the fewer, the higher.

    >>> fisher_scores(
    ...     ones=np.array([5, 1, 0]), pulls=np.array([8, 8, 8]),
    ...     rival_ones=np.array([40, 40, 64]), rival_pulls=np.array([64, 64, 64]),
    ...     uniform=np.array([0.5, 0.5, 0.5]),
    ... ).round(3)
    array([0.021, 2.565, 6.494])

    Given how many ones both have together, those of the arm, X, are hypergeometric, whatever the
    probability of a one: p = P(X < ones) + uniform · P(X = ones).

    Where one of the four counts is expected to be 250 or less, p is a sum over X, and the score
    right to 1e-6. Else p is a saddlepoint approximation, and the score off by 2e-5 at most where
    |z| < 8, and by 0.01 farther out; more counts make it better, and they may be of any size.
    """
    # The table of counts: neighbours share a margin, those opposite grow together. Zeros are
    # subtracted before they are rounded to floats.
    table = np.empty((4, len(ones)))
    table[0], table[1] = ones, pulls - ones
    table[3], table[2] = rival_ones, rival_pulls - rival_ones
    least, variance, excess = _moments(table)
    # X is a sum of independent indicators (Vatutin and Mikhailov, 1982), so that Bernstein's
    # inequality, with its variance, says how far from its mean the sum may stop.
    reach = np.abs(excess) + np.sqrt((2 * _LEFT_OUT) * variance) + (2 * _LEFT_OUT / 3)
    steps = np.minimum(table[:2], table[2:])
    terms = np.minimum(np.maximum(steps[0], steps[1]), reach)
    summed = (least <= _MANY) & (terms <= _MOST_TERMS)
    few = np.flatnonzero(summed)
    if few.size == summed.size:
        return _score(*_by_sum(table, int(terms.max(initial=0.0)) + 1, uniform))
    if not few.size:
        return _score(*_by_saddlepoint(table, uniform))
    many = np.flatnonzero(~summed)
    tails = np.empty((2, summed.size))
    tails[:, few] = _by_sum(table[:, few], int(terms[few].max()) + 1, uniform[few])
    tails[:, many] = _by_saddlepoint(table[:, many], uniform[many])
    return _score(*tails)


def sign_scores(wins: Ints | Floats, losses: Ints | Floats, uniform: Floats) -> Floats:
    """The sign test that a rival beats an arm in at most half of the pairs without a tie.

    >>> sign_scores(np.array([5, 9, 0]), np.array([5, 1, 0]), np.array([0.5, 0.5, 0.9])).round(3)
    array([ 0.   ,  2.521, -1.282])

    Of k = wins + losses such pairs the rival wins B, binomial with ½ at most:
    p = P(B > wins) + uniform · P(B = wins).
    """
    more = _at_least(wins + 1, losses), _at_least(wins, losses + 1)
    fewer = _at_least(losses + 1, wins), _at_least(losses, wins + 1)
    return _score(
        (1.0 - uniform) * more[0] + uniform * more[1],
        uniform * fewer[0] + (1.0 - uniform) * fewer[1],
    )


def student_scores(t: Floats, least_df: Ints | Floats, most_df: Ints | Floats) -> Floats:
    """The scores of t statistics whose variance estimates mix several unknown variances.

    >>> student_scores(np.array([2.0, -2.0]), np.array([4, 4]), np.array([100, 100])).round(2)
    array([ 1.57, -1.98])

    Hájek (1962): where the estimate is Σ s²/n over samples of their own variances, P(t > x) for
    x > 0 is at most Student's with the least degrees of freedom of a sample, and at least his with
    those of all together. So the fewest degrees serve above 0, where they make the score smaller,
    and the most below, where they do. A t that is not a number is no evidence.
    """
    from scipy.special import ndtri, stdtr  # here, because it takes as long as the rest of paceline

    t = np.where(np.isnan(t), 0.0, t)
    tail = stdtr(np.where(t > 0, least_df, most_df).astype(np.float64), -np.abs(t))
    score: Floats = np.copysign(ndtri(np.maximum(tail, _LEAST_TAIL)), t)
    return score


def _moments(table: Floats) -> tuple[Floats, Floats, Floats]:
    """The smallest expected count, the variance of X, and how far X is above its mean."""
    one, zero, rival_zero, rival_one = table
    arm, rival = one + zero, rival_zero + rival_one
    hits, misses = one + rival_one, zero + rival_zero
    both = np.maximum(arm + rival, 1.0)
    least = np.minimum(arm, rival) * np.minimum(hits, misses) / both
    variance = (arm * rival) * (hits * misses) / (both * both * both)
    excess = (one * rival_zero - zero * rival_one) / both
    return least, variance, excess


def _by_sum(table: Floats, terms: int, uniform: Floats) -> Floats:
    """The masses below and above, relative to that of the table itself."""
    # From a term to the next, with one one less in the arm (first half), or one more.
    falling, falling_too = table[:2].ravel(), table[2:].ravel()
    rising, rising_too = table[1::-1].ravel(), table[:1:-1].ravel()
    step = np.arange(float(terms))[:, None]
    ratios = (falling - step) * (falling_too - step)
    step += 1.0
    ratios /= (rising + step) * (rising_too + step)
    with np.errstate(over="ignore", invalid="ignore"):
        sums: Floats = np.multiply.accumulate(ratios, axis=0, out=ratios).sum(axis=0)
    sums[np.isnan(sums)] = np.inf  # ∞ · 0: this mass overflowed before it ended
    sums = sums.reshape(2, -1)
    sums[0] += uniform
    sums[1] += 1.0 - uniform
    return sums


def _by_saddlepoint(table: Floats, uniform: Floats) -> Floats:
    """The probabilities below and above."""
    from scipy.special import ndtr

    half = 0.5 * _SIGN
    normal = _normal(np.concatenate([table - half, table + half], axis=1)).reshape(2, -1)
    less, more = ndtr(normal), ndtr(-normal)  # than x − ½, and than x + ½
    rest = 1.0 - uniform
    return np.array([rest * less[0] + uniform * less[1], rest * more[0] + uniform * more[1]])


def _normal(table: Floats) -> Floats:
    """The normal number that is exceeded as often as X exceeds this, half an integer.

    Skovgaard's double saddlepoint (1987), in the form r + log(v/r)/r: r is the signed root of the
    deviance, and v, for this table, turns out to be X standardised.
    """
    _, variance, excess = _moments(table)
    sigma = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Not log(count / expected): of huge counts no digit would be left.
        logs = np.log1p(-np.minimum(_SIGN * excess / table, 1.0 - 2.0**-52))
        root = np.sqrt(np.maximum(-2.0 * np.add.reduce(table * logs), 0.0))
        root = np.copysign(root, excess)
        more = np.log(excess / (sigma * root)) / root
    normal: Floats = root + more
    # At the mean this is 0/0, and near it few digits are left: there it is a sixth of the skewness.
    near = np.abs(root) < 1e-3 + 1e-6 * sigma
    if near.any():
        skew = (np.add.reduce(_SIGN * table) - 4.0 * excess) / (sigma * np.add.reduce(table))
        normal = np.where(near, root + skew / 6.0, normal)
    if table.min() < 0:  # half an integer beyond the end of what X can be
        normal = np.where(np.minimum.reduce(table) < 0, np.copysign(np.inf, excess), normal)
    return normal


def _at_least(heads: Ints | Floats, tails: Ints | Floats) -> Floats:
    """P(at least `heads` heads in heads + tails − 1 flips of a fair coin)."""
    from scipy.special import betainc

    some = betainc(np.maximum(heads, 1.0), np.maximum(tails, 1.0), 0.5)
    return np.where(heads == 0, 1.0, np.where(tails == 0, 0.0, some))


def _score(below: Floats, above: Floats) -> Floats:
    """The score of p = below / (below + above), from the smaller of the two."""
    from scipy.special import ndtri

    tail = np.maximum(np.minimum(below, above) / (below + above), _LEAST_TAIL)
    score: Floats = np.copysign(ndtri(tail), above - below)
    return score
