"""Any evidence, with an end: whoever is in after enough values, the best mean wins.

This is for values that are not taken as normal. δ is split: arms fall as in any race, without
regard to ε, and the best arm i* is lost with probability δ₁ at most. If it is still in at the end,
then an arm that is worse by more than ε wins only if it shows a mean no lower than that of i*, in
as many values as were settled before any of them was seen; that has a probability of δ₂ at most, by
a union over such arms (`horizon`). Before that, a leader may win that is shown to be near enough
(`nearness`), wrongly with probability δ₃ at most. That is quick if it is ahead; arms that tie need
the end.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.horizon import between_limits, enough, hoeffding, stein
from paceline.core.evidence.nearness import Nearness
from paceline.core.rounds import Results
from paceline.core.tally import Tally

# Shares of δ: for the means at the end, for what pulls show of the spread, for being near enough.
_END, _SPREAD, NEAR = 0.35, 0.05, 0.25
_PILOT_SHARE = 16  # values between limits: of what is enough, whatever they are
_LEAST_PILOT = 20


class Cap(NamedTuple):
    """After `pilot` pulls of each arm, `size(tally, arms)` more of each are enough."""

    pilot: int
    size: Callable[[Tally, Ints], int]


def cap_of_scale(
    scale: float, arms: int, delta: float, tolerance: float, *, top: int, paired: bool
) -> Cap:
    """For sub-Gaussian values with a known scale."""
    pairs = top * (arms - top)
    size = hoeffding(scale, pairs, (_END + _SPREAD) * delta, tolerance, paired=paired)
    return Cap(0, lambda _tally, _arms: size)


def cap_of_unknown(arms: int, delta: float, tolerance: float) -> Cap:
    """For normal values that show their variances first: each mean is within ε/2, pairs or not."""

    def size(tally: Tally, alive: Ints) -> int:
        free = int(tally.pulls[alive].min()) - 1
        constant = 2 * stein(free, (_END + _SPREAD) * delta / arms)
        return int(enough(constant, tally.variances(alive), tolerance).max())

    return Cap(_LEAST_PILOT, size)


def cap_between(
    width: float, arms: int, delta: float, tolerance: float, *, top: int, paired: bool
) -> Cap:
    """For values between limits: those that vary little need fewer.

    With probability 1 − α no standard deviation exceeds what the pilot shows by more than
    √(2 ln(n/α)/(m − 1)) (Maurer and Pontil 2009). Then Bernstein's inequality holds for the rest.

    >>> cap = cap_between(1.0, 2, 0.05, 0.01, top=1, paired=False)
    >>> coins, rare = (Tally(np.full(2, 4000), np.zeros(2), np.zeros(2), np.full(2, 4000 * v))
    ...                for v in (0.25, 0.01))
    >>> cap.pilot, cap.size(coins, np.arange(2)), cap.size(rare, np.arange(2))
    (2529, 40454, 4301)
    """
    pairs, margin = top * (arms - top), tolerance / width
    anyway = between_limits(pairs, _END * delta, margin, paired=paired)
    pilot = max(-(-anyway // _PILOT_SHARE), _LEAST_PILOT)

    def size(tally: Tally, alive: Ints) -> int:
        shown = np.sqrt(tally.variances(alive)) / width
        unseen = np.sqrt(2 * np.log(arms / (_SPREAD * delta)) / (tally.pulls[alive] - 1))
        deviation = min(float((shown + unseen).max()), 0.5)
        # The variance of a difference: 2 V of independent values, at most 4 V of others.
        variance = (4 if paired else 2) * deviation**2
        needed = 2 * (variance + margin / 3) * np.log(pairs / (_END * delta)) / margin**2
        return int(min(np.ceil(needed), anyway, float(MOST_PULLS_PER_ARM)))

    return Cap(pilot, size)


class Capped(Evidence):
    """The arms that the `inner` evidence leaves in, up to the cap; then the best of these."""

    SHARE: ClassVar[float] = 1 - _END - _SPREAD - NEAR  # of δ, for the inner evidence

    def __init__(self, inner: Evidence, delta: float, cap: Cap, near: Nearness) -> None:
        super().__init__(inner.alive.size, inner.top)
        self.inner, self.delta, self.cap, self.near = inner, delta, cap, near
        self.tally = inner.tally
        self.end: int | None = None  # the depth, once it is settled
        self._pulls, self._sums = self.tally.pulls.copy(), self.tally.sums.copy()  # until then
        self._settle()

    def _settle(self) -> None:
        if self.end is None and self.depth >= self.cap.pilot:
            self.end = self.depth + max(self.cap.size(self.tally, self.alive), 1)
            self._pulls, self._sums = self.tally.pulls.copy(), self.tally.sums.copy()

    @property
    def even(self) -> bool:
        """All arms have as many values at the end."""
        return True

    def next_look(self) -> int:
        """That of the evidence, or the end."""
        look = self.inner.next_look()
        return look if self.end is None else min(look, self.end)

    def take(self, fresh: Results) -> Ints:
        """Take in fresh values; at the end only the best stay."""
        before = self.alive
        self.depth += int(fresh.pulls.min())
        if self.depth == self.end:
            self.tally.add(fresh)
            pulls = self.tally.pulls[self.alive] - self._pulls[self.alive]
            means = (self.tally.sums[self.alive] - self._sums[self.alive]) / pulls
            best: Ints | None = self.alive[np.argsort(-means, kind="stable")[: self.top]]
        else:
            if self.inner.depth > 0:
                self.near.take(fresh, self.alive, self.tally.means(self.alive))
            self.inner.take(fresh)
            self.alive = self.inner.alive
            best = self.near.answer(self.alive, self.tally.means(self.alive))
        if best is not None:
            self.alive = np.sort(best)
        self._settle()
        return np.setdiff1d(before, self.alive)

    def weigh(self, fresh: Results) -> Floats:
        """As the evidence does."""
        return self.inner.weigh(fresh)

    def out_at(self, level: float, arms: Ints) -> bool:
        """What is not for the evidence is taken off: the race may have ended wrongly otherwise."""
        own = level - (1 - self.SHARE) * self.delta
        return self.inner.out_at(own, arms) if own > 0 else not arms.size

    def ahead(self) -> Ints:
        """The looks before the end, and the end."""
        looks = self.inner.ahead()
        return looks if self.end is None else np.r_[looks[looks < self.end], self.end]

    def bars(self, depths: Ints) -> Floats:
        """At the end all but the best fall."""
        bars = self.inner.bars(depths)
        return bars if self.end is None else np.where(depths >= self.end, -np.inf, bars)

    def scores(self) -> Floats:
        """Those of the evidence."""
        return self.inner.scores()

    def variances(self) -> Floats:
        """Those of the evidence."""
        return self.inner.variances()
