"""Pulls that are means of points drawn with replacement, for the cosmology experiment."""

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.noise import Noise
from paceline.core.noise.normal import NormalNoise
from paceline.core.problem import Problem

_CHUNK = 20_000  # pulls in memory at once


class Resampled(Problem):
    """A row of scores per arm, one for each point; a pull is the mean score of `size` points.

    >>> problem = Resampled(np.array([[0.0, 2.0], [1.0, 2.0]]), size=4)
    >>> problem.means.tolist(), problem.sigma
    ([1.0, 1.5], 0.5)
    """

    means: Floats

    def __init__(self, scores: Floats, size: int) -> None:
        self.scores = scores
        self.size = size
        self.means = scores.mean(axis=1)
        self.arms = scores.shape[0]
        self.sigma = float(scores.std(axis=1).max()) / size**0.5  # of the noisiest arm

    @property
    def noise(self) -> Noise:
        """Normal, as means of many points nearly are; the variances must be learned."""
        return NormalNoise()

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw the points of every pull."""
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for place, (arm, total) in enumerate(zip(arms.tolist(), pulls.tolist(), strict=True)):
            for begin in range(0, total, _CHUNK):
                values = self._pull(np.array([arm]), min(_CHUNK, total - begin), rng)
                sums[place] += values.sum()
                squares[place] += (values**2).sum()
        return sums, squares

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Draw the points of every pull once, for all arms."""
        return self._pull(arms, pulls, rng)

    def _pull(self, arms: Ints, pulls: int, rng: np.random.Generator) -> Floats:
        points = rng.integers(self.scores.shape[1], size=(pulls, self.size), dtype=np.uint16)
        rows = [self.scores[arm][points].mean(axis=1) for arm in arms.tolist()]
        return np.array(rows)
