"""Normal values with unknown variances: t tests, and some caution where values are not normal.

Real values seldom are normal. An arm whose values are skewed, or rarely far off, shows too low a
mean and varies too little while it has shown few values: a quiet rival then puts it out. Two things
protect it. If an arm varied less in a cell than it has so far, the cell is scored by the variance
so far. And an arm does not fall while it has few pulls and its values have not varied, or are so
skewed that the difference of means is skewed too. Both only lower scores and delay falls, so they
break no guarantee.
"""

import numpy as np

from paceline.core.arrays import Bools, Floats
from paceline.core.evidence.group_sequential import GroupSequential, spreads
from paceline.core.evidence.opponents import Opponents
from paceline.core.evidence.sigma import SURE_OF_CONSTANCY
from paceline.core.evidence.tails import student_scores
from paceline.core.rounds import Results
from paceline.core.tally import Tally

# A cell that shows less than this share of the variance so far is scored by this share. Normal
# values seldom show less; for them, the whole variance would cost 5 % more pulls.
SHARE_REMEMBERED = 0.5
# Skewness of the mean difference. It is a fifth after as many pulls as 25 times the squared
# skewness of a value, and a half after 4 times: jackpots, and losses in one of fifty pulls, stay
# above that for long.
_MOST_SKEWED, _FAR_TOO_SKEWED = 0.2, 0.5
_UNCERTAIN = 0.6  # how uncertain the skewness is, from few differences
# After this many pulls an arm may fall although it is as skewed as that, or has never varied. After
# SURE_OF_CONSTANCY pulls it may if no arm has varied, or if differences have not.
_PATIENCE, _LAST_PATIENCE = 60, 400
_ROUNDING = 1e-14


class _Remembering(GroupSequential):
    """Knows all values when a cell is weighed, those of the cell included."""

    def __init__(self, arms: int, delta: float, top: int = 1) -> None:
        super().__init__(arms, delta, top)
        self._known: Tally | None = None

    def weigh(self, fresh: Results) -> Floats:
        """Add the cell's scores, by what it shows and by what all values show."""
        self.remember(fresh)
        return super().weigh(fresh)

    def remember(self, fresh: Results) -> None:
        """Add the cell's values to those known."""
        self._known = self.tally.plus(fresh)


