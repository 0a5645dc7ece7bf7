"""Draws how a pull scales with its cores: the measurements and the fitted model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paceline.core.fitting import Runtime
from paceline.core.statistics import standard_error
from paceline.paper.report import Figure, new_figure

_POWER_LAWS = {1.0: ("tab:green", "q = 1"), 0.5: ("tab:purple", "q = 0.5")}


def scaling_figure(
    measured: Mapping[int, Sequence[float]], runtime: Runtime, most: int, title: str
) -> Figure:
    """A figure with only this curve."""
    figure = new_figure(5.6, 4.2)
    axes = figure.subplots()
    draw_scaling(axes, measured, runtime, most)
    axes.set_title(title, fontsize=10)
    return figure


def draw_scaling(
    axes: Any, measured: Mapping[int, Sequence[float]], runtime: Runtime, most: int
) -> None:
    """Draw the mean seconds of a pull by its cores, with standard errors and the model beyond them.

    The power laws go through the point measured on the fewest cores.
    """
    counts = sorted(measured)
    means = [float(np.mean(measured[cores])) for cores in counts]
    errors = [standard_error(np.asarray(measured[cores])) for cores in counts]
    first, last = counts[0], counts[-1]
    most = max(most, last)
    grid = np.geomspace(first, most, 100)
    for q, (color, label) in _POWER_LAWS.items():
        seconds = means[0] * (grid / first) ** -q
        axes.plot(grid, seconds, color=color, linestyle=":", linewidth=1.3, label=label)
    known, beyond = grid[grid <= last], grid[grid >= last]
    formula = f"fitted: {runtime.describe()}"
    style = {"color": "tab:blue", "linewidth": 1.8}
    axes.plot(known, [runtime(cores) for cores in known], **style, label=formula)
    if most > last:
        modelled = [runtime(cores) for cores in np.r_[last, beyond]]
        label = f"the same, beyond the {last} cores measured"
        axes.plot(np.r_[last, beyond], modelled, **style, linestyle="--", alpha=0.6, label=label)
        axes.axvspan(last, most, color="0.95", zorder=0)
    runs = min(len(measured[cores]) for cores in counts)
    axes.errorbar(
        counts,
        means,
        yerr=[0.0 if math.isnan(error) else error for error in errors],
        fmt="o",
        color="black",
        capsize=3,
        zorder=3,
        label=f"measured, mean of {runs} runs",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({*counts, *(cores for cores in (1, 2, 4, 8, 16, 40) if first <= cores <= most)})
    axes.set_xticks(ticks, [str(cores) for cores in ticks])
    axes.minorticks_off()
    axes.set(xlabel="cores of a pull", ylabel="seconds of a pull")
    axes.legend(fontsize=8, frameon=False)
