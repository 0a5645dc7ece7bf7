"""The models of a runtime, each fitted to log-seconds per core count."""

import math

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.fitting.runtime import LEAST_SECONDS, PARAMETERS, Runtime


def fit_model(model: str, cores: Floats, logs: Floats, precision: Floats) -> Runtime:
    """The least-squares fit to `logs` under `precision`."""
    if model == "power law":
        exponent = _exponent(cores, logs, precision)
        if exponent == 0:
            return fit_model("constant", cores, logs, precision)
        level = _weighted_mean(logs + exponent * np.log(cores), precision)
        return Runtime("power law", parallel=math.exp(level), exponent=exponent)
    if model == "constant":
        return Runtime("constant", fixed=math.exp(_weighted_mean(logs, precision)))
    terms = np.stack([np.ones_like(cores), 1 / cores, np.log(cores), cores], axis=1)
    fixed, parallel, *rising = _non_negative_weights(terms[:, : PARAMETERS[model]], logs, precision)
    if model == "Amdahl":
        return Runtime("Amdahl" if parallel else "constant", fixed=fixed, parallel=parallel)
    log, linear = rising
    if fixed + parallel + linear == 0:
        fixed = LEAST_SECONDS  # else a pull on one core, where ln c = 0, would take no time
    return Runtime("Ernest", fixed=fixed, parallel=parallel, log=log, linear=linear)


def _weighted_mean(values: Floats, precision: Floats) -> float:
    weights = precision.sum(axis=0)
    return float(weights @ values / weights.sum())


def _exponent(cores: Floats, logs: Floats, precision: Floats) -> float:
    """The slope of −logs over ln c, kept within [0, 1]."""
    speed = np.log(cores)
    centred = speed - _weighted_mean(speed, precision)
    slope = float(centred @ precision @ logs / (centred @ precision @ centred))
    return min(max(-slope, 0.0), 1.0)


def _non_negative_weights(terms: Floats, logs: Floats, precision: Floats) -> list[float]:
    """Weights ≥ 0 of `terms` whose sum's logarithm is nearest to `logs` (Gauss–Newton)."""
    from scipy.optimize import nnls  # here, because it doubles the time to import paceline

    ridge = 1e-9 * np.diag(np.diag(precision))  # rounding must not make it indefinite
    root = np.linalg.cholesky(precision + ridge).T
    weights = np.zeros(terms.shape[1])
    weights[0] = math.exp(_weighted_mean(logs, precision))  # a constant is always a fit
    least_misfit = float(np.sum((root @ (logs - math.log(weights[0]))) ** 2))
    # The first step is least squares in relative error, which is biased low on noisy data.
    near = np.exp(logs)
    for _ in range(4):
        linearised = root @ (terms / near[:, None])
        step, _ = nnls(linearised, root @ (logs - np.log(near) + 1), maxiter=100)
        near = terms @ step
        if near.min() <= 0:
            break
        misfit = float(np.sum((root @ (logs - np.log(near))) ** 2))
        if misfit >= least_misfit:
            break
        weights, least_misfit = step, misfit
    return [float(weight) for weight in weights]
