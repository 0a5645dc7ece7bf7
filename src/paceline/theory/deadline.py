"""Bounds for a fixed deadline: the stages of SSH, x(k), k*, H₂ and Theorem 3."""

import math
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from paceline.core.arrays import positive, whole
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput, unknown_name
from paceline.theory.confidence import checked_gaps

Rule = Literal["unfloored", "bottleneck", "literal"]
RULES: tuple[Rule, ...] = ("unfloored", "bottleneck", "literal")


def stage_count(n: int, k: int) -> int:
    """⌈log_{2^k} n⌉, in whole numbers: how many stages there are if every k halvings become one.

    >>> [stage_count(1024, k) for k in (1, 2, 3, 10)]
    [10, 5, 4, 1]
    """
    halvings = (whole(n, "n", least=2) - 1).bit_length()
    return -(-halvings // whole(k, "the number of stages to combine"))


def stage_unit(n: int, k: int, deadline: float, scaling: Scaling) -> float:
    """x(k) of equation 9, without its floor: the pulls that a stage can spend, normalised.

    >>> from paceline import PowerLaw
    >>> stage_unit(4, 1, 4.0, PowerLaw(0.25)), stage_unit(4, 2, 4.0, PowerLaw(0.25))
    (4.0, 21.333333333333332)
    """
    stages = stage_count(n, k)
    pulls = scaling.pulls(positive(deadline, "deadline") / stages)
    return pulls / (2.0 ** (k * stages) * (2.0**k - 1))


def bottleneck(n: int, k: int, deadline: float, scaling: Scaling) -> int:
    """The least, over the stages, of pulls per arm times the arms that are kept.

    The bound on the error of a chain of cuts depends on it. If `n` is not a power of 2^k, x(k)
    misjudges it.

    >>> from paceline import PowerLaw
    >>> bottleneck(4, 1, 4.0, PowerLaw(0.25)), bottleneck(4, 2, 4.0, PowerLaw(0.25))
    (8, 64)
    """
    stages = stage_count(n, k)
    pulls = scaling.whole_pulls(positive(deadline, "deadline") / stages)
    sizes = [n]
    for _ in range(stages):
        sizes.append(-(-sizes[-1] // 2**k))
    return min((pulls // size) * kept for size, kept in pairwise(sizes))


def stages_to_combine(
    n: int,
    deadline: float,
    scaling: Scaling,
    *,
    rule: Rule = "unfloored",
    blind: bool = False,
) -> int:
    """k*: how many halvings to do at once. It grows as the scaling gets worse.

    `rule="unfloored"` compares x(k) without the floor of equation 9. `"bottleneck"` compares what
    `bottleneck` returns, which is better if `n` is not a power of 2. `"literal"` is the equation as
    printed, which gives k = 1 if every x(k) is below 1. Unless `blind` is set, the first two skip
    any k whose stages are too short to pull every arm, if another k is possible.

    >>> from paceline import PowerLaw
    >>> [stages_to_combine(1024, t, PowerLaw(q)) for q, t in [(0.1, 4), (0.25, 40), (0.5, 500)]]
    [10, 5, 2]
    """
    if rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    candidates = range(1, stage_count(n, 1) + 1)
    if rule == "literal":
        return max(candidates, key=lambda k: np.floor(stage_unit(n, k, deadline, scaling)))
    able = [k for k in candidates if bottleneck(n, k, deadline, scaling) > 0]
    score = bottleneck if able and rule == "bottleneck" else stage_unit
    compared = candidates if blind or not able else able
    return max(compared, key=lambda k: score(n, k, deadline, scaling))


def hardness(gaps: Any) -> float:
    """H₂ = max over i ≥ 2 of i·Δ_i⁻².

    >>> round(hardness([0.1, 0.1, 0.5]), 6)
    300.0
    """
    deltas = checked_gaps(gaps)
    return float((np.arange(2, deltas.size + 2) * deltas**-2.0).max())


def success_bound(
    gaps: Any,
    deadline: float,
    scaling: Scaling,
    *,
    k: int | None = None,
    sigma: float | None = None,
) -> float:
    """Theorem 3: SSH finds the best arm with at least this probability; 0 if it says nothing.

    It is 1 − 3⌈log₂ n⌉ exp(−n x(k) / 8H₂), with x(k) floored, as its proof needs. The paper's
    Hoeffding step is the one for σ² = ½; `sigma` puts in another. Rewards in [0, 1] have σ = ½,
    which doubles the exponent; the 1-sub-Gaussian rewards of the paper's model halve it.

    >>> from paceline import PowerLaw
    >>> round(success_bound([0.4, 0.5, 0.6], 4.0, PowerLaw(0.25)), 3)
    0.0
    >>> round(success_bound([0.4, 0.5, 0.6], 6.0, PowerLaw(0.25)), 3)
    0.92
    """
    deltas = checked_gaps(gaps)
    arms = deltas.size + 1
    if k is None:
        k = stages_to_combine(arms, deadline, scaling)
    elif whole(k, "k") > stage_count(arms, 1):
        raise InvalidInput(
            f"{arms} arms need {stage_count(arms, 1)} halvings: {k} of them cannot be combined"
        )
    units = np.floor(stage_unit(arms, k, deadline, scaling) * (1 + 1e-12))
    per_sigma = 1.0 if sigma is None else 1 / (2 * positive(sigma, "sigma") ** 2)
    exponent = per_sigma * arms * units / (8 * hardness(deltas))
    return max(0.0, 1 - 3 * stage_count(arms, 1) * math.exp(-exponent))
