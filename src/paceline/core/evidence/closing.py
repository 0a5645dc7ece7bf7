"""Evidence for normal values that comes to an end: an arm within ε of the best is good enough.

δ is split in three. First, arms fall as in any race, without regard to ε: at a few open looks, and
after a stage whose values show the variances. The best arm i* is lost there with probability δ₀ at
most. The stage also settles how many values of each arm, its own included, are enough (`horizon`):
all arms that are worse than i* by more than ε show a lower mean than i* of so many values, with
probability 1 − δ₂. Then the race is for W, the arm whose values have the highest mean of those
still in (`populations`). W is lost with probability δ₁ at most.

So with probability 1 − δ the arm returned is W; i* was still in when the stage ended, so W's mean
is no lower than that of i*, and all arms that are too bad are below. W is good. No comparison is
shifted by ε, and nothing drifts from one leader to the next.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints
from paceline.core.evidence.boundary import DEPTHS, PILOT, TIMES, closed_boundary
from paceline.core.evidence.group_sequential import GroupSequential
from paceline.core.evidence.opponents import Opponents, leading_group
from paceline.core.evidence.populations import Cell, Populations
from paceline.core.rounds import Results

# δ₀, δ₁ and δ₂, as shares of δ. If δ₁ is doubled, at the expense of δ₂, two tied arms take a tenth
# more pulls, and sixteen as many as before.
FIRST, SECOND, LAST = 0.1, 0.15, 0.75
_OPEN_LOOKS = 2  # before the stage, at least
# Of δ₀, for the look at the end of the stage, which knows nothing of those before.
_STAGE_SHARE = 0.4
# The stage, in pulls. A long one makes the populations smaller, as variances are known better, but
# delays the next look.
_SHORT, _LEAST_STAGE = 12, 5


class Closing(GroupSequential):
    """Arms fall as long as populations are unknown; then they are compared by these.

    A subclass says how large populations must be, and how a cell of them is scored.
    """

    tolerance: float
    whole: float  # δ
    stage: int  # pulls of the stage; 0 until the open looks are over
    populations: Populations | None
    cell: Cell | None
    # A stage, as a share of the population; its most pulls; when it may begin: before that, open
    # looks go on until they have taken more than one in so many pulls of the population.
    stages: ClassVar[tuple[float, int, float]] = 1 / 15, 60, np.inf

    def close(self, delta: float, tolerance: float) -> None:
        """Begin: nothing is known."""
        self.whole, self.tolerance = delta, tolerance
        self.stage, self.populations, self.cell = 0, None, None

    @abstractmethod
    def expected_size(self) -> float:
        """About how large populations will be, from the values so far."""

    @abstractmethod
    def sizes(self, stage: Results) -> Ints:
        """How many values of each arm alive are enough, by the spreads in the stage."""

    @property
    def even(self) -> bool:
        """In the pilot, and while variances are learned."""
        return self.populations is None or self.depth == 0

    def room(self) -> Ints | None:
        """What has not been seen of the populations."""
        if self.populations is None:
            return None
        return self.populations.left(self.alive) + (0 if self.depth else PILOT)

    def ahead(self) -> Ints:
        """No look after the next that is not settled yet."""
        if self.populations is not None:
            return self.populations.depths
        if self.stage:
            return np.array([self.next_look()])
        return DEPTHS[max(self.look, 0) : max(self.look + 1, _OPEN_LOOKS)]

    def next_look(self) -> int:
        """The open looks, the end of the stage, then the looks at populations."""
        if self.populations is not None:
            return self.populations.next_depth if self.depth else PILOT
        return int(DEPTHS[self.look - 1]) + self.stage if self.stage else super().next_look()

    def take(self, fresh: Results) -> Ints:
        """Take in fresh values; those of the stage settle how many are enough."""
        depth = self.next_look()
        known = self.sizes(fresh) if self.stage and self.populations is None else None
        alive = self.alive
        fallen = super().take(fresh)
        self.depth = depth
        if known is not None:
            self._settle(alive, known, fresh)
        elif self.look >= _OPEN_LOOKS and self.populations is None and self.alive.size > self.top:
            self._set_the_stage(self.expected_size())
        if self.populations is not None:
            fallen = np.sort(np.r_[fallen, self._drop_the_beaten()])
        return fallen

    def _set_the_stage(self, expected: float) -> None:
        """The open looks are over, unless more of them are expected to make populations smaller."""
        share, longest, patience = self.stages
        if expected <= patience * self.depth:
            stage = max(expected * share, min(expected, _SHORT))
            self.stage = int(np.clip(stage, _LEAST_STAGE, longest))

    def _settle(self, arms: Ints, sizes: Ints, stage: Results) -> None:
        """From now on the race is for the highest mean of these populations."""
        everybody = np.ones(self.total.size, dtype=np.int64)
        everybody[arms] = np.maximum(sizes, stage.pulls)
        everybody[np.setdiff1d(arms, self.alive)] = 1
        seen, sums = np.zeros_like(everybody), np.zeros(self.total.size)
        seen[arms], sums[arms] = stage.pulls, stage.sums
        self.begin(Populations(everybody, seen, sums, self.depth - self.stage))

    def begin(self, populations: Populations) -> None:
        """Start anew, for the highest mean of populations."""
        self.populations = populations
        self.total[:] = 0.0
        self.past = []

    def _drop_the_beaten(self) -> Ints:
        """Arms that are known to be below enough others; at the end, all but the best."""
        assert self.populations is not None
        beaten = self.populations.beaten(self.alive, self.top) > 0
        if self.depth >= self.populations.start + self.populations.end:
            order = np.argsort(-self.populations.means(self.alive), kind="stable")
            beaten[order[self.top :]] = True
        fallen = self.alive[beaten]
        self.alive = self.alive[~beaten]
        return fallen

    def weigh(self, fresh: Results) -> Floats:
        """Add the cell's scores, of whichever test is on."""
        if self.populations is not None:
            return self._weigh_population(self.populations, fresh)
        if not self.stage:
            return super().weigh(fresh)
        self.remember(fresh)
        scores, early = self._score(fresh)
        self.total[self.alive] = scores
        total = np.where(early, -np.inf, scores)
        self.past.append((self.alive, total))
        return total - self._bar_of_stage(self._level(self.whole))

    def _weigh_population(self, populations: Populations, fresh: Results) -> Floats:
        self.remember(fresh)
        if self.depth == 0:  # the pilot only chooses opponents; its values were counted as seen
            populations.sums[fresh.arms] += fresh.sums
            return np.full(self.alive.size, -np.inf)
        self.cell = populations.cell(self.alive, fresh)
        last = populations.look >= populations.looks.size
        against = np.full(self.alive.size, -np.inf)
        if not last:
            scores, early = self._score(fresh)
            weights, _ = populations.step(self.alive)
            against = self._against(scores, weights, early)
        populations.add(fresh)
        populations.look += 1
        self.cell = None
        return against

    def _against(self, scores: Floats, weights: Floats, early: Bools) -> Floats:
        total = self.total[self.alive] + np.sqrt(weights) * scores
        self.total[self.alive] = total
        total = np.where(early, -np.inf, total)
        self.past.append((self.alive, total))
        level = self._level(self.whole)
        return np.asarray(total - self._heights(len(self.past) - 1, self.alive, level))

    def _bar_of_stage(self, level: float) -> float:
        return closed_boundary(_STAGE_SHARE * level, (1.0,), (1.0,)).at(0)

    def _level(self, whole: float) -> float:
        """The level of the test that is on, for each of the best `top`, if all in all it is this.

        What exceeds δ is halved: a race may end before or after the populations were settled, and
        the other test may have been wrong as well.
        """
        share = FIRST if self.populations is None else SECOND
        return (share * self.whole + 0.5 * (whole - self.whole)) / self.top

    def _heights(self, look: int, arms: Ints, level: float) -> Floats:
        if self.populations is not None:
            return self.populations.heights(level, look, arms)
        if look >= self.look:
            return np.full(arms.size, self._bar_of_stage(level))
        return np.full(arms.size, self._bar_for(level, look) * TIMES[look] ** 0.5)

    def _bar_for(self, delta: float, look: int) -> float:
        return super()._bar_for((1 - _STAGE_SHARE) * delta, look)

    def out_at(self, level: float, arms: Ints) -> bool:
        """Judged by the totals of the test that is on."""
        own = self._level(level)
        out = np.zeros(arms.size, dtype=np.bool_)
        if own <= 0:  # less than was spent on the other test
            return not arms.size
        for look, (alive, total) in enumerate(self.past):
            height = self._heights(look, arms, own)
            out |= total[np.searchsorted(alive, arms)] >= height
        return bool(out.all())

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Opponents:
        """A leading group; by what is left to chance, once there are populations."""
        if self.cell is None:
            return super().opponents(fresh, means, variances)
        return leading_group(means, variances, self.cell.weights)

    def apart(self, opponents: Opponents, variances: Floats) -> tuple[Floats, Floats]:
        """How far opponents are above each arm, by the cell, and the variance of that."""
        assert self.cell is not None
        weights, estimates = self.cell.weights, self.cell.estimates
        noise, theirs = variances * self.cell.factors, opponents.total(weights)
        apart = opponents.total(weights * estimates) / theirs - estimates
        return apart, noise + np.maximum(opponents.total(weights**2 * noise), 0.0) / theirs**2

    def bars(self, depths: Ints) -> Floats:
        """Lower as less is left to chance; at the end, all but the best fall."""
        level = self._level(self.whole)
        if self.populations is None:
            if self.stage:
                return np.full(depths.size, self._bar_of_stage(level))
            looks = np.searchsorted(DEPTHS, depths)
            return np.array([self._bar_for(level, look) for look in looks.tolist()])
        found = np.full(depths.size, -np.inf)
        for place, depth in enumerate(depths.tolist()):
            pulls = depth - self.populations.start
            if pulls < self.populations.end:
                look = int(np.searchsorted(self.populations.looks, pulls))
                bar = self.populations.bars(level, look, self.alive[:1])[0]
                found[place] = bar * (1 - pulls / self.populations.end) ** 0.5
        return found

    def scores(self) -> Floats:
        """In standard deviations of all that was seen."""
        if self.populations is None or self.populations.look == 0:
            return super().scores()
        times = np.array([one[self.populations.look - 1] for one in self.populations.times])
        scores = self.total[self.alive] / np.sqrt(times[self.populations.classes[self.alive]])
        left = np.maximum(1 - (self.depth - self.populations.start) / self.populations.end, 0.0)
        return np.asarray(scores * np.sqrt(left))
