"""Bounds for a chain of cuts: how likely it loses the best arm, or one of the top k.

All survivors have the same number of pulls, kept from the start, and a cut keeps those with the
best means so far. If it drops the best arm, at least as many arms as it keeps have a mean no
lower; how likely that is, is all that counts, so survivors and rounds may be chosen from data.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from paceline.core.arrays import Floats, Ints, finite_floats, non_negative, positive, whole
from paceline.core.noise import Noise
from paceline.errors import InvalidInput

_MOST_BINOMIAL = 1e9  # pulls, above which binomial tails are not asked for
_MOST_STEPS = 128


def rates(
    means: Any, noise: Noise, *, top: int = 1, sigma: float | None = None, paired: bool = False
) -> Floats:
    """r_i of the arms outside the top, by falling mean: how fast each falls behind the top's last.

    P(at some count t ≥ t₀ the mean of i is no lower) ≤ exp(−r_i t₀): for any c, exp(c(S_i − S₁))
    divided by its expectation is a martingale (Ville), and the best c gives

    - σ-sub-Gaussian values: r = Δ²/(4σ²); with `paired` seeds Δ²/(8σ²), for the difference
      of two such values is 2σ-sub-Gaussian whatever joins them;
    - values in [0, 1], 0 and 1 or between: r = −2 ln(√(p₁p_i) + √((1−p₁)(1−p_i))) ≥ Δ²; paired
      r = −ln(1 − (√(d+Δ) − √d)²) ≥ Δ²/2, where d = min(p_i, 1−p₁) is the worst joint law.

    `sigma` overrides what `noise` says. Ties with the top have the rate 0.

    >>> from paceline.core.noise import BERNOULLI, Noise
    >>> rates([0.1, 0.9, 0.5], BERNOULLI).round(3).tolist()
    [0.223, 1.022]
    >>> rates([0.1, 0.9, 0.5], Noise("normal", sigma=0.5)).round(3).tolist()
    [0.16, 0.64]
    """
    return _Field.of(means, noise, top, sigma, paired).rates


def cut_bound(
    means: Any,
    noise: Noise,
    *,
    pulls: int,
    kept: int,
    top: int = 1,
    sigma: float | None = None,
    paired: bool = False,
) -> float:
    """How likely, at most, a cut to `kept` arms with `pulls` each drops one of the `top`.

    It also holds for a cut at any later moment that data choose. The arms are all those of the
    race: earlier cuts change nothing. 1 if the top is not unique.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> [round(cut_bound(means, BERNOULLI, pulls=100, kept=b), 6) for b in (1, 10, 50)]
    [0.222352, 0.027623, 0.000847]
    """
    field = _Field.of(means, noise, top, sigma, paired)
    return field.loss(whole(pulls, "pulls", least=0), field.rivals(kept))


def chain_bound(
    means: Any,
    noise: Noise,
    *,
    kept: Sequence[int],
    pulls: Sequence[int],
    top: int = 1,
    sigma: float | None = None,
    paired: bool = False,
) -> float:
    """How likely, at most, a chain of cuts fixed in advance loses one of the `top`.

    `pulls` are those that each survivor has had in all at the cut to `kept`.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> round(chain_bound(means, BERNOULLI, kept=[50, 10, 1], pulls=[100, 200, 400]), 6)
    0.000922
    """
    if len(kept) != len(pulls):
        raise InvalidInput(
            f"a chain needs the pulls of each cut, got {len(kept)} cuts and {len(pulls)} pulls"
        )
    field = _Field.of(means, noise, top, sigma, paired)
    cuts = zip(kept, pulls, strict=True)
    return field.any_of(field.loss(whole(t, "pulls", least=0), field.rivals(b)) for b, t in cuts)


def floor_bound(
    means: Any,
    noise: Noise,
    *,
    floor: float,
    least_pulls: int = 0,
    top: int = 1,
    sigma: float | None = None,
    paired: bool = False,
) -> float:
    """How likely, at most, one of the `top` is lost by any rule whose cuts keep to a floor.

    A cut to b arms with t pulls each does so if t·2^⌊log₂ b⌋ ≥ `floor` and t ≥ `least_pulls`; for
    a top k, b − k + 1 stands for b. When and how far to cut may depend on all that was seen. A cut
    with 2^l ≤ b < 2^(l+1) that drops the best has 2^l arms ahead of it at some t ≥ `floor`/2^l:
    one term for each of the ⌈log₂ n⌉ levels l.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> [round(floor_bound(means, BERNOULLI, floor=x), 6) for x in (1600, 3200, 6400)]
    [0.243348, 0.020436, 0.000226]
    """
    field = _Field.of(means, noise, top, sigma, paired)
    floor, least = non_negative(floor, "floor"), whole(least_pulls, "least_pulls", least=0)
    counts = [2**level for level in range(field.others.size.bit_length())]  # ⌈log₂ n⌉ if k = 1
    above = [b for b in counts if math.ceil(floor / b) > least]
    lost = [field.loss(math.ceil(floor / b), b) for b in above]
    if len(above) < len(counts):  # one term for the others: where 32 arms are ahead, 16 are
        lost.append(field.loss(least, counts[len(above)]))
    return field.any_of(lost)


def rate_hardness(rates: Any) -> float:
    """H = max over i ≥ 2 of i/r_i; 2H₂ where r = Δ²/2, the paper's Hoeffding step.

    >>> rate_hardness([0.5, 1.0, 2.0])
    4.0
    """
    falls = np.asarray(rates, dtype=np.float64)
    with np.errstate(divide="ignore"):  # a tie has the rate 0 and makes it infinite
        return float((np.arange(2, falls.size + 2) / falls).max())


def closed_bound(exponent: float, cuts: int, hardness: float, *, top: int = 1) -> float:
    """e · cuts · exp(−exponent/H): the same, less sharply, for a plan.

    For a fixed chain the exponent is the least t·b of its cuts; for a floor it is the floor,
    and the cuts are its ⌈log₂ n⌉ levels. For a top k, b − k + 1 stands for b, with a factor k.

    >>> round(closed_bound(100.0, 3, 10.0), 6)
    0.00037
    """
    decay = math.inf if hardness == 0 else non_negative(exponent, "exponent") / hardness
    return min(1.0, math.e * whole(cuts, "cuts") * whole(top, "top") * math.exp(-decay))


@dataclass(frozen=True)
class _Field:
    """The arms of a race, by falling mean, and what is known of their values."""

    top: Floats
    others: Floats
    sigma: float | None  # None: values in [0, 1], to which the means are scaled
    paired: bool
    tails: Literal["normal", "binomial"] | None = None  # of sums; None: only bounds

    @classmethod
    def of(cls, means: Any, noise: Noise, top: int, sigma: float | None, paired: bool) -> "_Field":
        falling = -np.sort(-finite_floats(means, "means"))
        if whole(top, "top") >= falling.size:
            raise InvalidInput(f"top must be below the number of arms, {falling.size}, got {top}")
        if sigma is None and noise.limits is not None:
            low, high = noise.limits
            if falling[0] > high or falling[-1] < low:
                raise InvalidInput(
                    f"{noise.describe()}: the means must lie between {low:g} and {high:g}, "
                    f"got {falling[-1]:g} to {falling[0]:g}"
                )
            falling = (falling - low) / (high - low)
        else:
            sigma = noise.sigma if sigma is None else positive(sigma, "sigma")
            if sigma is None:
                raise InvalidInput(
                    f"{noise.describe()}: a bound needs their scale; give sigma=, or declare bounds"
                )
        tails: Literal["normal", "binomial"] | None = None
        if noise.kind == "normal" and not paired:
            tails = "normal"
        elif noise.kind == "bernoulli" and sigma is None and not paired:
            tails = "binomial"
        return cls(falling[:top], falling[top:], sigma, paired, tails)

    def chance(self, exponents: Floats) -> Floats:
        """How likely, at most, a count from t₀ on reaches what has this exponent at t₀.

        exp(−x) by Ville. Sums of normal values are a Brownian motion looked at now and then: it
        is there at t₀, or comes there later, each with probability Φ(−√2x).
        """
        if self.tails != "normal":
            return np.exp(-exponents)
        from scipy.special import erfc  # here, because it doubles the time to import paceline

        return np.asarray(erfc(np.sqrt(exponents)))

    @cached_property
    def rates(self) -> Floats:
        """See `rates`; against the last of the top, which is the slowest to be left behind."""
        last, others = float(self.top[-1]), self.others
        if self.sigma is not None:
            return ((last - others) / self.sigma) ** 2 / (8 if self.paired else 4)
        if self.paired:
            overlap = np.minimum(others, 1 - last)
            lost = (np.sqrt(overlap + (last - others)) - np.sqrt(overlap)) ** 2
            return _minus_log(lost)
        # 1 − √(p₁p_i) − √((1−p₁)(1−p_i)), without cancellation
        apart = (np.sqrt(last) - np.sqrt(others)) ** 2
        apart += (np.sqrt(1 - others) - np.sqrt(1 - last)) ** 2
        return 2 * _minus_log(apart / 2)

    @cached_property
    def groups(self) -> tuple[Floats, Ints]:
        """Others with the same gap to 1 % as one, with its highest mean: some 1,000 of 10⁵ arms."""
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
        """How likely, at most, one of some losses occurs, each at most as likely as given.

        Every one is favoured by low values of the top and high values of the others, so if values
        are independent, none occurs at least as often as if they were (Harris 1960).
        """
        chances = list(losses)
        if self.paired:
            return min(1.0, math.fsum(chances))
        if max(chances, default=0.0) >= 1.0:
            return 1.0
        return -math.expm1(math.fsum(math.log1p(-chance) for chance in chances))

    def rivals(self, kept: int) -> int:
        """How many arms from outside must be ahead of one of the top for a cut to drop it."""
        return whole(kept, "kept", least=self.top.size) - self.top.size + 1

    def loss(self, pulls: float, rivals: int) -> float:
        """How likely, at most, so many others are ahead of one of the top at a count ≥ `pulls`."""
        if rivals > self.others.size:
            return 0.0
        if pulls == 0 or self.others[0] == self.top[-1]:
            return 1.0
        pulls = float(pulls)  # a whole number may be too large for an int64
        chances = self.chance(pulls * self.rates)
        ahead = _at_least(rivals, chances, np.ones(chances.size, dtype=int), independent=False)
        parted = self._parted(self._lows_and_climbs(pulls, later=True), rivals)
        bound = min(1.0, self.top.size * float(ahead), parted)
        if self.tails == "binomial" and pulls <= _MOST_BINOMIAL:
            bound = min(bound, self._ranked(pulls, rivals))
        return bound

    def _ranked(self, pulls: float, rivals: int) -> float:
        """The same for zeros and ones, by what is seen at t₀ = `pulls` itself.

        Take the last count at which b others are ahead of one of the top. Its first t₀ values are
        a random part of all its values up to there, and so for every arm. If all b + 1 have as
        many ones, every order at t₀ is as likely, and the b have no fewer: so at least j are ahead
        at t₀ with a probability of (b + 1 − j)/(b + 1) or more, for any j.
        """
        parts = sorted({math.ceil(rivals * eighths / 8) for eighths in range(1, 9)})
        chances = self._lows_and_climbs(pulls, later=False)
        ways = [self._parted(chances, j) / (rivals + 1 - j) for j in parts]
        return (rivals + 1) * min(ways)

    def _parted(self, chances: tuple[Floats, Floats], rivals: int) -> float:
        """The same by the lowest mean M that one of the top has at a count ≥ `pulls`.

        By Ville P(M ≤ θ) ≤ F(θ), a sum of exp(−pulls·I) with Cramér's I, and in the same way
        P(so many others have a mean of θ at such counts) ≤ G(θ). So for any θ the loss is at most
        F + G. If arms are independent it is at most the expectation of G(M): over falling
        thresholds, G(θ₁) + Σ F(θ_k)(G(θ_{k+1}) − G(θ_k)) with a last G of 1.
        """
        low, climbs = chances
        if not low.size:
            return 1.0
        sizes = self.groups[1]
        high = _at_least(rivals, climbs, sizes, independent=not self.paired).clip(max=1.0)
        if self.paired:
            return float((low + high).min())
        return float(high[0] + low @ np.diff(high, append=1.0))

    def _lows_and_climbs(self, pulls: float, *, later: bool) -> tuple[Floats, Floats]:
        """F of falling thresholds, and how likely each group of others reaches them.

        If not `later`, of the count `pulls` only, and exact.
        """
        columns = (self.thresholds if later else self._steps(pulls))[:, None]
        # The mean of the zeros is up to 1 − θ.
        low = self._reach(1 - self.top, 1 - columns, pulls, later).sum(axis=1).clip(max=1.0)
        # An F near 1 counts as 1; those beyond the first near 0 count as it does.
        used = (low < 0.99) & (np.cumsum(low < 1e-30) <= 1)
        return low[used], self._reach(self.groups[0], columns[used], pulls, later)

    def _steps(self, pulls: float) -> Floats:
        """Means between two numbers of ones, falling, where one of the top may be."""
        ends = self.top[[0, -1]]
        reach = 8 * np.sqrt(pulls * ends * (1 - ends)) + 8
        first, last = pulls * ends + reach * [1, -1]
        ones = np.linspace(first, last, _MOST_STEPS).round().clip(0, pulls)
        falling: Floats = (np.unique(ones)[::-1] - 0.5) / pulls
        return falling

    def _reach(self, means: Floats, thresholds: Floats, pulls: float, later: bool) -> Floats:
        """How likely, at most, the mean of so many values, or `later` of more, is up to θ."""
        if later:
            ever = self.chance(pulls * self._cramer(means, thresholds))
            return np.asarray(np.where(means < thresholds, ever, 1.0))
        from scipy.special import betainc  # here, because it doubles the time to import paceline

        ones = np.ceil(thresholds * pulls).clip(min=0.0)
        tails = betainc(np.maximum(ones, 1.0), np.maximum(pulls - ones + 1, 1e-300), means)
        return np.asarray(np.where(ones == 0, 1.0, np.where(ones > pulls, 0.0, tails)))

    def _cramer(self, means: Floats, thresholds: Floats) -> Floats:
        """I: the mean of t values is beyond the threshold with probability at most exp(−t·I)."""
        if self.sigma is not None:
            return ((means - thresholds) / self.sigma) ** 2 / 2
        from scipy.special import rel_entr  # here, because it doubles the time to import paceline

        divergence: Floats = rel_entr(thresholds, means) + rel_entr(1 - thresholds, 1 - means)
        return divergence


def _minus_log(lost: Floats) -> Floats:
    """−ln(1 − lost), infinite at 1."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.minimum(lost, 1.0))


def _at_least(count: int, chances: Floats, sizes: Ints, *, independent: bool) -> Floats:
    """How likely, at most, `count` of some events occur, in groups of these sizes and chances.

    If so many occur, at least count − j of all but the first j do, for any j. By Markov the
    probability of that is at most m/(count − j), m the sum of their chances. If they are
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
