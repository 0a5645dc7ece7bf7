"""What is known about each arm: the number of its pulls, their sum, squares and skewness."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import Results

_ROUNDING_OF_SQUARES = 1e-12  # a spread below this share of the squares counts as none
_ROUNDING_OF_VALUES = 1e-14


@dataclass(slots=True, eq=False)
class Tally:
    """Running sums over all results told so far, one entry per arm.

    >>> tally = Tally.empty(2)
    >>> one = np.array([1])
    >>> tally.add(Results(one, np.array([4]), np.array([2.0]), np.array([2.0])))
    >>> tally.means(one), tally.variances(one)
    (array([0.5]), array([0.33333333]))
    """

    pulls: Ints
    sums: Floats
    squares: Floats
    spreads: Floats | None = None  # around the arms' own means, if results came with theirs
    cubes: Floats | None = None  # third powers around them, likewise

    @classmethod
    def empty(cls, arms: int) -> "Tally":
        """No pull of any arm yet."""
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, results: Results) -> None:
        """Take in results. No arm appears twice in them, so plain indexing adds up right."""
        if results.spreads is not None:
            self._merge_moments(results, results.spreads)
        if results.arms.size == 1:  # sequential policies: scalars are 4 times faster
            arm = results.arms[0]
            self.pulls[arm] += results.pulls[0]
            self.sums[arm] += results.sums[0]
            self.squares[arm] += results.squares[0]
            return
        self.pulls[results.arms] += results.pulls
        self.sums[results.arms] += results.sums
        self.squares[results.arms] += results.squares

    def plus(self, results: Results) -> "Tally":
        """A copy that has these results too."""
        parts = (self.pulls, self.sums, self.squares, self.spreads, self.cubes)
        more = Tally(*(None if part is None else part.copy() for part in parts))  # type: ignore[arg-type]
        more.add(results)
        return more

    def means(self, arms: Ints) -> Floats:
        """Empirical means of `arms`; minus infinity where there is no pull yet."""
        pulls = self.pulls[arms]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pulls > 0, self.sums[arms] / pulls, -np.inf)

    def variances(self, arms: Ints) -> Floats:
        """Unbiased variances of `arms`; NaN below two pulls, 0 if all the spread is rounding."""
        pulls = self.pulls[arms].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self.sums[arms] / pulls
            if self.spreads is None:
                spread = self.squares[arms] - self.sums[arms] * means
                rounding = _ROUNDING_OF_SQUARES * self.squares[arms]
            else:
                spread = self.spreads[arms]
                rounding = pulls * (_ROUNDING_OF_VALUES * means) ** 2
            spread = np.where(spread > rounding, spread, 0.0)
            return np.where(pulls > 1, spread / (pulls - 1), np.nan)

    def third_moments(self, arms: Ints) -> Floats:
        """The mean third power around each arm's mean; 0 if it is not known."""
        if self.cubes is None:
            return np.zeros(arms.size)
        moments: Floats = self.cubes[arms] / np.maximum(self.pulls[arms], 1)
        return moments

    def _merge_moments(self, results: Results, spreads: Floats) -> None:
        """Add both spreads and the part from the gap of the means (Chan, Golub, LeVeque 1979).

        Third powers are merged likewise (Pébay 2008).
        """
        if self.spreads is None:
            self.spreads = np.zeros_like(self.sums)
        arms, more = results.arms, results.pulls.astype(np.float64)
        before = self.pulls[arms].astype(np.float64)
        both = before + more
        with np.errstate(over="ignore", invalid="ignore"):  # values near the largest floats
            apart = results.sums / more - self.sums[arms] / np.maximum(before, 1)
            apart = np.where(before > 0, apart, 0.0)
            if results.cubes is not None:
                if self.cubes is None:
                    self.cubes = np.zeros_like(self.sums)
                shifted = 3 * apart * (before * spreads - more * self.spreads[arms]) / both
                between = apart**3 * before * more * (before - more) / both**2
                self.cubes[arms] += results.cubes + shifted + between
            self.spreads[arms] += spreads + apart**2 * before * more / both
