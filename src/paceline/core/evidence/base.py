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

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import Results
from paceline.core.tally import Tally


class Evidence(ABC):
    """The arms still in, and what counts against each.

    `alive` are the arms still in; `tally` all values taken in; `depth` how many pulls each arm has
    had (an arm may have had more).
    """

    def __init__(self, arms: int, top: int = 1) -> None:
        self.alive: Ints = np.arange(arms)
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
        out = against >= 0
        if np.count_nonzero(~out) < self.top:  # somebody has to win: those with least against them
            out[np.argsort(against, kind="stable")[: self.top]] = False
        fallen = self.alive[out]
        self.alive = self.alive[~out]
        return fallen

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

    # For planning: nothing here decides about an arm.

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
