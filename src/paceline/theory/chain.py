"""The chain of cuts for a deadline: how many arms to keep after how many pulls.

A chain pulls all arms equally often, keeps the best few by their means so far, pulls those further,
and so on until the last cut. Its bottleneck is the least, over the cuts, of pulls times arms kept:
the larger it is, the less the chain may lose (see `cuts`). For a given bottleneck X, a cut to j
arms needs ⌈X/j⌉ pulls of each, and the quickest chain is a shortest path over the numbers of arms.
X is then raised until that path takes all the time there is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, Bools, Floats, Ints, non_negative, whole
from paceline.core.scaling import ROUNDING, Scaling
from paceline.errors import InvalidInput
from paceline.theory.deadline import bottleneck, stage_count

RATIO = 1.2  # of neighbouring sizes, if not every number of arms is tried
_ALL_SIZES = 24  # up to this many arms, every number is tried
_TRIED_AT_ONCE = 8
_AROUND_GUESS: Floats = np.array([0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0])
_MORE_TRIED = 64  # bottlenecks above the one found; a pool's steps may hide some that fit


@dataclass(frozen=True)
class Chain:
    """Stages of equal pulls, each with a cut at its end.

    `sizes` are the numbers of arms at the start and after every cut. `pulls` are the total pulls of
    each arm still in, at the start and before every cut. `seconds` are the times of the stages.
    """

    sizes: tuple[int, ...]
    pulls: tuple[int, ...]
    seconds: tuple[float, ...]
    top: int = 1

    @property
    def bottleneck(self) -> int:
        """The least, over the cuts, of pulls times arms kept (beyond the top k but one)."""
        cuts = zip(self.sizes[1:], self.pulls[1:], strict=True)
        return min(pulls * (kept - self.top + 1) for kept, pulls in cuts)

    def merged(self) -> "Chain":
        """The same chain; cuts with no pulls between them become one."""
        ends = [*(now < after for now, after in pairwise(self.pulls[1:])), True]
        cuts = [place for place, end in enumerate(ends, start=1) if end]
        return Chain(
            (self.sizes[0], *(self.sizes[place] for place in cuts)),
            (self.pulls[0], *(self.pulls[place] for place in cuts)),
            tuple(math.fsum(self.seconds[i:j]) for i, j in pairwise([0, *cuts])),
            self.top,
        )

    @property
    def total_seconds(self) -> float:
        """How long all stages take together."""
        return math.fsum(self.seconds)


def chain_sizes(arms: int, top: int = 1) -> Ints:
    """The numbers of arms that a chain may pass, falling: all if there are few, else a grid.

    They include the sizes that SSH would have, for every k, so no chain of SSH is better.

    >>> chain_sizes(30).tolist()
    [30, 25, 21, 17, 15, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1]
    """
    if whole(arms, "arms", least=2) <= _ALL_SIZES:
        return np.arange(arms, top - 1, -1)
    steps = int(math.log(arms) / math.log(RATIO)) + 1
    sizes = set(np.rint(arms * RATIO ** -np.arange(steps + 1.0)).astype(int).tolist())
    for k in range(1, stage_count(arms, 1) + 1):
        size = arms
        while size > 1:
            size = -(-size // 2**k)
            sizes.add(size)
    return np.array(sorted({top, *(size for size in sizes if size > top)}, reverse=True))


def plan_chain(
    arms: int,
    scaling: Scaling,
    seconds: float,
    *,
    top: int = 1,
    pulls: int = 0,
    floor: float = 0.0,
    sizes: Ints | None = None,
    tolerance: float = 0.0,
    guess: float = 1.0,
) -> Chain | None:
    """The chain with the largest bottleneck that fits into `seconds`; None if there is none.

    Each of the `arms` has had `pulls` pulls. With a `floor`, a cut to b arms (b − k + 1 for the top
    k) comes only when pulls times the largest power of 2 up to b is at least the floor. `sizes` may
    be given if many plans are made. `tolerance` is the share of the bottleneck that may be missed,
    and `guess` is a bottleneck that is not far off: both save time. Any time left goes to the last
    stage.

    >>> from paceline import PowerLaw
    >>> chain = plan_chain(16, PowerLaw(0.5), 20.0)
    >>> chain.sizes, chain.pulls, chain.bottleneck
    ((16, 4, 1), (0, 7, 29), 28)
    """
    if not 1 <= whole(top, "top") < whole(arms, "arms", least=2):
        raise InvalidInput(f"top must lie below the number of arms, {arms}: got {top}")
    grid = _below(chain_sizes(arms, top) if sizes is None else sizes, arms, top)
    left = non_negative(seconds, "seconds")
    kept = (grid[1:] - (top - 1)).astype(np.float64)
    least = np.maximum(float(pulls), least_pulls(kept, floor))

    def needed(level: float) -> Floats:
        return np.asarray(np.maximum(least, np.ceil(level / kept)))

    search = _Search(grid, pulls, scaling, left * (1 + ROUNDING), needed)
    start = 1.0
    if pulls == 0 and top == 1 and floor == 0 < left:  # what SSH would reach
        ways = range(1, stage_count(arms, 1) + 1)
        start = max(1.0, *(float(bottleneck(arms, k, left, scaling)) for k in ways))
        start = min(start, search.most)
    found = search.largest(start, math.ceil(guess), tolerance, whole_steps=True)
    return None if found is None else _stretched(search.chain(found, top), scaling, left)


def plan_wider(
    arms: int,
    scaling: Scaling,
    seconds: float,
    *,
    top: int = 1,
    pulls: int = 1,
    floor: float = 0.0,
    sizes: Ints | None = None,
) -> Chain | None:
    """A chain whose pulls grow as a power of the arms cut: gentler on many arms than `plan_chain`.

    A cut from b to j arms needs pulls · (b/j)^η, at least one more than `pulls`. η is the largest
    that fits.
    """
    grid = _below(chain_sizes(arms, top) if sizes is None else sizes, arms, top)
    kept = (grid[1:] - (top - 1)).astype(np.float64)
    least = np.maximum(pulls + 1.0, least_pulls(kept, floor))
    shrinking = np.log((arms - top + 1.0) / kept)

    def needed(power: float) -> Floats:
        grown = np.minimum(power * shrinking + math.log(max(pulls, 1)), _LARGEST_LOG)
        return np.asarray(np.maximum(least, np.ceil(np.exp(grown))))

    search = _Search(grid, pulls, scaling, seconds * (1 + ROUNDING), needed)
    found = search.largest(0.0, 1.0, 1e-3, whole_steps=False)
    return None if found is None else _stretched(search.chain(found, top), scaling, seconds)


_LARGEST_LOG = math.log(float(MOST_PULLS_PER_ARM))


def least_pulls(kept: Floats, floor: float) -> Floats:
    """The pulls that the floor demands for a cut to `kept` arms.

    >>> least_pulls(np.array([1.0, 3.0, 4.0]), 10.0)
    array([10.,  5.,  3.])
    """
    return np.ceil(floor / 2.0 ** np.floor(np.log2(kept)))


def _below(sizes: Ints, arms: int, top: int) -> Ints:
    return np.asarray(np.r_[arms, sizes[(sizes < arms) & (sizes > top)], top])


class _Search:
    """Shortest paths over numbers of arms, for many levels at once."""

    def __init__(
        self,
        grid: Ints,
        pulls: int,
        scaling: Scaling,
        seconds: float,
        needed: Callable[[float], Floats],
    ) -> None:
        self.grid = grid
        self.pulls = pulls
        self.scaling = scaling
        self.seconds = seconds
        self.needed = needed
        self.most = float(MOST_PULLS_PER_ARM // int(grid[0]))
        # An edge leads from each size to each smaller one; those into a size are adjacent.
        self.into, self.out_of = np.tril_indices(grid.size, -1)

    def fits(self, levels: Floats) -> Bools:
        """Whether the quickest chains at these levels fit into the time."""
        totals = np.array([self.needed(level) for level in levels.tolist()])
        able: Bools = totals.max(axis=1) <= self.most
        if not able.any():
            return able
        cost = self._edges(totals[able])
        able[able] = self._shortest(cost)[:, -1] <= self.seconds
        return able

    def largest(
        self, start: float, guess: float, tolerance: float, *, whole_steps: bool
    ) -> float | None:
        """The highest level from `start` on that fits; None if `start` does not."""
        near = max(guess, start + 1.0)
        around = np.ceil(near * _AROUND_GUESS) if whole_steps else near * _AROUND_GUESS
        tried = np.r_[start, np.maximum(around, start)]
        fits = self.fits(tried)
        if not fits[0]:
            return None
        low, high = _narrowed(start, math.inf, tried, fits)
        while math.isinf(high):
            tried = np.asarray(tried[-1] * 4.0 ** np.arange(1, _TRIED_AT_ONCE))
            low, high = _narrowed(low, high, tried, self.fits(tried))
        least_step = 1.0 if whole_steps else 1e-3
        while high - low > max(least_step, tolerance * low):
            parts: Floats = np.linspace(low, high, _TRIED_AT_ONCE + 2)[1:-1]
            tried = np.unique(np.floor(parts)) if whole_steps else parts
            tried = tried[(tried > low) & (tried < high)]
            low, high = _narrowed(low, high, tried, self.fits(tried))
        if whole_steps and tolerance == 0:
            beyond = np.asarray(low + 1.0 + np.arange(_MORE_TRIED))
            hidden = beyond[self.fits(beyond)]
            low = float(hidden[-1]) if hidden.size else low
        return low

    def chain(self, level: float, top: int) -> Chain:
        """The quickest chain at a level."""
        total = np.r_[float(self.pulls), self.needed(level)]
        cost = self._edges(total[None, 1:])
        least = self._shortest(cost)[0]
        path = [self.grid.size - 1]
        while path[-1] > 0:
            place = path[-1]
            into = place * (place - 1) // 2  # where the edges into it begin
            ways = least[:place] + cost[0, into : into + place]
            path.append(int(ways.argmin()))  # on a tie, the longest step
        path.reverse()
        seconds = [self._stage(self.grid[i], total[j] - total[i]) for i, j in pairwise(path)]
        return Chain(
            tuple(int(self.grid[place]) for place in path),
            tuple(int(total[place]) for place in path),
            tuple(seconds),
            top,
        )

    def _stage(self, size: int, pulls: float) -> float:
        return self.scaling.seconds(float(size * max(pulls, 0.0)))

    def _edges(self, totals: Floats) -> Floats:
        """λ of every stage: levels by edges."""
        padded = np.c_[np.full(totals.shape[0], float(self.pulls)), totals]
        more = np.maximum(padded[:, self.into] - padded[:, self.out_of], 0.0)
        amounts = self.grid[self.out_of] * more
        return np.asarray(self.scaling.seconds(amounts.ravel())).reshape(amounts.shape)

    def _shortest(self, cost: Floats) -> Floats:
        """The least seconds to every size: levels by sizes."""
        least = np.zeros((cost.shape[0], self.grid.size))
        into = 0
        for place in range(1, self.grid.size):
            ways = least[:, :place] + cost[:, into : into + place]
            least[:, place] = ways.min(axis=1)
            into += place
        return least


def _narrowed(low: float, high: float, tried: Floats, fits: Bools) -> tuple[float, float]:
    """The bracket after some levels were tried: the highest that fits, the lowest bad one above."""
    good, bad = tried[fits], tried[~fits]
    low = max(low, float(good.max())) if good.size else low
    above = bad[bad > low]
    return low, float(above.min()) if above.size else high


def _stretched(chain: Chain, scaling: Scaling, seconds: float) -> Chain:
    """Give the last stage all the time that is left."""
    arms, before = chain.sizes[-2], chain.pulls[-2]
    left = seconds - math.fsum(chain.seconds[:-1])
    more = min(scaling.whole_pulls(max(left, 0.0)), MOST_PULLS_PER_ARM) // arms
    total = max(chain.pulls[-1], before + more)
    last = scaling.seconds(float(arms * (total - before)))
    return Chain(chain.sizes, (*chain.pulls[:-1], total), (*chain.seconds[:-1], last), chain.top)
