"""What is known of every arm: how many pulls, their sum, the sum of their squares."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import Results

_ROUNDING_OF_SQUARES = 1e-12  # what is below that share of them is no spread
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

    @classmethod
    def empty(cls, arms: int) -> "Tally":
        """No pull of any arm yet."""
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, results: Results) -> None:
        """Take in results. No arm stands twice in them, so plain indexing adds up right."""
        if results.spreads is not None:
            self._merge_spreads(results, results.spreads)
        if results.arms.size == 1:  # sequential policies: scalars are 4 times faster
            arm = results.arms[0]
            self.pulls[arm] += results.pulls[0]
            self.sums[arm] += results.sums[0]
            self.squares[arm] += results.squares[0]
            return
        self.pulls[results.arms] += results.pulls
        self.sums[results.arms] += results.sums
        self.squares[results.arms] += results.squares

    def means(self, arms: Ints) -> Floats:
        """Empirical means of `arms`; minus infinity where there is no pull yet."""
        pulls = self.pulls[arms]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pulls > 0, self.sums[arms] / pulls, -np.inf)

    def variances(self, arms: Ints) -> Floats:
        """Unbiased empirical variances of `arms`; NaN below two pulls, 0 where all is rounding."""
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

    def _merge_spreads(self, results: Results, spreads: Floats) -> None:
        """Both spreads, and what the two means are apart (Chan, Golub and LeVeque 1979)."""
        if self.spreads is None:
            self.spreads = np.zeros_like(self.sums)
        arms, more = results.arms, results.pulls
        before = self.pulls[arms]
        apart = self.sums[arms] / np.maximum(before, 1) - results.sums / more
        between = np.where(before > 0, apart**2 * before * more / (before + more), 0.0)
        self.spreads[arms] += spreads + between
