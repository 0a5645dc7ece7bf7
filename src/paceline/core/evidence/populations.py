"""A finite number of values of each arm: which arm has the highest mean of these?

Once it is decided that N_i values of arm i will be enough, nobody needs to know the true means any
more: the race is for W, the arm whose N_i values have the highest mean. These populations are
sampled without replacement. So with each value less is left to chance: P_i, the mean of all N_i
values, is known in part.

Let n values be seen, with the mean x, and let y be the mean of m fresh ones. Then
p = n/N · x + (1 − n/N) · y has the expectation P, given all that was seen before, and the variance
σ² (1 − n/N)² (1/m − 1/(N − n)). For W, the p of any opponents chosen before is no higher in
expectation than its own: a test of each arm against earlier leaders, cell by cell, loses W no more
often than a Brownian motion crosses the bars. As n approaches N the noise vanishes, and arms that
are behind fall soon: near the end most of them, although their true means may well be tied.
"""

from dataclasses import dataclass, field

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.boundary import Boundary, closed_boundary
from paceline.core.evidence.group_sequential import spreads
from paceline.core.rounds import Results

# A cell has this share of the pulls so far. Cells of few pulls say little about their variance, so
# the first ones are longer, up to half as long as all before.
_GROWTH = 0.1
_FEW = 14
# Populations whose sizes differ by less than this factor share their bars: computing them is slow.
_SIZES_APART = 1.5
_ROUNDS_APART = 1.35  # looks at which rounds may end; there is no need to try them all
_LEAST_NOISE = 0.05  # of the noisiest arm: keeps the weights of arms that are nearly known finite


@dataclass(frozen=True)
class Cell:
    """What a cell says about each arm alive: p, and its variance in units of σ²."""

    estimates: Floats
    factors: Floats
    pulls: Ints
    variances: Floats  # of its values; 0 of fewer than two

    @property
    def weights(self) -> Floats:
        """How much each arm counts in a group of opponents; known before its values are."""
        most = float(self.factors.max())
        if most == 0:
            return np.ones(self.factors.size)
        return 1.0 / np.maximum(self.factors, _LEAST_NOISE * most)


