"""Problems that are raced here and in the tests, quick to draw from."""

import numpy as np

from paceline import Normal, Problem
from paceline.core.arrays import Floats, Ints
from paceline.core.noise import Noise
from paceline.core.noise.bounded import BoundedNoise

_CHUNK = 10_000  # rewards of an arm in memory at once


class Shares(Problem):
    """Rewards between 0 and 1."""

    sigma = 0.5

    def __init__(self, means: Floats) -> None:
        self.means = means
        self.arms = means.size

    @property
    def noise(self) -> Noise:
        return BoundedNoise((0.0, 1.0))


class Points(Shares):
    """Rewards 0, 0.1 and 1, most of them 0: bounded and skewed."""

    values = np.array([0.0, 0.1, 1.0])

    def __init__(self, gaps: Floats) -> None:
        self.chances = np.array([[0.6 + gap, 0.3, 0.1 - gap] for gap in gaps])
        super().__init__(self.chances @ self.values)

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        counts = rng.multinomial(pulls, self.chances[arms])
        return counts @ self.values, counts @ self.values**2


class Unequal(Normal):
    """Normal rewards whose standard deviations differ: the best arm's is the largest."""

    def __init__(self, means: Floats, sigmas: Floats) -> None:
        super().__init__(means)
        self.sigmas = sigmas

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        assert self.means is not None
        sigma = self.sigmas[arms]
        sums = pulls * self.means[arms] + sigma * np.sqrt(pulls) * rng.standard_normal(arms.size)
        spread = 2.0 * sigma**2 * rng.standard_gamma(0.5 * (pulls - 1))
        return sums, spread + sums**2 / pulls


class Betas(Shares):
    """Beta rewards with parameters 9μ and 9(1 − μ), drawn for all arms at once."""

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for count in np.unique(pulls):
            some = pulls == count
            for start in range(0, int(count), _CHUNK):
                size = min(_CHUNK, int(count) - start)
                rewards = self.draw_each(arms[some], size, 0, rng)
                sums[some] += rewards.sum(axis=1)
                squares[some] += (rewards**2).sum(axis=1)
        return sums, squares

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        assert self.means is not None
        means = self.means[arms, None]
        return rng.beta(9 * means, 9 * (1 - means), (arms.size, pulls))
