"""Evidence that comes to an end, for each kind of normal values.

Each says how many values of an arm are enough, and how a cell of the populations is scored.
"""

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.boundary import PILOT
from paceline.core.evidence.closing import FIRST, LAST, Closing
from paceline.core.evidence.differences import Differences, loudest, noisiest
from paceline.core.evidence.group_sequential import KnownSigma, spreads
from paceline.core.evidence.horizon import bechhofer, enough, rinott, stein
from paceline.core.evidence.opponents import Opponents
from paceline.core.evidence.populations import Populations
from paceline.core.evidence.sigma import SURE_OF_CONSTANCY
from paceline.core.evidence.student import (
    SHARE_REMEMBERED,
    PairedStudent,
    Student,
    highest_score,
    log_orders,
)
from paceline.core.evidence.tails import student_scores
from paceline.core.rounds import Results

_GUESSED_FREE = 30  # degrees of freedom, before the stage
_FEW_ARMS = 500  # of which all pairs can be looked at


class ClosedSigma(Closing, KnownSigma):
    """Normal values with a known σ: the populations are known from the start.

    >>> ClosedSigma(16, 0.05, sigma=1.0, tolerance=0.1).populations.end
    1384
    """

    def __init__(
        self, arms: int, delta: float, sigma: float, *, tolerance: float, top: int = 1
    ) -> None:
        super().__init__(arms, FIRST * delta, sigma, top=top)
        self.close(delta, tolerance)
        # No stage is needed, so its share of δ goes to the end.
        constant = bechhofer(arms - top, (FIRST + LAST) * delta / top)
        size = max(int(enough(constant, sigma**2, tolerance)), PILOT)
        sizes, seen = np.full(arms, size), np.full(arms, PILOT)
        self.begin(Populations(sizes, seen, np.zeros(arms), start=0))

    def expected_size(self) -> float:
        """It is known."""
        raise NotImplementedError

    def sizes(self, stage: Results) -> Ints:
        """They are known."""
        raise NotImplementedError

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by what is left to chance."""
        apart, noise = self.apart(opponents, self.variances())
        return np.where(noise > 0, apart / np.sqrt(np.where(noise > 0, noise, 1.0)), 0.0)


class ClosedStudent(Closing, Student):
    """Normal values with unknown variances, one per arm: each has its own population."""

    def __init__(self, arms: int, delta: float, *, tolerance: float, top: int = 1) -> None:
        super().__init__(arms, FIRST * delta, top)
        self.close(delta, tolerance)

    def expected_size(self) -> float:
        """From the typical variance so far."""
        constant = self._constant(_GUESSED_FREE)
        return float(enough(constant, float(np.median(self.variances())), self.tolerance))

    def sizes(self, stage: Results) -> Ints:
        """By the variance in the stage, but not far below that before it."""
        variances = spreads(stage) / (stage.pulls - 1)
        before = SHARE_REMEMBERED * np.nan_to_num(self.tally.variances(self.alive))
        variances = np.maximum(variances, before)
        found = enough(self._constant(int(stage.pulls.min()) - 1), variances, self.tolerance)
        still = variances <= 0  # values that have not varied are not normal: as the noisiest arm
        return np.where(still, max(int(found.max()), SURE_OF_CONSTANCY), found)

    def _constant(self, free: int) -> float:
        return rinott(free, self.alive.size - self.top, LAST * self.whole / self.top)

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by what is left to chance, over its own standard error."""
        cell = self.cell
        if cell is None:
            return super().compare(fresh, opponents)
        assert self.populations is not None
        left = cell.factors > 0
        if not left.any():
            return np.zeros(self.alive.size)
        free = np.where(left, np.maximum(cell.pulls - 1.0, 0.0), 0.0)
        least = np.full(free.size, max(float(free[left].min()), 1.0))
        most = np.maximum(free + opponents.total(free), least)

        def scores(variances: Floats) -> Floats:
            apart, noise = self.apart(opponents, variances)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                t = np.where(noise > 0, apart / np.sqrt(noise), 0.0)
            return student_scores(t, least, most)

        found = scores(cell.variances)
        if self._known is not None:
            floor = SHARE_REMEMBERED * self._known.variances(self.alive)
            found = np.minimum(found, scores(np.maximum(cell.variances, floor)))
        pulls = np.where(left, cell.pulls, self.populations.sizes[self.alive]).astype(np.float64)
        return np.minimum(found, highest_score(log_orders(pulls, opponents.total(pulls))))


class ClosedPairs(Closing, PairedStudent):
    """Normal values with shared seeds: as many of each arm as the noisiest difference needs."""

    # The largest of many variances is far too large if each is seen in few values.
    stages = 1 / 8, 200, 16.0

    def __init__(self, arms: int, delta: float, *, tolerance: float, top: int = 1) -> None:
        super().__init__(arms, FIRST * delta, top)
        self.close(delta, tolerance)
        self._differences = Differences(arms) if arms <= _FEW_ARMS else None
        self._last: Results | None = None

    def expected_size(self) -> float:
        """By the noisiest difference so far; of very many arms, as if all were alike."""
        noise = 2 * float(np.median(self.variances()))
        if self._differences is not None:
            self._learn()
            noise = float(self._differences.variances(self.alive).max())
        return float(enough(self._constant(_GUESSED_FREE), noise, self.tolerance))

    def remember(self, fresh: Results) -> None:
        """Learn from the last cell; that of this one only when opponents have been chosen."""
        super().remember(fresh)
        self._learn()
        self._last = fresh

    def _learn(self) -> None:
        if self._differences is not None and self._last is not None:
            self._differences.add(self._last)
        self._last = None

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """The arm that is expected to speak loudest: often a similar one, not the leader."""
        if self._differences is None or not self._differences.free:
            return super().opponents(fresh, means, variances)
        noise = self._differences.variances(self.alive)
        return loudest(means, noise, self._differences.free)

    def sizes(self, stage: Results) -> Ints:
        """By the largest variance of a difference of two arms in the stage."""
        assert stage.values is not None
        constant = self._constant(stage.values.shape[1] - 1)
        size = int(enough(constant, noisiest(stage.values, _FEW_ARMS), self.tolerance))
        if (np.ptp(stage.values, axis=1) == 0).any():
            size = max(size, SURE_OF_CONSTANCY)
        return np.full(stage.arms.size, size)

    def _constant(self, free: int) -> float:
        pairs = self.top * (self.alive.size - self.top)
        return stein(free, LAST * self.whole / pairs)

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by what is left to chance of the differences."""
        if self.cell is None:
            return super().compare(fresh, opponents)
        assert self.populations is not None
        arms, populations = self.alive, self.populations
        known = float(populations.seen[arms[0]] / populations.sizes[arms[0]])
        means = populations.means(arms)
        before = known * (opponents.total(means) / opponents.size - means)
        worth = (1 - known) ** 2 / float(self.cell.factors[0])
        return self.compare_means(fresh, opponents, before, 1 - known, worth)
