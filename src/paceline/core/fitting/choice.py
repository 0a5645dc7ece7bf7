"""Choose among the models by how well they predict held-out core counts."""

import math
from dataclasses import replace

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.fitting.models import fit_model
from paceline.core.fitting.runtime import PARAMETERS, Runtime

# What counts as a near tie: held-out errors within 10 %, or within a third of a per cent.
_TIE_FACTOR, _TIE_SLACK = 1.1, 0.003

# No model is exact: even a core count known perfectly tells its neighbours' times only this well.
_MODEL_ERROR = 0.05

_MOST_HELD_OUT = 24  # core counts, evenly spread


def best_shape(cores: Floats, logs: Floats, precision: Floats) -> Runtime:
    """The model that predicts held-out core counts best, fitted to all; its level is arbitrary."""
    if cores.size == 1:
        return fit_model("constant", cores, logs, precision)
    if cores.size == 2:
        # Nothing is left to hold out. Both two-parameter models meet both points; the power law
        # is the straight line on logarithmic axes. Beyond the points it promises more than
        # Amdahl's law, which is the safer side: a false promise is found out as soon as it is
        # tried, but a speed-up that is not expected is never tried.
        return fit_model("power law", cores, logs, precision)
    models = [model for model, parameters in PARAMETERS.items() if parameters < cores.size]
    errors = {model: _held_out_error(model, cores, logs, precision) for model in models}
    near_tie = min(errors.values()) * _TIE_FACTOR + _TIE_SLACK
    chosen = next(model for model in models if errors[model] <= near_tie)
    return replace(fit_model(chosen, cores, logs, precision), error=errors[chosen])


def _held_out_error(model: str, cores: Floats, logs: Floats, precision: Floats) -> float:
    """The mean relative error when each core count is predicted by the fit to the others.

    Core counts are weighted by how well they are known: about equally, unless few pulls ran on one.
    """
    # A pool of thousands of cores has more than a hundred counts: every fit is for all of them.
    tried = np.unique(np.linspace(0, cores.size - 1, _MOST_HELD_OUT).round().astype(np.int64))
    misses = np.empty(tried.size)
    for place, held_out in enumerate(tried.tolist()):
        rest = np.arange(cores.size) != held_out
        across = precision[rest, held_out]
        # The precision of the others, whatever the held-out one is (Schur's complement).
        known = precision[np.ix_(rest, rest)]
        known = known - np.outer(across, across) / precision[held_out, held_out]
        fitted = fit_model(model, cores[rest], logs[rest], known)
        misses[place] = math.log(fitted.on_all(cores[held_out])) - logs[held_out]
    weights = 1 / (_MODEL_ERROR**2 + 1 / np.diag(precision)[tried])
    return math.expm1(float(np.average(np.abs(misses), weights=weights)))
