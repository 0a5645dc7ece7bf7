"""The effect of the core count on the time of a pull, apart from the effect of the arm."""

import math
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats, Ints

# Two runs of the same pull are assumed to differ by at least 2 %, because of clocks and caches.
_LEAST_NOISE = 0.02

# Arms follow one shape only roughly. Past some dozens of pulls, the mean of a cell (an arm on one
# core count) is known better than that, and more pulls must not make it dominate.
_ENOUGH_PULLS = 32

# A pull that lies more standard deviations out than this is a straggler and counts for less.
_STRAGGLER_DEVIATIONS = 2.0
_PASSES = 4

# noise² / spread of the arms², from arms that are all alike to arms that differ vastly.
_NOISE_TO_SPREAD = [10.0**power for power in range(4, -7, -1)]


def by_core_count(pulls: Ints, log_sums: Floats) -> tuple[Floats, Floats]:
    """Log-seconds per core count with the arms' costs taken out, and their precision matrix.

    Both arguments have a row per core count and a column per arm. The model is

        log seconds = effect of the core count + effect of the arm + noise,

    with normal arm effects whose spread is estimated too. If arms are alike, all pulls count
    fully, even in a first round where each arm ran on only one core count. If arms differ, what
    counts is how the same arm does on several core counts. A shape fitted to the first result
    with the weights of the second is the shape fitted to all cells (generalised least squares).
    """
    some = pulls > 0
    centre = log_sums.sum() / pulls.sum()  # taken off to keep the squares small
    logs = np.where(some, log_sums / np.maximum(pulls, 1) - centre, 0.0)
    weights = pulls / (1 + pulls / _ENOUGH_PULLS)
    cell_trust, arm_trust = np.ones_like(weights), np.ones(pulls.shape[1])
    effects, precision, ratio = _mixed_effects(weights, logs, arm_trust, _NOISE_TO_SPREAD)
    for _ in range(_PASSES):
        trusted = weights * cell_trust
        arm_weights = trusted.sum(axis=0)
        prior = ratio * arm_trust
        total = arm_weights + prior
        residuals = logs - effects[:, None]
        arm_effects = (trusted * residuals).sum(axis=0) / total
        errors = (residuals - arm_effects)[some]
        # Both are divided by their standard deviations, up to that of the noise.
        arm_deviations = arm_effects / np.sqrt(arm_weights / (prior * total))
        error_variances = 1 / trusted[some] - np.broadcast_to(1 / total, some.shape)[some]
        # From a stray arm, only the comparison of its own pulls on several core counts remains.
        arm_trust = _trust(arm_deviations)
        cell_trust[some] = _trust(errors / np.sqrt(np.maximum(error_variances, 1e-12)))
        near = [other for other in _NOISE_TO_SPREAD if 0.05 < other / ratio < 20]
        effects, precision, ratio = _mixed_effects(weights * cell_trust, logs, arm_trust, near)
    return effects, precision


def _trust(deviations: Floats) -> Floats:
    """Weights that fall with the square of a far-out deviation; the median sets what is far.

    Huber's weights, which fall more slowly, let stragglers bend the shape three times as much.
    """
    sizes = np.abs(deviations)
    scale = max(1.4826 * float(np.median(sizes)), _LEAST_NOISE)  # of a normal distribution
    limit = _STRAGGLER_DEVIATIONS * scale
    trust: Floats = np.maximum((limit / np.maximum(sizes, limit)) ** 2, 1e-3)  # never nothing
    return trust


def _mixed_effects(
    weights: Floats, logs: Floats, arm_trust: Floats, ratios: Sequence[float]
) -> tuple[Floats, Floats, float]:
    """Effects of the core counts, their precision, and noise² / spread of the arms².

    The last is the one of `ratios` with the greatest restricted likelihood. A factor of 3 in it
    hardly changes the effects, and a grid cannot get lost.
    """
    arm_weights = weights.sum(axis=0)
    weighted = weights * logs
    arm_sums, count_sums = weighted.sum(axis=0), weighted.sum(axis=1)
    squares = float((weighted * logs).sum())
    others = arm_weights - weights
    freedom = np.count_nonzero(weights) - weights.shape[0] + 1
    fits = []
    for ratio in ratios:
        prior = ratio * arm_trust
        total = arm_weights + prior
        shares = weights / total
        # Not `@`: on a pool whose cores are all busy, BLAS threads wait for each other, and 10,000
        # arms on 16 core counts took 300 ms instead of 1.
        precision = -np.einsum("ca,da->cd", weights, shares)
        # Not by subtraction: it would leave nothing of an arm that ran on only one core count.
        np.fill_diagonal(precision, (shares * (others + prior)).sum(axis=1))
        sums = count_sums - (shares * arm_sums).sum(axis=1)
        effects = np.linalg.solve(precision, sums)
        misfit = max(squares - float((arm_sums**2 / total).sum()) - float(effects @ sums), 0.0)
        variance = (misfit + _LEAST_NOISE**2) / freedom
        deviance = freedom * math.log(variance) + float(np.log(total / prior).sum())
        deviance += float(np.linalg.slogdet(precision)[1])
        fits.append((deviance, effects, precision / variance, ratio))
    # If the data cannot tell (each arm ran on only one core count), take the first: arms are alike.
    _, effects, precision, ratio = min(fits, key=lambda fit: round(fit[0], 6))
    return effects, precision, ratio
