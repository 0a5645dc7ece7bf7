"""Bounds for a chain of cuts: how likely it is to lose the best arm, or one of the top k.

All survivors have the same number of pulls, kept from the start, and a cut keeps those with the
best means so far. If it drops the best arm, at least as many arms as it keeps have a mean no
lower. Only the probability of that counts, so survivors and rounds may be chosen from data.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, non_negative, whole
from paceline.core.noise import Noise
from paceline.errors import InvalidInput
from paceline.theory.field import Field


def rates(
    means: Any, noise: Noise, *, top: int = 1, sigma: float | None = None, paired: bool = False
) -> Floats:
    """r_i of the arms outside the top, by falling mean: how fast each falls behind the top's last.

    P(at some count t ≥ t₀ the mean of i is no lower) ≤ exp(−r_i t₀): for any c, exp(c(S_i − S₁))
    divided by its expectation is a martingale (Ville), and the best c gives

    - σ-sub-Gaussian values: r = Δ²/(4σ²); with `paired` seeds Δ²/(8σ²), because the difference
      of two such values is 2σ-sub-Gaussian whatever joins them;
    - values in [0, 1], 0 and 1 or between: r = −2 ln(√(p₁p_i) + √((1−p₁)(1−p_i))) ≥ Δ²; paired
      r = −ln(1 − (√(d+Δ) − √d)²) ≥ Δ²/2, where d = min(p_i, 1−p₁) is the worst joint law.

    `sigma` overrides what `noise` says. Ties with the top have the rate 0.

    >>> from paceline.core.noise import BERNOULLI
    >>> from paceline.core.noise.normal import NormalNoise
    >>> rates([0.1, 0.9, 0.5], BERNOULLI).round(3).tolist()
    [0.223, 1.022]
    >>> rates([0.1, 0.9, 0.5], NormalNoise(sigma=0.5)).round(3).tolist()
    [0.16, 0.64]
    """
    return Field.of(means, noise, top, sigma, paired).rates


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
    """A bound on the chance that a cut to `kept` arms with `pulls` each drops one of the `top`.

    It also holds for a cut at any later moment chosen from data. `means` are those of all arms of
    the race: earlier cuts change nothing. The bound is 1 if the top is not unique.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> [round(cut_bound(means, BERNOULLI, pulls=100, kept=b), 6) for b in (1, 10, 50)]
    [0.222352, 0.027623, 0.000847]
    """
    field = Field.of(means, noise, top, sigma, paired)
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
    """A bound on the chance that a chain of cuts fixed in advance loses one of the `top`.

    `pulls[i]` is the total that each survivor has had at the cut to `kept[i]`.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> round(chain_bound(means, BERNOULLI, kept=[50, 10, 1], pulls=[100, 200, 400]), 6)
    0.000922
    """
    if len(kept) != len(pulls):
        raise InvalidInput(
            f"a chain needs the pulls of each cut, got {len(kept)} cuts and {len(pulls)} pulls"
        )
    field = Field.of(means, noise, top, sigma, paired)
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
    """A bound on the chance that one of the `top` is lost by any rule whose cuts respect a floor.

    A cut to b arms with t pulls each does so if t·2^⌊log₂ b⌋ ≥ `floor` and t ≥ `least_pulls`; for
    a top k, b − k + 1 stands for b. When and how far to cut may depend on all that was seen. If a
    cut with 2^l ≤ b < 2^(l+1) drops the best, 2^l arms are ahead of it at some t ≥ `floor`/2^l:
    there is one term for each of the ⌈log₂ n⌉ levels l.

    >>> from paceline.core.noise import BERNOULLI
    >>> means = [0.6] + [0.4] * 99
    >>> [round(floor_bound(means, BERNOULLI, floor=x), 6) for x in (1600, 3200, 6400)]
    [0.243348, 0.020436, 0.000226]
    """
    field = Field.of(means, noise, top, sigma, paired)
    floor, least = non_negative(floor, "floor"), whole(least_pulls, "least_pulls", least=0)
    counts = [2**level for level in range(field.others.size.bit_length())]  # ⌈log₂ n⌉ if k = 1
    above = [b for b in counts if math.ceil(floor / b) > least]
    lost = [field.loss(math.ceil(floor / b), b) for b in above]
    if len(above) < len(counts):  # one term for the rest: if 32 arms are ahead, so are 16
        lost.append(field.loss(least, counts[len(above)]))
    return field.any_of(lost)


def rate_hardness(rates: Any) -> float:
    """H = max over i ≥ 2 of i/r_i; it is 2H₂ if r = Δ²/2, the paper's Hoeffding step.

    >>> rate_hardness([0.5, 1.0, 2.0])
    4.0
    """
    falls = np.asarray(rates, dtype=np.float64)
    with np.errstate(divide="ignore"):  # a tie has the rate 0 and makes it infinite
        return float((np.arange(2, falls.size + 2) / falls).max())


def closed_bound(exponent: float, cuts: int, hardness: float, *, top: int = 1) -> float:
    """e · cuts · exp(−exponent/H): a simpler, looser bound for a plan.

    For a fixed chain the exponent is the least t·b of its cuts; for a floor it is the floor,
    and the cuts are its ⌈log₂ n⌉ levels. For a top k, b − k + 1 stands for b, with a factor k.

    >>> round(closed_bound(100.0, 3, 10.0), 6)
    0.00037
    """
    decay = math.inf if hardness == 0 else non_negative(exponent, "exponent") / hardness
    return min(1.0, math.e * whole(cuts, "cuts") * whole(top, "top") * math.exp(-decay))
