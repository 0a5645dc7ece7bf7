"""Problems: arms whose rewards can be drawn, singly or as sufficient statistics of many pulls.

A problem owns no random generator: the caller passes one.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from paceline.core.arrays import Floats, Ints, finite_floats, non_negative, positive
from paceline.core.noise import Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.errors import InvalidInput

_CHUNK = 1_000_000  # rewards in memory at once, if they must be drawn one by one


class Problem(ABC):
    """Arms with noisy rewards; higher is better.

    `means` are the true means (None if they are unknown), `sigma` is the sub-Gaussian scale of the
    noise, which sets the width of intervals, and `noise` is what a policy may know about it.
    """

    arms: int
    means: Floats | None
    sigma: float
    numbered: ClassVar[bool] = False  # whether a reward depends on the number of its pull

    @property
    def noise(self) -> Noise:
        """What a policy may assume."""
        return SubgaussianNoise(sigma=self.sigma)

    @abstractmethod
    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw `pulls[i]` rewards of `arms[i]`; return their sums and their sums of squares.

        If rewards are `numbered`, `first[i]` is how many pulls of that arm were drawn before.
        """

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw `pulls` rewards of every arm, a row per arm; the k-th of all arms share a seed.

        By default shared seeds have no effect; a problem where they do overrides this.
        """
        one = np.ones(arms.size, dtype=np.int64)
        columns = [self.draw(arms, one, first + k * one, rng)[0] for k in range(pulls)]
        return np.stack(columns, axis=1)


class Bernoulli(Problem):
    """Rewards 0 or 1 with the given probabilities; sub-Gaussian with scale ½.

    >>> Bernoulli([0.9, 0.5]).sigma
    0.5
    """

    def __init__(self, means: Any) -> None:
        self.means = checked_means(means)
        self.arms = self.means.size
        self.sigma = 0.5
        bad = np.flatnonzero((self.means < 0) | (self.means > 1))
        if bad.size:
            raise InvalidInput(
                f"the mean of a Bernoulli arm lies in [0, 1], but arm {bad[0]} has "
                f"{self.means[bad[0]]:g}: clip the means, or use normal rewards"
            )

    @property
    def noise(self) -> Noise:
        """Values 0 and 1."""
        return BernoulliNoise()

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw the number of ones; zeros and ones are their own squares."""
        assert self.means is not None
        if arms.size == 1:  # sequential policies live here: numpy's scalar path is 4 times faster
            ones = np.array([float(rng.binomial(int(pulls[0]), float(self.means[arms[0]])))])
        else:
            ones = rng.binomial(pulls, self.means[arms]).astype(np.float64)
        return ones, ones

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw zeros and ones, independent of each other."""
        assert self.means is not None
        return (rng.random((arms.size, pulls)) < self.means[arms, None]).astype(np.float64)


class Normal(Problem):
    """Normal rewards with the given means and one standard deviation.

    `common` is the share of the variance that pulls with the same seed have in common. In a paired
    race it drops out of their differences.

    >>> Normal([0.3, 0.1], sigma=2.0).arms
    2
    """

    def __init__(self, means: Any, sigma: float = 1.0, common: float = 0.0) -> None:
        self.means = checked_means(means)
        self.arms = self.means.size
        self.sigma = positive(sigma, "sigma")
        self.common = non_negative(common, "common")
        if common > 1:
            raise InvalidInput(f"common must lie in [0, 1], got {common!r}: it is a share")

    @property
    def noise(self) -> Noise:
        """Normal with a known standard deviation."""
        return NormalNoise(sigma=self.sigma)

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw the sum, then the spread around it, which is an independent chi-square."""
        assert self.means is not None
        sums = pulls * self.means[arms] + self.sigma * np.sqrt(pulls) * rng.standard_normal(
            arms.size
        )
        spread = 2.0 * self.sigma**2 * rng.standard_gamma(0.5 * (pulls - 1))
        return sums, spread + sums**2 / pulls

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw the part that all arms share, then each arm's own part."""
        assert self.means is not None
        shared = math.sqrt(self.common) * rng.standard_normal(pulls)
        own = math.sqrt(1 - self.common) * rng.standard_normal((arms.size, pulls))
        return self.means[arms, None] + self.sigma * (shared + own)


class Distributions(Problem):
    """One frozen scipy distribution per arm (anything with `mean`, `support` and `rvs`).

    `sigma` may be left out if every distribution is bounded: half the width then takes its place.

    >>> from scipy import stats
    >>> problem = Distributions([stats.beta(2, 5), stats.uniform(0, 1)])
    >>> problem.means.round(3).tolist(), problem.sigma
    ([0.286, 0.5], 0.5)
    """

    def __init__(self, distributions: Sequence[Any], sigma: float | None = None) -> None:
        self.distributions = list(distributions)
        missing = [d for d in self.distributions if not (hasattr(d, "rvs") and hasattr(d, "mean"))]
        if missing:
            raise InvalidInput(
                f"{missing[0]!r} is not a frozen scipy distribution such as stats.beta(2, 5)"
            )
        self.means = checked_means([d.mean() for d in self.distributions])
        self.arms = self.means.size
        self.bounded = sigma is None
        self.sigma = positive(sigma, "sigma") if sigma is not None else self._half_width()

    @property
    def noise(self) -> Noise:
        """Bounded, if no scale was given."""
        if not self.bounded:
            return super().noise
        lows, highs = zip(*(d.support() for d in self.distributions), strict=True)
        return BoundedNoise((float(min(lows)), float(max(highs))), self.sigma)

    def _half_width(self) -> float:
        supports = [d.support() for d in self.distributions]
        width = max(float(high) - float(low) for low, high in supports)
        if not np.isfinite(width):
            raise InvalidInput(
                "a distribution without bounds needs sigma=, the sub-Gaussian scale of its noise "
                "(the standard deviation, for a normal one)"
            )
        return width / 2

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw every reward, a chunk at a time."""
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for i, (arm, left) in enumerate(zip(arms.tolist(), pulls.tolist(), strict=True)):
            for size in _chunks(left):
                rewards = self.distributions[arm].rvs(size=size, random_state=rng)
                sums[i] += rewards.sum()
                squares[i] += (rewards**2).sum()
        return sums, squares

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw every reward, independent of each other."""
        rows = [self.distributions[arm].rvs(size=pulls, random_state=rng) for arm in arms.tolist()]
        return np.array(rows, dtype=np.float64)


def checked_means(means: Any) -> Floats:
    """The means as an array, checked to be those of at least two arms."""
    array = finite_floats(means, "means")
    at_least_two(array.size)
    return array


def at_least_two(arms: int) -> int:
    """Return the number of arms if there are at least two; else raise."""
    if arms == 0:
        raise InvalidInput("there are no arms: give at least two candidates")
    if arms == 1:
        raise InvalidInput("there is only one arm, so it is the best: give at least two candidates")
    return arms


def _chunks(total: int) -> list[int]:
    full, rest = divmod(total, _CHUNK)
    return [_CHUNK] * full + [rest] * (rest > 0)
