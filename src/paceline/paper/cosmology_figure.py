"""The figure of the cosmology experiment: scaling, success by a deadline, time to a confidence."""

from collections.abc import Iterable, Sequence
from typing import Any

from paceline.paper.cosmology_lab import Cell
from paceline.paper.report import Figure, new_figure
from paceline.paper.scaling_curve import draw_scaling
from paceline.races.profiling import Profile

_STYLES: dict[str, dict[str, Any]] = {
    "SSH": {"color": "red", "marker": "o", "markersize": 6, "linewidth": 2.8},
    "SH": {"color": "green", "marker": "s", "markersize": 3, "linewidth": 1.3},
    "staged": {"color": "tab:blue", "marker": "^", "markersize": 5, "linewidth": 1.6},
    "APR": {"color": "red", "marker": "o", "markersize": 4},
    "APR, 0.2 of its width": {"color": "tab:orange", "marker": "v", "markersize": 4},
    "racing": {"color": "tab:blue", "marker": "^", "markersize": 5},
    "racing, paired": {"color": "tab:cyan", "marker": "D", "markersize": 4},
}
_ASIDE = {"SSH": 1 / 1.06, "SH": 1.0, "staged": 1.06}  # so that no mark hides another
_TICKS = (1, 2, 4, 8, 16, 40)


def draw(cells: Sequence[Cell], profile: Profile, deadline: float, source: str) -> Figure:
    """Draw three panels; races on real cores have large hollow marks."""
    figure = new_figure(14.5, 4.6)
    left, right, third = figure.subplots(1, 3)
    draw_scaling(left, profile.measured, profile.runtime, max(_TICKS))
    left.set_title("A pull on more and more cores", fontsize=10)
    _draw_success(right, [cell for cell in cells if cell.goal == "deadline"])
    right.set_title(f"Best of 64 found within {deadline:g} s", fontsize=10)
    _draw_times(third, [cell for cell in cells if cell.goal == "confidence"])
    third.set_title("Time to 95 % confidence", fontsize=10)
    for axes in (right, third):
        axes.set_xscale("log")
        axes.set_xticks(_TICKS, [str(cores) for cores in _TICKS])
        axes.minorticks_off()
        axes.set_xlabel("cores of the pool")
        axes.legend(fontsize=8, frameon=False)
    figure.suptitle(f"Cosmological parameters by racing. Supernovae: {source}", fontsize=11)
    return figure


def _draw_success(axes: Any, cells: Sequence[Cell]) -> None:
    for name in ("SSH", "SH", "staged"):  # SSH is broad and first: where k* = 1 it equals SH
        line = _of(cells, name, "virtual")
        axes.errorbar(
            [c.pool for c in line],
            [c.success for c in line],
            yerr=[c.success_error for c in line],
            capsize=2,
            label=name,
            **_STYLES[name],
        )
        for cell in _of(cells, name, "real"):
            _mark_real(axes, cell.pool * _ASIDE[name], cell.success, cell.success_error, name)
    axes.set(ylabel="share of races", ylim=(-0.03, 1.03))


def _draw_times(axes: Any, cells: Sequence[Cell]) -> None:
    for name in dict.fromkeys(cell.policy for cell in cells):
        line = _of(cells, name, "virtual")
        times = [c.seconds for c in line]
        axes.plot([c.pool for c in line], times, label=name, linewidth=1.3, **_STYLES[name])
        for cell in _of(cells, name, "real"):
            _mark_real(axes, cell.pool, cell.seconds, cell.seconds_error, name)
    axes.set_yscale("log")
    axes.set_ylabel("seconds, mean")


def _mark_real(axes: Any, x: float, y: float, error: float, name: str) -> None:
    style = _STYLES[name]
    axes.errorbar(
        [x],
        [y],
        yerr=[0.0 if error != error else error],
        fmt=style["marker"],
        color=style["color"],
        markersize=11,
        markerfacecolor="none",
        markeredgewidth=1.5,
        capsize=4,
        label=f"{name}, for real",
    )


def _of(cells: Iterable[Cell], name: str, where: str) -> list[Cell]:
    return [cell for cell in cells if (cell.policy, cell.where) == (name, where)]
