"""An upper bound on the standard deviation of normal rewards that holds at all times.

After N pulls the sum of squares around the mean is σ² times a chi-square with N − 1 degrees of
freedom, so σ² is below that sum divided by the lower α_N-quantile with probability 1 − α_N. With
α_N = α / N(N − 1), which sums to α over N = 2, 3, …, this holds for all N at once.
"""

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.tally import Tally

# Values that do not vary are not normal. After this many, we believe that they never will vary.
SURE_OF_CONSTANCY = 30


def largest_sigma(tally: Tally, arms: Ints, alpha: float) -> Floats:
    """The bound for each of `arms`, which fails with probability at most `alpha`; ∞ below 2 pulls.

    An arm whose values have not varied yet gets the largest bound of the others. If no arm's values
    have varied, nothing is known until there are many of them, and then σ = 0.

    >>> tally = Tally(np.array([100, 1]), np.array([0.0, 3.0]), np.array([99.0, 9.0]))
    >>> largest_sigma(tally, np.array([0, 1]), alpha=0.01).round(2)
    array([1.47,  inf])
    """
    from scipy.special import gammaincinv  # here, because it takes as long as the rest of paceline

    pulls = tally.pulls[arms].astype(np.float64)
    some = pulls >= 2
    count = np.where(some, pulls, 2.0)
    spread = (count - 1) * np.where(some, tally.variances(arms), 0.0)
    quantile = 2 * gammaincinv((count - 1) / 2, alpha / (count * (count - 1)))
    sigma = np.sqrt(spread / quantile)
    varied = sigma[some & (sigma > 0)]
    still = np.where(pulls >= SURE_OF_CONSTANCY, 0.0, np.inf)
    if varied.size:
        still = np.full(pulls.size, varied.max())
    return np.where(some, np.where(sigma > 0, sigma, still), np.inf)
