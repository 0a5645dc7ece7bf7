"""Bounds for a fixed confidence: T*, Theorem 1 in both forms, the lower bound, Example 1."""

import math
from typing import Any, Literal

import numpy as np

from paceline.core.arrays import Floats, failure_probability, finite_floats, positive
from paceline.core.evidence.lil import omega
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput
from paceline.theory.program import oracle_seconds


def gaps_of(means: Any) -> Floats:
    """Δ₂ … Δₙ: how far every other arm is below the best, smallest first.

    >>> gaps_of([0.2, 0.9, 0.5]).round(6).tolist()
    [0.4, 0.7]
    """
    falling = -np.sort(-finite_floats(means, "means"))
    if falling.size < 2:
        raise InvalidInput(f"gaps need at least two arms, got {falling.size}")
    return checked_gaps(falling[0] - falling[1:])


def checked_gaps(gaps: Any) -> Floats:
    """Return the gaps of arms 2…n, sorted; refuse a tied best arm."""
    array = np.sort(finite_floats(gaps, "gaps"))
    if array.size == 0:
        raise InvalidInput("there are no gaps: give one for every arm but the best")
    if array[0] <= 0:
        raise InvalidInput(
            f"every gap must be above 0, got {array[0]:g}: the best arm must be unique. "
            "Give the gaps of the other arms only, without the best arm's own"
        )
    return array


def optimal_seconds(gaps: Any, scaling: Scaling) -> float:
    """T* = 𝒯₂({Δ_i⁻²}): the scale of the time that any policy needs.

    >>> from paceline import PowerLaw
    >>> round(optimal_seconds([0.1, 0.5], PowerLaw(0.5)), 3)
    17.321
    """
    return oracle_seconds(checked_gaps(gaps) ** -2.0, scaling)


def pulls_needed(
    gaps: Any, confidence: float, *, sigma: float = 0.5, deviation: float = 1.0
) -> Floats:
    """N̄_i: the pulls after which the interval surely drops an arm with gap Δ_i.

    The paper's formula is for σ = ½ and the full deviation. A wider interval acts like a smaller
    gap.

    >>> pulls_needed([0.5], confidence=0.9).tolist()
    [1448.0]
    """
    deltas = checked_gaps(gaps)
    w = omega(failure_probability(confidence), deltas.size + 1)
    inverse = (deltas / (2 * positive(sigma, "sigma") * positive(deviation, "deviation"))) ** -2.0
    # If a gap is so wide that the inner logarithm falls below 1, it is outside the paper's model.
    inner = np.log2(np.maximum(192 * inverse / w, 2.0))
    return 1 + np.floor(64 * inverse * np.log(2 / w * inner))


def upper_bound(
    gaps: Any,
    scaling: Scaling,
    confidence: float,
    *,
    beta: float = 2.0,
    sigma: float = 0.5,
    deviation: float = 1.0,
    form: Literal["program", "optimum"] = "program",
) -> float:
    """Theorem 1: APR's time stays below this with probability `confidence`.

    `form="program"` is the tighter form, a factor times 𝒯₂({N̄_i}); `form="optimum"` is a factor
    times T*. The proof needs gaps of at most 1.

    >>> from paceline import PowerLaw
    >>> tight = upper_bound([0.1, 0.2, 0.4], PowerLaw(0.5), 0.9)
    >>> tight < upper_bound([0.1, 0.2, 0.4], PowerLaw(0.5), 0.9, form="optimum")
    True
    """
    deltas = checked_gaps(gaps)
    arms = deltas.size + 1
    if not 1 < positive(beta, "beta") <= arms:
        raise InvalidInput(f"Theorem 1 is for beta in (1, n] = (1, {arms}], got {beta!r}")
    growth = float(beta ** (3 + 4 * math.sqrt(math.log(arms, beta))) / (beta - 1))
    if form == "program":
        needed = pulls_needed(deltas, confidence, sigma=sigma, deviation=deviation)
        return 4 * growth * oracle_seconds(needed, scaling)
    if form == "optimum":
        w = omega(failure_probability(confidence), arms)
        scale = 2 * positive(sigma, "sigma") * positive(deviation, "deviation")
        effective: Floats = deltas / scale
        logs = math.log(2 / w * math.log2(max(192 / (effective[0] ** 2 * w), 2.0)))
        return 512 * growth * max(logs, 1 / 64) * oracle_seconds(effective**-2.0, scaling)
    raise InvalidInput(f"form must be 'program' or 'optimum', got {form!r}")


def lower_bound(
    gaps: Any,
    scaling: Scaling,
    confidence: float,
    *,
    sigma: float = 1.0,
    with_constant: bool = True,
) -> float:
    """Theorem 2: no policy's expected time can be less than this, for normal rewards.

    It is 2 c_λ log(1/(2.4δ)) T*, for δ ≤ 0.15. The constant c_λ = inf λ(m)/m / λ(1) makes it loose,
    and 0 for a power law. `with_constant=False` leaves the constant out: that shows the shape but
    is no longer a bound.

    >>> from paceline import Amdahl
    >>> round(lower_bound([0.1], Amdahl(0.1), 0.9), 3)
    462.643
    """
    delta = failure_probability(confidence)
    if delta > 0.15 * (1 + 1e-9):
        raise InvalidInput(
            f"the lower bound is for an error of at most 0.15, got {delta:g}: "
            "raise the confidence to 0.85 or more"
        )
    constant = scaling.least_seconds_per_pull / scaling.seconds(1.0) if with_constant else 1.0
    effective = checked_gaps(gaps) / positive(sigma, "sigma")
    return 2 * constant * math.log(1 / (2.4 * delta)) * optimal_seconds(effective, scaling)


def sequential_seconds(
    gaps: Any, scaling: Scaling, confidence: float, *, sigma: float = 0.5, deviation: float = 1.0
) -> float:
    """Example 1: λ(1)·(N̄₂ + Σ N̄_i), the time of a policy that pulls one arm after the other.

    >>> from paceline import PowerLaw
    >>> sequential_seconds([0.5], PowerLaw(0.5), 0.9)
    2896.0
    """
    needed = pulls_needed(gaps, confidence, sigma=sigma, deviation=deviation)
    return scaling.seconds(1.0) * float(needed[0] + needed.sum())
