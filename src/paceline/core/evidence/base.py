"""What evidence is: fresh values in, arms out.

The only error of a race that eliminates is to lose the best arm. So each arm i carries one test
of 'i is the best', at the full level δ: there is no union over arms. Fresh values of i are
compared with those of opponents that were chosen before, from earlier values. Whoever they are,
the best arm is no worse in expectation; its own evidence then rises only by chance, and passes
the bar with probability at most δ. Which arms are pulled how often, and how rounds are sized, may
depend on all earlier values: it cannot break this.

For the top k, one of which is lost with probability at most δ/k: among any k other arms at least
one is no better than an arm of the true top k. So i is compared with k leaders, and the weakest of
these comparisons counts.
"""

from abc import ABC, abstractmethod
from copy import copy

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.boundary import DEPTHS
from paceline.core.rounds import NO_ARMS, Results
from paceline.core.tally import Tally


class Evidence(ABC):
    """The arms still in, and what counts against each.

    `alive` are the arms still in; `tally` all values taken in; `depth` how many pulls each arm has
    had (an arm may have had more). `safe` arms are only opponents here: they do not fall.
    """

    def __init__(self, arms: int, top: int = 1) -> None:
        self.alive: Ints = np.arange(arms)
        self.safe: Ints = NO_ARMS
        self.tally = Tally.empty(arms)
        self.depth = 0
        self.top = top

    @abstractmethod
    def next_look(self) -> int:
        """The depth at which it wants to be given the values since the last look."""

    def take(self, fresh: Results) -> Ints:
        """Take in fresh values of all arms alive, up to a look; return the arms that fall.

        `fresh` may have more pulls of some arms than of others, if that was decided before.
        """
        against = self.weigh(fresh)  # before the values are known to anyone else
        self.depth += int(fresh.pulls.min())
        self.tally.add(fresh)
        out = (against >= 0) & ~np.isin(self.alive, self.safe)
        if np.count_nonzero(~out) < self.top:  # somebody has to win: those with least against them
            out[np.argsort(against, kind="stable")[: self.top]] = False
        fallen = self.alive[out]
        self.alive = self.alive[~out]
        return fallen

    def set_aside(self, arms: Ints) -> "Evidence":
        """Go on without these arms; what is known against them is returned, as it is now.

        They are not out. Each arm goes on in one of the two at most, so it still has one test. Both
        share what is kept arm by arm, for there may be many arms and many cuts; evidence must not
        change anything else in place.
        """
        aside = copy(self)
        aside.alive = arms
        self.alive = np.setdiff1d(self.alive, arms)
        return aside

    def bring_back(self, aside: "Evidence") -> "Evidence":
        """Go on with arms that were set aside; those alive here meet them, but stay in.

        Only fresh values count: what the opponents have shown meanwhile is known, and they are
        opponents because it was high.
        """
        aside.safe = self.alive
        aside.alive = np.union1d(aside.alive, self.alive)
        aside.tally = self.tally
        return aside

    @abstractmethod
    def weigh(self, fresh: Results) -> Floats:
        """How much is now known against each arm alive, above the bar; from 0 on it is out."""

    def out_at(self, level: float, arms: Ints) -> bool:
        """Whether all of these arms alive would be out by now, were δ this `level`.

        This says what a race that ends early has shown by then. The probability that one of the
        best k is ever out at a level must be at most that level, and an arm that is out at one
        level must be out at all higher ones. By default, evidence shows nothing.
        """
        return False

    # For who decides which arms are pulled.

    @property
    def even(self) -> bool:
        """Whether no arm may be pulled more often than others for now."""
        return False

    def room(self) -> Ints | None:
        """How many pulls of each arm alive may still be asked for; None if there is no limit."""
        return None

    # For planning: nothing here decides about an arm.

    def ahead(self) -> Ints:
        """The depths at which a round may end."""
        return DEPTHS[self.depth < DEPTHS]

    @abstractmethod
    def bars(self, depths: Ints) -> Floats:
        """About how many standard deviations must speak against an arm for it to fall."""

    @abstractmethod
    def scores(self) -> Floats:
        """About how many standard deviations speak against each arm alive now."""

    def variances(self) -> Floats:
        """About how much the values of each arm alive vary."""
        return shrunk_variances(self.tally, self.alive)


def shrunk_variances(tally: Tally, arms: Ints) -> Floats:
    """Each arm's variance, drawn towards what all have in common: a few values say little.

    >>> tally = Tally(np.array([3, 3]), np.zeros(2), np.array([2.0, 6.0]))
    >>> shrunk_variances(tally, np.array([0, 1])).round(3)
    array([1.667, 2.333])
    """
    free = np.maximum(tally.pulls[arms] - 1.0, 0.0)
    variances = tally.variances(arms)
    spread = np.where((free > 0) & np.isfinite(variances), free * variances, 0.0)
    common = spread.sum() / max(float(free.sum()), 1.0)
    shrunk: Floats = (spread + _WORTH * common) / (free + _WORTH)
    return shrunk


_WORTH = 4.0  # values that the common variance counts for
