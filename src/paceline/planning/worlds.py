"""A problem as it may be: true means, the noise around them, and the values that are known."""

from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.problem import Problem, checked_means

Limits = tuple[float, float]


class World(Problem):
    """Arms with these means and standard deviations; higher is better.

    Values are normal, or 0 and 1 if there are no deviations. `common` is the deviation of what all
    arms share in pulls with the same seed. Between `limits`, sums are kept between theirs. The
    first pulls of each arm give the values `known`, if there are any: so the rest of a race that
    has begun is simulated from its first pull on.

    >>> world = World([0.5, 0.2], [1.0, 2.0], known=[np.array([3.0]), np.array([4.0, 5.0])])
    >>> rng = np.random.default_rng(0)
    >>> world.draw(np.array([0, 1]), np.array([1, 2]), np.zeros(2, dtype=np.int64), rng)
    (array([3., 9.]), array([ 9., 41.]))
    """

    def __init__(
        self,
        means: Sequence[float] | Floats,
        deviations: Sequence[float] | Floats | None = None,
        *,
        common: float = 0.0,
        known: Sequence[Floats] = (),
        limits: Limits | None = None,
    ) -> None:
        self.means = checked_means(means)
        self.arms = self.means.size
        self.deviations = None if deviations is None else np.asarray(deviations, dtype=np.float64)
        self.common = common
        self.sigma = 0.5
        if self.deviations is not None:
            self.sigma = float(np.hypot(self.deviations.max(), common))
        self.limits = limits
        self.numbered = len(known) > 0  # type: ignore[misc]
        if self.numbered:
            self._counts = np.array([one.size for one in known], dtype=np.int64)
            self._values = np.zeros((self.arms, int(self._counts.max(initial=0))))
            for arm, values in enumerate(known):
                self._values[arm, : values.size] = values
            zeros = np.zeros((self.arms, 1))
            self._sums = np.hstack([zeros, self._values.cumsum(axis=1)])
            self._squares = np.hstack([zeros, (self._values**2).cumsum(axis=1)])

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """What is known of these pulls, and what is drawn for the others."""
        if not self.numbered:
            return self._fresh(arms, pulls, rng)
        counts = self._counts[arms]
        start, end = np.minimum(first, counts), np.minimum(first + pulls, counts)
        sums = self._sums[arms, end] - self._sums[arms, start]
        squares = self._squares[arms, end] - self._squares[arms, start]
        some = np.flatnonzero(pulls > end - start)
        if some.size:
            more = self._fresh(arms[some], (pulls - (end - start))[some], rng)
            sums[some] += more[0]
            squares[some] += more[1]
        return sums, squares

    def _fresh(self, arms: Ints, pulls: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        assert self.means is not None
        means = self.means[arms]
        if self.deviations is None:
            ones = rng.binomial(pulls, means).astype(np.float64)
            return ones, ones
        deviations = np.sqrt(self.deviations[arms] ** 2 + self.common**2)
        sums = pulls * means + deviations * np.sqrt(pulls) * rng.standard_normal(arms.size)
        if self.limits is not None:  # sums of values between limits are between limits
            sums = np.clip(sums, pulls * self.limits[0], pulls * self.limits[1])
        spread = 2.0 * deviations**2 * rng.standard_gamma(0.5 * (pulls - 1))
        return sums, spread + sums**2 / pulls

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Known values; after them the part that all arms share, and each arm's own part."""
        assert self.means is not None
        if self.deviations is None:
            values = (rng.random((arms.size, pulls)) < self.means[arms, None]).astype(np.float64)
        else:
            shared = self.common * rng.standard_normal(pulls)
            own = self.deviations[arms, None] * rng.standard_normal((arms.size, pulls))
            values = self.means[arms, None] + shared + own
        if self.numbered and first < self._values.shape[1]:
            part = self._values[arms, first : first + pulls]
            columns = np.arange(first, first + part.shape[1])
            is_known = columns < self._counts[arms, None]
            values[:, : part.shape[1]] = np.where(is_known, part, values[:, : part.shape[1]])
        return np.asarray(values, dtype=np.float64)
