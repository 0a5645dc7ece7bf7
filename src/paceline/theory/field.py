"""The arms of a race, and how likely others are to get ahead of the best.

These are the parts of the bounds for cuts; `cuts.py` puts them together.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints, finite_floats, whole
from paceline.core.noise import Noise
from paceline.core.noise.tails import Counted, Tails
from paceline.errors import InvalidInput

# An upper bound on how likely the means of some arms are to reach some thresholds.
_Reach = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Field:
    """The arms of a race, by falling mean, and the tails of their values."""

    top: Floats
    others: Floats
    tails: Tails

    @classmethod
    def of(cls, means: Any, noise: Noise, top: int, sigma: float | None, paired: bool) -> "Field":
        """Make a field from means in any order; `sigma` overrides what `noise` says."""
        falling = -np.sort(-finite_floats(means, "means"))
        if whole(top, "top") >= falling.size:
            raise InvalidInput(f"top must be below the number of arms, {falling.size}, got {top}")
        tails = noise.tails(sigma=sigma, paired=paired)
        falling = tails.placed(falling)
        return cls(falling[:top], falling[top:], tails)

    @cached_property
    def rates(self) -> Floats:
        """See `theory.rates`; against the last of the top, behind which others fall most slowly."""
        return self.tails.rates(float(self.top[-1]), self.others)

    @cached_property
    def groups(self) -> tuple[Floats, Ints]:
        """Others whose gaps agree to 1 % form one group, with its highest mean.

        10⁵ arms make some 1,000 groups.
        """
        gaps = self.top[-1] - self.others
        classes = np.floor(np.log(gaps / gaps[0]) / 0.01)
        first = np.unique(classes, return_index=True)[1]
        return self.others[first], np.diff(first, append=gaps.size)

    @cached_property
    def thresholds(self) -> Floats:
        """Means between the top's last and the lowest, falling, in steps of 6 % of the gap."""
        near, far = (self.top[-1] - self.others[[0, -1]]).tolist()
        steps = math.ceil(math.log(16 * far / near) / 0.06)
        gaps = np.geomspace(near / 16, far, steps, endpoint=False)
        falling: Floats = np.maximum(self.top[-1] - gaps, self.others[-1])
        return falling

    def any_of(self, losses: Iterable[float]) -> float:
        """A bound on the chance that one of some losses occurs, each at most as likely as given.

        Low values of the top and high values of the others favour every loss. So if values are
        independent, it is at least as likely that no loss occurs as if losses were independent
        (Harris 1960).
        """
        chances = list(losses)
        if self.tails.paired:
            return min(1.0, math.fsum(chances))
        if max(chances, default=0.0) >= 1.0:
            return 1.0
        return -math.expm1(math.fsum(math.log1p(-chance) for chance in chances))

    def rivals(self, kept: int) -> int:
        """How many arms from outside must be ahead of one of the top for a cut to drop it."""
        return whole(kept, "kept", least=self.top.size) - self.top.size + 1

    def loss(self, pulls: float, rivals: int) -> float:
        """A bound on the chance that, at a count ≥ `pulls`, `rivals` others lead one of the top."""
        if rivals > self.others.size:
            return 0.0
        if pulls == 0 or self.others[0] == self.top[-1]:
            return 1.0
        pulls = float(pulls)  # a whole number may be too large for an int64
        chances = self.tails.chance(pulls * self.rates)
        ahead = _at_least(rivals, chances, np.ones(chances.size, dtype=int), independent=False)
        ever = self._lows_and_climbs(self.thresholds, self._ever(pulls))
        bound = min(1.0, self.top.size * float(ahead), self._parted(ever, rivals))
        counted = self.tails.counted(pulls)
        return bound if counted is None else min(bound, self._ranked(counted, rivals))

    def _ranked(self, counted: Counted, rivals: int) -> float:
        """The same for zeros and ones, from what is seen at t₀ itself.

        Take the last count at which b others are ahead of one of the top. Its first t₀ values are
        a random part of all its values up to there, and so for every arm. If all b + 1 have equally
        many ones, every order at t₀ is equally likely, and the b have no fewer. So for any j, at
        least j are ahead at t₀ with a probability of (b + 1 − j)/(b + 1) or more.
        """
        parts = sorted({math.ceil(rivals * eighths / 8) for eighths in range(1, 9)})
        thresholds = counted.thresholds(*self.top[[0, -1]])
        chances = self._lows_and_climbs(thresholds, counted.reach)
        ways = [self._parted(chances, j) / (rivals + 1 - j) for j in parts]
        return (rivals + 1) * min(ways)

    def _parted(self, chances: tuple[Floats, Floats], rivals: int) -> float:
        """The same from the lowest mean M that one of the top has at a count ≥ `pulls`.

        By Ville, P(M ≤ θ) ≤ F(θ), a sum of exp(−pulls·I) with Cramér's I. In the same way,
        P(`rivals` others have a mean of θ at such counts) ≤ G(θ). So for any θ the loss is at most
        F + G. If arms are independent it is at most the expectation of G(M): over falling
        thresholds, G(θ₁) + Σ F(θ_k)(G(θ_{k+1}) − G(θ_k)) with a last G of 1.
        """
        low, climbs = chances
        if not low.size:
            return 1.0
        sizes = self.groups[1]
        high = _at_least(rivals, climbs, sizes, independent=not self.tails.paired).clip(max=1.0)
        if self.tails.paired:
            return float((low + high).min())
        return float(high[0] + low @ np.diff(high, append=1.0))

    def _lows_and_climbs(self, thresholds: Floats, reach: _Reach) -> tuple[Floats, Floats]:
        """F of falling thresholds, and how likely each group of others is to reach them."""
        columns = thresholds[:, None]
        # A mean of at most θ is a share of zeros of at least 1 − θ.
        low = reach(1 - self.top, 1 - columns).sum(axis=1).clip(max=1.0)
        # An F near 1 counts as 1; those after the first F near 0 count as that one.
        used = (low < 0.99) & (np.cumsum(low < 1e-30) <= 1)
        return low[used], reach(self.groups[0], columns[used])

    def _ever(self, pulls: float) -> _Reach:
        """The chance that the mean of `pulls` values, or of more, ever reaches a threshold."""

        def reach(means: Floats, thresholds: Floats) -> Floats:
            ever = self.tails.chance(pulls * self.tails.cramer(means, thresholds))
            return np.asarray(np.where(means < thresholds, ever, 1.0))

        return reach


def _at_least(count: int, chances: Floats, sizes: Ints, *, independent: bool) -> Floats:
    """A bound on the chance that `count` of some events occur; they come in groups of equal chance.

    If `count` occur, then for any j at least count − j of all but the first j do. By Markov, the
    probability of that is at most m/(count − j), where m is the sum of their chances. If they are
    independent, a Poisson variable of mean m is more likely to reach count − j as long as
    m ≤ count − j − 1 (Hoeffding 1956; Anderson and Samuels 1967).
    """
    skipped = np.cumsum(sizes) - sizes
    needed = (count - skipped)[skipped < count]
    expected = np.cumsum((chances * sizes)[..., ::-1], axis=-1)[..., ::-1][..., : needed.size]
    least = expected / needed
    if independent:
        from scipy.special import gammainc

        rare = expected <= needed - 1
        least[rare] = np.minimum(
            least[rare], gammainc(np.broadcast_to(needed, rare.shape)[rare], expected[rare])
        )
    bound: Floats = least.min(axis=-1)
    return bound
