"""Evidence by betting: valid at every moment, for values between known bounds.

For each arm somebody bets that its opponents are better. With values scaled to [0, 1] and any
number a known before, m pulls of the arm multiply the stake by Π (1 − c (x − a)) and M pulls of the
opponents by Π (1 + c' (y − a)), where c m = c' M. If the opponents are no better in expectation,
this is at most exp(c m (E y − E x)) ≤ 1 on average, since 1 + u ≤ e^u: the game is fair or worse,
and the stake passes 1/δ at any time with probability at most δ (Ville). A mixture of bets, with
weights fixed in advance, is a fair game as well.

Sums and squares are all that is needed. Of all values u ≥ −b with a given mean and variance, those
that take two values only, one of them −b, have the least Σ ln(1 + c u): the parabola that meets
ln(1 + c u) at −b and touches it at the other point lies below it, because the third derivative is
positive. That least sum is what is credited. Small variances make for bold bets.
"""

import math
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.group_sequential import spreads
from paceline.core.evidence.opponents import Opponents, leaders, leading_group
from paceline.core.rounds import Results

# Of the pulls of an arm, so many more make a slice: the next look.
_SLICE = 0.15
# Bets, as shares of the boldest that could never lose all.
BETS: Floats = np.geomspace(0.9, 0.9 * 2.0**-11.5, 24).astype(np.float64)
_WEIGHTS: Floats = 1.0 / np.arange(2.0, 2.0 + BETS.size)
LOG_WEIGHTS: Floats = np.log(_WEIGHTS / _WEIGHTS.sum())


def mixed(log_stakes: Floats) -> Floats:
    """The logarithm of the mixture of stakes, a row per arm."""
    weighted = log_stakes + LOG_WEIGHTS
    highest = weighted.max(axis=-1, keepdims=True)
    return np.asarray(highest[..., 0] + np.log(np.exp(weighted - highest).sum(axis=-1)))


class Betting(Evidence):
    """Stakes against each arm. With shared seeds (`paired`), bets are on differences."""

    def __init__(
        self,
        arms: int,
        delta: float,
        limits: tuple[float, float],
        *,
        paired: bool = False,
        top: int = 1,
    ) -> None:
        super().__init__(arms, top)
        self.delta = delta / top
        self.low, self.width = limits[0], limits[1] - limits[0]
        self.paired = paired
        self.log_stakes = np.zeros((arms, BETS.size))
        self.highest = np.zeros(arms)  # that their mixture has ever been

    def next_look(self) -> int:
        """A few more pulls; the first only chooses opponents."""
        return self.depth + max(1, int(_SLICE * self.depth))

    def weigh(self, fresh: Results) -> Floats:
        """Settle the bets on the fresh values."""
        if self.depth == 0:
            return np.full(self.alive.size, -np.inf)
        means, variances = self.tally.means(self.alive), self.variances()
        if self.top == 1:
            chosen: Sequence[Opponents] = [leading_group(means, variances, fresh.pulls)]
        else:
            chosen = leaders(means, self.top)
        won = np.minimum.reduce([self.settle(fresh, means, opponents) for opponents in chosen])
        self.log_stakes[self.alive] += won
        stakes = mixed(self.log_stakes[self.alive])
        self.highest[self.alive] = np.maximum(self.highest[self.alive], stakes)
        return stakes - math.log(1 / self.delta)

    def out_at(self, level: float, arms: Ints) -> bool:
        """By the highest stakes so far."""
        return bool((self.highest[arms] >= math.log(self.top / level)).all())

    def settle(self, fresh: Results, means: Floats, opponents: Opponents) -> Floats:
        """What each bet wins, as a logarithm: arms by bets. `means` are earlier ones."""
        if self.paired:
            return self._settle_pairs(fresh, opponents)
        pulls = fresh.pulls.astype(np.float64)
        theirs = opponents.total(pulls)
        spread = spreads(fresh)
        mean = (fresh.sums / pulls - self.low) / self.width
        square = spread / pulls / self.width**2 + mean**2
        their_mean = opponents.total(pulls * mean) / theirs
        their_square = opponents.total(pulls * square) / theirs
        expected = (means - self.low) / self.width
        before = 0.5 * (expected + opponents.total(pulls * expected) / theirs)  # a
        before = np.clip(before, 0.0, 1.0)
        # The side with fewer pulls takes the bet c, the other one less, so that c m is the same.
        least = np.minimum(pulls, theirs)
        boldest = BETS / np.maximum(before, 1 - before)[:, None]
        own = least_log_gain(
            (least / pulls)[:, None] * boldest,
            before - mean,
            square - mean**2,
            1 - before,
        )
        other = least_log_gain(
            (least / theirs)[:, None] * boldest,
            their_mean - before,
            their_square - their_mean**2,
            before,
        )
        won: Floats = pulls[:, None] * own + theirs[:, None] * other
        return won

    def _settle_pairs(self, fresh: Results, opponents: Opponents) -> Floats:
        """The same on differences, which lie in [−1, 1]: 1 + c (y − x) is fair or worse."""
        assert fresh.values is not None
        apart = (
            opponents.total(fresh.values) / opponents.size[:, None] - fresh.values
        ) / self.width
        bets = np.broadcast_to(BETS, (apart.shape[0], BETS.size))
        lowest = np.ones(apart.shape[0])
        gain = least_log_gain(bets, apart.mean(axis=1), apart.var(axis=1), lowest)
        won: Floats = apart.shape[1] * gain
        return won

    def bars(self, depths: Ints) -> Floats:
        """A stake of 1/δ, and what the mixture costs."""
        return np.full(depths.size, np.sqrt(2 * (np.log(1 / self.delta) + _MIXTURE_COST)))

    def scores(self) -> Floats:
        """By the size of the stakes."""
        stakes = np.maximum(mixed(self.log_stakes[self.alive]) + _MIXTURE_COST, 0.0)
        return np.asarray(np.sqrt(2 * stakes))


_MIXTURE_COST = 1.5  # about: the bets close to the best one have a fifth of the weight


def least_log_gain(bets: Floats, mean: Floats, variance: Floats, lowest: Floats) -> Floats:
    """The least mean of ln(1 + c u), over values u ≥ −`lowest` with this mean and variance.

    >>> values = np.array([[-0.2, 0.1, 0.4]])
    >>> bets, one = np.array([[0.5]]), np.ones(1)
    >>> least_log_gain(bets, values.mean(axis=1), values.var(axis=1), one) < np.log1p(
    ...     bets * values).mean()
    array([[ True]])
    """
    above = np.maximum(mean + lowest, _TINY)  # 0 only if all values are the lowest
    variance = np.maximum(variance, 0.0)
    share = (variance / (variance + above**2))[:, None]  # of values that are the lowest
    highest = (mean + variance / above)[:, None]
    at_lowest = np.log1p(-bets * lowest[:, None])
    gain: Floats = share * at_lowest + (1 - share) * np.log1p(bets * highest)
    return gain


_TINY = 1e-12