class Student(_Remembering):
    """Normal values with unknown variances, one per arm: the t test.

    The variance of a difference is estimated from several arms, each with its own variance. The
    statistic then lies between Student's with the least and with the total degrees of freedom.
    """

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by the difference of the means, over its own standard error."""
        pulls = fresh.pulls.astype(np.float64)
        if pulls.min() < 2:
            return np.zeros(pulls.size)
        theirs = opponents.total(pulls)
        apart = _difference(opponents.total(fresh.sums) / theirs, fresh.sums / pulls)

        def scores(variance: Floats) -> Floats:
            # Σ (m_j/M)² s_j²/m_j over the opponents
            noise = variance / pulls + np.maximum(opponents.total(variance * pulls), 0) / theirs**2
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                return student_scores(
                    apart / np.sqrt(noise),
                    np.full(pulls.size, pulls.min() - 1),
                    pulls - 1 + theirs - opponents.size,
                )

        variance = spreads(fresh) / (pulls - 1)
        found = scores(variance)
        if self._known is not None:
            floor = SHARE_REMEMBERED * self._known.variances(self.alive)
            found = np.minimum(found, scores(np.maximum(variance, floor)))
        return np.minimum(found, highest_score(log_orders(pulls, theirs)))

    def too_early(self, fresh: Results, opponents: Opponents) -> Bools:
        """While few pulls have not varied, or are skewed so that the arm looks worse than it is."""
        known, alive = self._known, self.alive
        depth = self.depth + int(fresh.pulls.min())
        if known is None or depth >= _LAST_PATIENCE:
            return super().too_early(fresh, opponents)
        pulls = known.pulls[alive].astype(np.float64)
        variances, thirds = known.variances(alive), known.third_moments(alive)
        theirs = opponents.total(pulls)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            noise = variances / pulls + opponents.total(variances * pulls) / theirs**2
            third = opponents.total(thirds * pulls) / theirs**3 - thirds / pulls**2
            skewed = third / noise**1.5 < -_skewness_allowed(depth)
        return skewed | _never_varied(variances, opponents, depth)


class PairedStudent(_Remembering):
    """Normal values with shared seeds: the t test on the differences, pull by pull.

    What the k-th pulls have in common drops out. The test is exact for normal differences, whatever
    their variances, even if seeds are not shared.
    """

    def __init__(self, arms: int, delta: float, top: int = 1) -> None:
        super().__init__(arms, delta, top)
        self._seen = np.zeros(2)  # sums over cells: noise of differences, as it is, and if unpaired
        # For the differences of each arm: second and third powers within cells, and how many.
        self._moments = np.zeros((3, arms))

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by the mean difference, over its own standard error."""
        assert fresh.values is not None
        return self.compare_means(fresh, opponents, 0.0, 1.0, float(fresh.values.shape[1]))

    def compare_means(
        self,
        fresh: Results,
        opponents: Opponents,
        before: float | Floats,
        share: float,
        worth: float,
    ) -> Floats:
        """Compare by `before` + `share` · the mean difference, which varies as that of `worth`.

        That is the number of fresh pulls, or more, if part of what they will show is known already.
        """
        assert fresh.values is not None
        pulls = fresh.values.shape[1]
        if pulls < 2:
            return np.zeros(fresh.arms.size)
        rivals = opponents.total(fresh.values) / opponents.size[:, None]
        apart = _difference(rivals, fresh.values)
        mean = apart.mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rest = apart - mean[:, None]
            spread = (rest**2).sum(axis=1)
            noise, free = spread / (pulls - 1), np.full(mean.size, pulls - 1.0)
            shown = before + share * mean
            found = student_scores(shown / np.sqrt(share**2 * noise / worth), free, free)
            if self._known is not None:
                self._moments[:, self.alive] += spread, (rest**3).sum(axis=1), free
                squares, _, all_free = self._moments[:, self.alive]
                least = np.maximum(noise, SHARE_REMEMBERED * squares / all_free)
                t = shown / np.sqrt(share**2 * least / worth)
                found = np.minimum(found, student_scores(t, free, free))
            alone = spreads(fresh) / (pulls - 1)
            others = opponents.total(alone) / opponents.size**2
            self._seen = self._seen + np.array([noise.sum(), (alone + others).sum()])
        return np.minimum(found, highest_score(np.full(noise.size, pulls * np.log(2))))

    def too_early(self, fresh: Results, opponents: Opponents) -> Bools:
        """While few differences have not varied, or are skewed so that the arm looks worse."""
        known, depth = self._known, self.depth + int(fresh.pulls.min())
        if known is None or depth >= _LAST_PATIENCE:
            return super().too_early(fresh, opponents)
        squares, cubes, free = self._moments[:, self.alive]
        sizes = known.means(self.alive) ** 2
        still = squares <= free * (sizes + opponents.total(sizes)) * _ROUNDING**2
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # The skewness of the mean difference; from few of them it is uncertain by √6/m.
            skewed = cubes / squares**1.5 < -_skewness_allowed(depth) - _UNCERTAIN / free
        early = skewed | _never_varied(known.variances(self.alive), opponents, depth)
        return np.asarray(early | (still & (depth < SURE_OF_CONSTANCY)))

    def variances(self) -> Floats:
        """The variances without the part that is common to all arms."""
        own, alone = self._seen
        kept = min(own / alone, 2.0) if own > 0 and alone > 0 else 1.0
        return super().variances() * kept


def _skewness_allowed(depth: int) -> float:
    return _MOST_SKEWED if depth < _PATIENCE else _FAR_TOO_SKEWED


def _never_varied(variances: Floats, opponents: Opponents, depth: int) -> Bools:
    """Whether an arm's values, or those of all its opponents, are still all the same."""
    patience = _PATIENCE if variances.any() else SURE_OF_CONSTANCY
    if depth >= patience:
        return np.zeros(variances.size, dtype=np.bool_)
    return np.asarray((variances == 0) | (opponents.total(variances) <= 0))


def _difference(theirs: Floats, own: Floats) -> Floats:
    """How far apart two means are; 0 if only by rounding, which always errs in one direction."""
    apart = theirs - own
    return np.where(np.abs(apart) > _ROUNDING * (np.abs(theirs) + np.abs(own)), apart, 0.0)


def log_orders(pulls: Floats, theirs: Floats) -> Floats:
    """The logarithm of the number of ways to deal the cell's values to both sides."""
    from scipy.special import betaln

    return np.asarray(-np.log(pulls + theirs + 1) - betaln(pulls + 1, theirs + 1))


def highest_score(log_orders: Floats) -> Floats:
    """The score of p = 1/orders: no test that only uses the order of values gives a smaller p.

    Otherwise a few values that happen to lie close together would decide alone. Normal values
    seldom get there.
    """
    from scipy.special import ndtri_exp

    return np.asarray(-ndtri_exp(-log_orders))
