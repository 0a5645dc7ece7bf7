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
from paceline.core.evidence.sigma import SURE_OF_CONSTANCY
from paceline.core.rounds import Results

# A slice, up to the next look, is this share of the pulls that an arm has had. Opponents are chosen
# anew at each look: with slices of 15 % the paper's cells took 2 % longer. Many arms are looked at
# less often.
_SLICE = 0.08
_FEW_ARMS = 64
# Bets that could not win more than this by now are not made yet: that saves half the work.
_WORTH_BETTING = 0.03
# Bets, as shares of the boldest that could never lose all.
BETS: Floats = np.geomspace(0.9, 0.9 * 2.0**-11.5, 24).astype(np.float64)
_PLACES: Floats = np.arange(float(BETS.size))
# Most weight is on bets that suit gaps of a fifth of the range or less: with weights that fall from
# the boldest on, races of zeros and ones took a tenth more time.
_WEIGHTS: Floats = np.exp(-0.5 * ((_PLACES - 4.0) / 5.0) ** 2) + 0.3 / (_PLACES + 2.0)
LOG_WEIGHTS: Floats = np.log(_WEIGHTS / _WEIGHTS.sum())


_LEFT_OUT: Floats = 1.0 - np.r_[0.0, np.cumsum(np.exp(LOG_WEIGHTS))]


def mixed(log_stakes: Floats) -> Floats:
    """The logarithm of the mixture of stakes, a row per arm; bets left out at the end have 1."""
    made = log_stakes.shape[-1]
    weighted = log_stakes + LOG_WEIGHTS[:made]
    highest = weighted.max(axis=-1)
    if made < BETS.size:
        highest = np.maximum(highest, 0.0)
    weighted -= highest[..., None]
    total = np.exp(weighted, out=weighted).sum(axis=-1)
    if made < BETS.size:
        total += _LEFT_OUT[made] * np.exp(-highest)
    return np.asarray(highest + np.log(total))


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
        self.highest = np.zeros(arms)  # the highest that their mixture has ever been

    def next_look(self) -> int:
        """A few more pulls; the first only chooses opponents."""
        share = _SLICE * max(1.0, self.alive.size / _FEW_ARMS) ** 0.5
        return self.depth + max(1, int(min(share, 1.0) * self.depth))

    def weigh(self, fresh: Results) -> Floats:
        """Settle the bets on the fresh values."""
        if self.depth == 0:
            return np.full(self.alive.size, -np.inf)
        means, variances = self.tally.means(self.alive), self.variances()
        chosen = self.opponents(fresh, means, variances)
        bets = BETS[BETS * math.sqrt(self.depth) >= _WORTH_BETTING]
        won = np.minimum.reduce([self.settle(fresh, means, one, bets) for one in chosen])
        self.log_stakes[self.alive, : bets.size] += won
        stakes = mixed(self.log_stakes[self.alive, : bets.size])
        if self._nothing_varied(fresh):  # a seed that is ignored, perhaps: see more first
            return np.full(self.alive.size, -np.inf)
        self.highest[self.alive] = np.maximum(self.highest[self.alive], stakes)
        return stakes - math.log(1 / self.delta)

    def _nothing_varied(self, fresh: Results) -> bool:
        """Whether each arm has given only one value so far, in few pulls."""
        if self.depth >= SURE_OF_CONSTANCY:
            return False
        return not (self.tally.plus(fresh).variances(np.arange(self.tally.pulls.size)) > 0).any()

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Sequence[Opponents]:
        """Whom each arm alive meets: a leading group, or each of the k leaders."""
        if self.top > 1:
            return leaders(means, self.top)
        return [leading_group(means, variances, fresh.pulls)]

    def out_at(self, level: float, arms: Ints) -> bool:
        """Judged by the highest stakes so far."""
        return bool((self.highest[arms] >= math.log(self.top / level)).all())

    def settle(
        self, fresh: Results, means: Floats, opponents: Opponents, bets: Floats = BETS
    ) -> Floats:
        """What each bet wins, as a logarithm: arms by bets. `means` are earlier ones."""
        if self.paired:
            return self._settle_pairs(fresh, opponents, bets)
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
        boldest = bets / np.maximum(before, 1 - before)[:, None]
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

    def _settle_pairs(self, fresh: Results, opponents: Opponents, bets: Floats) -> Floats:
        """The same on differences, which lie in [−1, 1]: 1 + c (y − x) is fair or worse."""
        assert fresh.values is not None
        apart = (
            opponents.total(fresh.values) / opponents.size[:, None] - fresh.values
        ) / self.width
        if apart.size <= _FEW_ENOUGH:  # value by value, so nothing is given away
            return np.asarray(np.log1p(apart[:, :, None] * bets).sum(axis=1))
        lowest = np.ones(apart.shape[0])
        gain = least_log_gain(bets[None], apart.mean(axis=1), apart.var(axis=1), lowest)
        return np.asarray(apart.shape[1] * gain)

    def bars(self, depths: Ints) -> Floats:
        """A stake of 1/δ, plus the cost of the mixture."""
        return np.full(depths.size, np.sqrt(2 * (np.log(1 / self.delta) + _MIXTURE_COST)))

    def scores(self) -> Floats:
        """From the size of the stakes."""
        stakes = np.maximum(mixed(self.log_stakes[self.alive]) + _MIXTURE_COST, 0.0)
        return np.asarray(np.sqrt(2 * stakes))


_FEW_ENOUGH = 1 << 18  # differences whose logarithms are taken one by one
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
