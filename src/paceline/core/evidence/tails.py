"""Scores z = Φ⁻¹(1 − p) of one-sided tests, one for each arm.

While an arm is as good as its rival, its score exceeds x no more often than a standard normal
number does.
"""

import numpy as np

from paceline.core.arrays import Floats, Ints

# Φ(−37): no score lies beyond ±37.
_LEAST_TAIL = 5.8e-300


def student_scores(t: Floats, least_df: Ints | Floats, most_df: Ints | Floats) -> Floats:
    """The scores of t statistics whose variance estimates mix several unknown variances.

    >>> student_scores(np.array([2.0, -2.0]), np.array([4, 4]), np.array([100, 100])).round(2)
    array([ 1.57, -1.98])

    Hájek (1962): if the estimate is Σ s²/n over samples with different variances, P(t > x) for
    x > 0 is at most Student's with the least degrees of freedom of a sample, and at least Student's
    with those of all together. So the fewest degrees are used above 0 and the most below: each
    makes the score smaller there. A t that is not a number is no evidence.
    """
    from scipy.special import ndtri, stdtr  # here, because it takes as long as the rest of paceline

    t = np.where(np.isnan(t), 0.0, t)
    tail = stdtr(np.where(t > 0, least_df, most_df).astype(np.float64), -np.abs(t))
    score: Floats = np.copysign(ndtri(np.maximum(tail, _LEAST_TAIL)), t)
    return score
