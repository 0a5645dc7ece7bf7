"""Choosing among the models: by how well they predict core counts that were held out."""

import math
from dataclasses import replace

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.fitting.models import fit_model
from paceline.core.fitting.runtime import PARAMETERS, Runtime

# A near tie: errors on held-out core counts within 10 %, or within a third of a per cent.
_TIE_FACTOR, _TIE_SLACK = 1.1, 0.003

# A core count known perfectly still says no more of its neighbours than a model is true.
_MODEL_ERROR = 0.05


def best_shape(cores: Floats, logs: Floats, precision: Floats) -> Runtime:
    """The model that predicts held-out core counts best, fitted to all; its level is arbitrary."""
    if cores.size == 1:
        return fit_model("constant", cores, logs, precision)
    if cores.size == 2:
        # Nothing is left to hold out. Both two-parameter models meet both points; the power law
        # is the straight line on logarithmic axes. Beyond the points it promises more than
        # Amdahl's law, which is the safer side: a promise that fails is measured as soon as it
        # is believed, a speed-up that is not expected is never tried.
        return fit_model("power law", cores, logs, precision)
    models = [model for model, parameters in PARAMETERS.items() if parameters < cores.size]
    errors = {model: _held_out_error(model, cores, logs, precision) for model in models}
    near_tie = min(errors.values()) * _TIE_FACTOR + _TIE_SLACK
    chosen = next(model for model in models if errors[model] <= near_tie)
    return replace(fit_model(chosen, cores, logs, precision), error=errors[chosen])


def _held_out_error(model: str, cores: Floats, logs: Floats, precision: Floats) -> float:
    """The mean relative error at each core count of the fit to the others.

    Core counts weigh by how well they are known: much alike, unless few pulls ran on one.
    """
    misses = np.empty(cores.size)
    for held_out in range(cores.size):
        rest = np.arange(cores.size) != held_out
        across = precision[rest, held_out]
        # The precision of the others whatever the one held out may be (Schur's complement).
        known = precision[np.ix_(rest, rest)]
        known = known - np.outer(across, across) / precision[held_out, held_out]
        fitted = fit_model(model, cores[rest], logs[rest], known)
        misses[held_out] = math.log(fitted.on_all(cores[held_out])) - logs[held_out]
    weights = 1 / (_MODEL_ERROR**2 + 1 / np.diag(precision))
    return math.expm1(float(np.average(np.abs(misses), weights=weights)))
