"""How well a universe explains the supernovae: what is raced.

The candidates are 64 universes. A pull draws 50 supernovae, with replacement, and gives the mean
log-density of their distance moduli; most of its time goes into 50 integrals, which are shared
among the cores. The mean of a candidate is its score over all supernovae, `mean_score`.
"""

import functools
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from distances import STEPS, Cosmology, integrals, moduli
from numpy.typing import NDArray
from survey import Survey, load

# The best lies inside this grid for each of three surveys. Some twenty others are within 0.3 of it,
# the nearest within 0.02 to 0.03; a pull has a standard deviation of 0.1 to 0.15.
CANDIDATES = tuple(
    Cosmology(*values)
    for values in itertools.product((60, 65, 70, 75), (0.2, 0.3, 0.4, 0.5), (0.5, 0.6, 0.7, 0.8))
)
POINTS_PER_PULL = 50
LOWEST_SCORE = -1000.0  # of a point: one outlier must not decide
STEPS_FOR_MEANS = 1_000  # the same scores to six digits, and all candidates within a second or so


def evaluate(
    arm: tuple[float, float, float], *, seed: int, cores: int = 1, survey: Survey | None = None
) -> float:
    """The score of a candidate on 50 supernovae that the seed draws; the cores do not change it."""
    table = survey or _survey()
    drawn = table.take(np.random.default_rng(seed).integers(len(table), size=POINTS_PER_PULL))
    return float(np.mean(scores(arm, drawn, cores=cores)))


def mean_score(arm: tuple[float, float, float], survey: Survey | None = None) -> float:
    """The score over all supernovae: the mean of `evaluate`."""
    return float(np.mean(scores(arm, survey or _survey(), steps=STEPS_FOR_MEANS)))


def scores(
    arm: tuple[float, float, float], survey: Survey, *, steps: int = STEPS, cores: int = 1
) -> NDArray[np.float64]:
    """The log-density of every point, if its modulus is normal about that of the candidate."""
    found = np.empty(len(survey))

    def share(first: int) -> None:
        found[first::cores] = integrals(arm, survey.z[first::cores], steps=steps)

    # New threads every time: on 2 cores a pull took 0.60 of its time on 1, and 0.84 with kept ones.
    with ThreadPoolExecutor(cores) as team:
        list(team.map(share, range(cores)))  # as a list, so that errors are raised here
    errors = (survey.mu - moduli(arm, survey.z, found)) / survey.sigma
    densities: NDArray[np.float64] = -0.5 * errors**2 - np.log(survey.sigma * np.sqrt(2 * np.pi))
    return np.maximum(densities, LOWEST_SCORE)


@functools.cache
def _survey() -> Survey:
    return load()  # once per process