@dataclass(eq=False)
class Populations:
    """The sizes N of all arms' populations, what has been seen of them, and when to look.

    `sizes` may be anything for arms that are out already. `seen` and `sums` have what was seen
    before the first look.

    >>> few = Populations(np.array([30, 50]), np.array([20, 20]), np.zeros(2), start=12)
    >>> few.looks.tolist(), few.next_depth, few.left(np.array([0, 1])).tolist()
    ([30, 44], 42, [10, 30])
    """

    sizes: Ints
    seen: Ints
    sums: Floats
    start: int  # the depth at which the populations begin
    looks: Ints = field(init=False)  # pulls since then; at `end`, after these, all is known
    end: int = field(init=False)
    look: int = 0
    shares: tuple[float, ...] = field(init=False)  # of δ, for each look
    classes: Ints = field(init=False)
    times: list[tuple[float, ...]] = field(init=False)  # of each class

    def __post_init__(self) -> None:
        self.end = int(self.sizes.max())
        first = int(self.seen.max())
        self.looks = _looks(first, self.end)
        # A little more for early looks: most arms fall there if the tolerance is small.
        shares = (np.arange(self.looks.size) + 2.0) ** -0.5
        self.shares = tuple((shares / shares.sum()).tolist()) if self.looks.size else ()
        steps = np.log(self.end / np.maximum(self.sizes, 1)) / np.log(_SIZES_APART)
        self.classes = np.round(steps).astype(np.int64)
        self.times = [
            _times(first, self.looks, self.end, self.end / _SIZES_APART**step)
            for step in range(int(self.classes.max()) + 1)
        ]

    @property
    def next_depth(self) -> int:
        """The depth of the next look; at the last, all is known."""
        last = self.look >= self.looks.size
        return self.start + (self.end if last else int(self.looks[self.look]))

    @property
    def depths(self) -> Ints:
        """Where a round may end: the next look, some later ones, and the end."""
        chosen = [self.next_depth - self.start]
        for look in self.looks[self.look :].tolist():
            if look >= _ROUNDS_APART * chosen[-1]:
                chosen.append(look)
        return self.start + np.unique([*chosen, self.end])

    def left(self, arms: Ints) -> Ints:
        """How many values have not been seen."""
        return self.sizes[arms] - self.seen[arms]

    def means(self, arms: Ints) -> Floats:
        """Of what has been seen."""
        return np.asarray(self.sums[arms] / np.maximum(self.seen[arms], 1))

    def cell(self, arms: Ints, fresh: Results) -> Cell:
        """What fresh values say; arms whose values are all known have no fresh ones."""
        pulls = np.zeros(self.sizes.size, dtype=np.int64)
        means = np.zeros(self.sizes.size)
        pulls[fresh.arms], means[fresh.arms] = fresh.pulls, fresh.sums / fresh.pulls
        pulls, means = pulls[arms], means[arms]
        known, left = self.seen[arms] / self.sizes[arms], self.left(arms)
        some = pulls > 0
        estimates = np.where(some, known * self.means(arms) + (1 - known) * means, self.means(arms))
        noise = 1 / np.maximum(pulls, 1) - 1 / np.maximum(left, 1)
        factors = np.where(some & (pulls < left), (1 - known) ** 2 * noise, 0.0)
        spread = np.zeros(self.sizes.size)
        spread[fresh.arms] = spreads(fresh)
        return Cell(estimates, factors, pulls, spread[arms] / np.maximum(pulls - 1, 1))

    def add(self, fresh: Results) -> None:
        """Take in fresh values."""
        self.seen[fresh.arms] += fresh.pulls
        self.sums[fresh.arms] += fresh.sums

    def step(self, arms: Ints) -> tuple[Floats, Floats]:
        """The weight of the next look's cell, for each arm, and the time of that look."""
        now = np.array([times[self.look] for times in self.times])
        before = np.array([times[self.look - 1] if self.look else 0.0 for times in self.times])
        return (now - before)[self.classes[arms]], now[self.classes[arms]]

    def bars(self, delta: float, look: int, arms: Ints) -> Floats:
        """The bar of each arm at a look, in standard deviations."""
        classes, places = np.unique(self.classes[arms], return_inverse=True)
        found = np.array([self._boundary(delta, one).at(look) for one in classes.tolist()])
        return np.asarray(found[places])

    def heights(self, delta: float, look: int, arms: Ints) -> Floats:
        """The same, in the units of the totals."""
        times = np.array([times[look] for times in self.times])[self.classes[arms]]
        return np.asarray(self.bars(delta, look, arms) * np.sqrt(times))

    def _boundary(self, delta: float, size: int) -> Boundary:
        return closed_boundary(delta, self.shares, self.times[size])

    def beaten(self, arms: Ints, top: int) -> Ints:
        """Whether all of an arm's values are known, and `top` others' that are better; 0 or 1."""
        known, means = self.left(arms) <= 0, self.means(arms)
        if np.count_nonzero(known) <= top:
            return np.zeros(arms.size, dtype=np.int64)
        bar = np.sort(means[known])[-top]
        return np.asarray((known & (means < bar)).astype(np.int64))


def _looks(first: int, end: int) -> Ints:
    """Looks after `first` pulls and before `end`."""
    looks = [first]
    while looks[-1] < end:
        looks.append(looks[-1] + max(int(_GROWTH * looks[-1]) + 1, min(looks[-1] // 2, _FEW), 4))
    return np.array(looks[1:-1], dtype=np.int64)


def _times(first: int, looks: Ints, end: int, size: float) -> tuple[float, ...]:
    """What cells weigh, added up: by how much they are expected to say about two arms.

    Any weights would do, if they are known before: these are right for an arm with a population of
    `size` and one with the largest. In units in which σ²/N is the same for all, as it is about.
    """
    ends = np.r_[first, looks].astype(np.float64)
    start, stop = ends[:-1], ends[1:]

    def noise(size: float) -> Floats:
        left = np.maximum(1 - start / size, 0.0) * np.maximum(size - stop, 0.0)
        return np.asarray(left / (stop - start))

    return tuple(np.cumsum(1.0 / (noise(size) + noise(float(end)))).tolist())
