"""How long a pull takes on more and more cores: as measured, and as fitted."""

from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.plots.drawing import (
    COLOURS,
    GREY,
    Axes,
    foreground,
    nothing_yet,
    plain,
    seconds_tick,
    tidy,
)
from paceline.story.story import Story

_MOST_DOTS = 400  # per number of cores
_LEAST = 1e-9  # seconds; a logarithmic axis has no zero


def draw(ax: Axes, story: Story) -> Axes:
    """Of a race: all pulls that gave a value, and λ by which cores were given out."""
    fitted = np.array([]) if story.scaling is None else story.scaling.runtime_seconds
    return draw_times(ax, story.values.cores, story.values.seconds, fitted)


def draw_times(ax: Axes, cores: Ints, seconds: Floats, fitted: Floats) -> Axes:
    """Pulls as dots, their means with what 80 % of them took, the fitted curve, a perfect one.

    `fitted` has the seconds of a pull on 1, 2, … cores.
    """
    counts, seconds = np.unique(cores), np.maximum(seconds, _LEAST)
    if not counts.size and not fitted.size:
        return nothing_yet(ax, "no pull has finished")
    groups = [seconds[cores == one] for one in counts]
    for one, times in zip(counts, groups, strict=True):
        _draw_dots(ax, int(one), times)
    if counts.size:
        means = np.array([times.mean() for times in groups])
        ends = np.array([np.quantile(times, (0.1, 0.9)) for times in groups]).T
        spread = np.maximum(np.stack([means - ends[0], ends[1] - means]), 0.0)
        ax.errorbar(
            counts,
            means,
            yerr=spread,
            fmt="o",
            color=foreground(),
            capsize=3,
            zorder=4,
            label=plain("mean, and 80 % of pulls"),
        )
    if fitted.size:
        _draw_fit(ax, fitted, counts)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    _set_ticks(ax, counts)
    if counts.size == 1 and not fitted.size:
        ax.set_xlim(counts[0] / 2, counts[0] * 2)
    ax.set(xlabel="cores of a pull", ylabel="time of a pull")
    tidy(ax)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _draw_dots(ax: Axes, cores: int, seconds: Floats) -> None:
    if seconds.size > _MOST_DOTS:  # evenly from the least to the most
        seconds = np.sort(seconds)[np.linspace(0, seconds.size - 1, _MOST_DOTS).astype(int)]
    aside = 2 ** (0.12 * np.sin(7.0 * np.arange(seconds.size)))  # the same in every picture
    style = {"color": GREY, "markersize": 2.5, "alpha": 0.35, "markeredgewidth": 0}
    ax.plot(cores * aside, seconds, "o", zorder=1, **style)


def _draw_fit(ax: Axes, table: Floats, counts: Ints) -> None:
    most = min(table.size, max(4 * int(counts.max(initial=1)), 2))
    known = np.flatnonzero(np.isfinite(table[:most])) + 1
    fitted = table[known - 1]
    ax.plot(known, fitted, color=COLOURS[0], linewidth=2, zorder=3, label="fitted")
    perfect = fitted[0] * known[0] / known
    style = {"color": GREY, "linestyle": ":", "linewidth": 1.2}
    ax.plot(known, perfect, zorder=2, label="perfect scaling", **style)


def _set_ticks(ax: Axes, counts: Ints) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    lines = [line.get_xdata() for line in ax.get_lines() if np.size(line.get_xdata())]
    most = max(float(np.max(one)) for one in lines)
    ticks = [2**k for k in range(20) if 2**k <= most * 1.05]
    if counts.size <= 6:
        ticks = sorted({*ticks, *counts.tolist()})
    ax.set_xticks(ticks, [f"{one}" for one in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    low, high = ax.get_ylim()
    ax.yaxis.set_major_formatter(FuncFormatter(seconds_tick))
    if high / low > 30:
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_minor_formatter(FuncFormatter(_some_ticks))


def _some_ticks(value: float, _place: Any) -> str:
    """Between powers of ten, only 2 and 5 are written."""
    digit = round(value / 10 ** np.floor(np.log10(value)))
    return seconds_tick(value) if digit in (2, 5) else ""
