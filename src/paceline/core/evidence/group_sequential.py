"""Evidence for rounds: looks on a fixed grid of pulls, at a bar that is exact.

Between two looks lies a cell: m fresh pulls of every arm alive. It gives each arm a score z against
opponents chosen before, from a test on the cell's values alone. If the arm is the best, z is at
most standard normal, in distribution and given all that came before. So the best arm's total
W = Σ √m z stays below a Brownian motion looked at on the grid, and W passes b_g √τ_g at any look
with probability at most δ: that is how b_g is computed (`boundary`). A cell is never looked into
before it is complete, and opponents are never chosen with its own values.

A cell may be given in parts whose ends are decided before their values. Each part has a score of
its own, against opponents of its own, and adds √(pulls) z: so W at the next look is what it would
be for one cell, a Brownian motion at τ_g at most. W meets the bar only at looks.
"""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.boundary import DEPTHS, PILOT, TIMES, boundary, spending
from paceline.core.evidence.opponents import Opponents, leaders, leading_group
from paceline.core.rounds import Results


class GroupSequential(Evidence):
    """Scores of cells, added up. A subclass says how a cell is scored."""

    def __init__(self, arms: int, delta: float, top: int = 1) -> None:
        super().__init__(arms, top)
        self.delta = delta / top
        self.total = np.zeros(arms)  # W
        self.past: list[tuple[Ints, Floats]] = []  # the arms alive at each look, and their W
        self.look = -1  # the pilot comes first

    def next_look(self) -> int:
        """The next point of the grid; the pilot only chooses opponents."""
        return int(DEPTHS[self.look]) if self.look >= 0 else PILOT

    def weigh(self, fresh: Results) -> Floats:
        """Add the scores of a cell, or of a part of it."""
        cell = int(fresh.pulls.min())
        at_look = self.depth + cell == self.next_look()
        assert self.depth + cell <= self.next_look(), "each look is met"
        if self.look < 0:
            self.look = 0 if at_look else -1
            return np.full(self.alive.size, -np.inf)
        scores, early = self._score(fresh)
        total = self.total[self.alive] + np.sqrt(cell) * scores
        self.total[self.alive] = total
        if not at_look:
            return np.full(self.alive.size, -np.inf)
        total = np.where(early, -np.inf, total)
        self.past = [*self.past, (self.alive, total)]
        bar = self._bar(self.look) * np.sqrt(TIMES[self.look])
        self.look += 1
        return np.asarray(total - bar)

    def out_at(self, level: float, arms: Ints) -> bool:
        """Judged by the totals at all looks. At every look, bars fall as the level rises."""
        out = np.zeros(arms.size, dtype=np.bool_)
        for look, (alive, total) in enumerate(self.past):
            bar = self._bar_for(level / self.top, look) * np.sqrt(TIMES[look])
            out |= total[np.searchsorted(alive, arms)] >= bar
        return bool(out.all())

    def _score(self, fresh: Results) -> tuple[Floats, Bools]:
        """The weakest score of each arm, and whether it is too early for it to fall."""
        means, variances = self.tally.means(self.alive), self.variances()
        met: Sequence[Opponents] = leaders(means, self.top)
        if self.top == 1:
            met = [self.opponents(fresh, means, variances)]
        weakest: Floats = np.minimum.reduce([self.compare(fresh, one) for one in met])
        early: Bools = np.logical_or.reduce([self.too_early(fresh, one) for one in met])
        return weakest, early

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """Whom each arm alive meets in the cell: only the numbers of fresh pulls are looked at."""
        return leading_group(means, variances, fresh.pulls)

    @abstractmethod
    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """The score of each arm against its opponents: at most standard normal if it is best."""

    def remember(self, fresh: Results) -> None:
        """Be told a cell's values before it is scored."""

    def too_early(self, fresh: Results, opponents: Opponents) -> Bools:
        """Whether an arm must not fall yet, whatever its score: a delay breaks no guarantee."""
        return np.zeros(self.alive.size, dtype=np.bool_)

    def _bar(self, look: int) -> float:
        return self._bar_for(self.delta, look)

    def _bar_for(self, delta: float, look: int) -> float:
        return boundary(delta).at(look)

    def bars(self, depths: Ints) -> Floats:
        """The bars at points of the grid."""
        looks = np.searchsorted(DEPTHS, depths)
        return np.array([self._bar(int(look)) for look in looks])

    def scores(self) -> Floats:
        """W/√τ."""
        scores: Floats = self.total[self.alive] / max(self.depth - PILOT, 1) ** 0.5
        return scores


class KnownSigma(GroupSequential):
    """Normal values with standard deviation `sigma`: the z test.

    With `tails="subgaussian"` values are only known to have no heavier tails than normal ones: W is
    then √τ-sub-Gaussian and passes the bar √(2 ln 1/α_g) with probability at most α_g at each look.
    With shared seeds (`paired`) the noises may add up: a difference is 2σ-sub-Gaussian at worst.
    """

    def __init__(
        self,
        arms: int,
        delta: float,
        sigma: float,
        *,
        tails: str = "normal",
        paired: bool = False,
        top: int = 1,
    ) -> None:
        super().__init__(arms, delta, top)
        self.sigma = sigma
        self.tails = tails
        self.paired = paired

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """With shared seeds, only the leader: a group may vary as much as one arm."""
        return leaders(means, 1)[0] if self.paired else super().opponents(fresh, means, variances)

    def variances(self) -> Floats:
        """σ²."""
        return np.full(self.alive.size, self.sigma**2)

    def compare(self, fresh: Results, opponents: Opponents) -> Floats:
        """Compare by the difference of the means."""
        pulls = fresh.pulls.astype(np.float64)
        theirs = opponents.total(pulls)
        apart = opponents.total(fresh.sums) / theirs - fresh.sums / pulls
        if self.paired:
            return apart / (self.sigma * (pulls**-0.5 + theirs**-0.5))
        return apart / (self.sigma * np.sqrt(1 / pulls + 1 / theirs))

    def _bar_for(self, delta: float, look: int) -> float:
        if self.tails == "normal":
            return super()._bar_for(delta, look)
        return float(np.sqrt(2 * np.log(1 / spending(delta)[look])))


def spreads(fresh: Results) -> Floats:
    """The squares around each arm's own mean in the cell."""
    if fresh.spreads is not None:
        return fresh.spreads
    found = fresh.squares - fresh.sums**2 / fresh.pulls
    return np.maximum(found, _ROUNDING_OF_SQUARES * fresh.squares)  # what may have been lost


_ROUNDING_OF_SQUARES = 1e-12
