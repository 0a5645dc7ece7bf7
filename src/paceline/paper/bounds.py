"""The theory beside simulated times: worked examples, T*, both bounds, the oracle's schedule."""

from typing import Any, NamedTuple

from paceline import theory
from paceline.core.scaling import PowerLaw, Scaling
from paceline.display.table import Table
from paceline.paper.instances import SCALING_EXPONENTS, linear_means
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.parallel import spread
from paceline.policies.apr import APR
from paceline.simulation import simulate

GAPS = (0.01, 0.03, 0.1, 0.3, 0.5)
CONFIDENCE = 0.9
DEFAULT_RUNS = 100
LEAST_WORK = 0.1  # α₁: without some least work per pull, the lower bound is 0


class Example(NamedTuple):
    """A number from the paper, and ours."""

    text: str
    paper: float
    value: float


class Cell(NamedTuple):
    """Bounds and simulated times on one instance of figure 3."""

    q: float
    gap: float
    optimum: float
    lower: float
    lower_without_constant: float
    apr: float
    apr_error: float
    upper_program: float
    upper_optimum: float
    sequential: float


def worked_examples() -> list[Example]:
    """The examples of the paper's sections 3 and 4."""
    root, fourth = PowerLaw(0.5), PowerLaw(0.25)
    first_then_rest = root.seconds(3.0 * 100) + root.seconds(2.0 * 200)
    halving, single = fourth.whole_pulls(4.0 / 2), fourth.whole_pulls(4.0)
    return [
        Example("2 arms, 32 pulls each, one after the other", 64, 64 * root.seconds(1.0)),
        Example("the same at once", 8, theory.oracle_seconds([32], root)),
        Example("512 pulls each at once", 32, root.seconds(1024.0)),
        Example(
            "3 arms, z = 300 and 5: the worst first", 28.16, theory.oracle_seconds([300, 5], root)
        ),
        Example("3 arms, z = 300 and 100: the worst first", 37.32, first_then_rest),
        Example("the same, all at once", 30, theory.oracle_seconds([300, 100], root)),
        Example("4 arms, T = 4, two stages: pulls a stage", 16, halving),
        Example("the same: pulls per arm in the first", 4, halving // 4),
        Example("the same: pulls per arm in the second", 8, halving // 2),
        Example("4 arms, T = 4, one stage: pulls", 256, single),
        Example("the same: pulls per arm", 64, single // 4),
    ]


def scaling_with_least_work(q: float) -> Scaling:
    """λ(m) = α₁ m + (1 − α₁) m^q: the form that the lower bound needs."""
    return LEAST_WORK * PowerLaw(1.0) + (1 - LEAST_WORK) * PowerLaw(q)


def reproduce(setup: Setup) -> Report:
    """Compare APR's simulated time with the theory, on the instances of figure 3."""
    runs = setup.runs or DEFAULT_RUNS
    examples = worked_examples()
    jobs = [(q, gap, runs, setup.seed) for q in SCALING_EXPONENTS for gap in GAPS]
    cells = list(setup.track(spread(_cell, jobs, setup.processes), len(jobs), "races"))
    return Report(
        name="theory",
        title="Theory: T* and the bounds beside simulated times",
        data=Table(Cell._fields, cells),
        summary=Table(
            ("q", "gap", "lower", "T*", "APR", "± s.e.", "upper", "upper/APR"),
            [
                (
                    c.q,
                    c.gap,
                    c.lower,
                    c.optimum,
                    c.apr,
                    c.apr_error,
                    c.upper_program,
                    c.upper_program / c.apr,
                )
                for c in cells
            ],
            keys=2,
        ),
        draw=lambda: _draw(cells),
        notes=[
            *(f"{e.text}: {e.value:.4g} (paper: {e.paper:g})" for e in examples),
            (
                f"λ(m) = {LEAST_WORK:g} m + {1 - LEAST_WORK:g} m^q, APR with its honest bound "
                f"(deviation 1), {runs} runs; the lower bound is for unit-variance normal rewards, "
                "scaled to σ = ½"
            ),
        ],
    )


def _cell(job: tuple[float, float, int, int]) -> Cell:
    q, gap, runs, seed = job
    scaling, means = scaling_with_least_work(q), linear_means(gap)
    gaps = theory.gaps_of(means)
    result = simulate(
        means, APR(), scaling, confidence=CONFIDENCE, seed=seed, replications=runs, processes=1
    )
    return Cell(
        q,
        gap,
        theory.optimal_seconds(gaps, scaling),
        theory.lower_bound(gaps, scaling, CONFIDENCE, sigma=0.5),
        theory.lower_bound(gaps, scaling, CONFIDENCE, sigma=0.5, with_constant=False),
        result.mean_seconds,
        result.standard_error,
        theory.upper_bound(gaps, scaling, CONFIDENCE),
        theory.upper_bound(gaps, scaling, CONFIDENCE, form="optimum"),
        theory.sequential_seconds(gaps, scaling, CONFIDENCE),
    )


def _draw(cells: list[Cell]) -> Figure:
    figure = new_figure(13.0, 6.6)
    panels = figure.subplots(2, len(SCALING_EXPONENTS))
    lines = (
        ("upper_optimum", "Theorem 1, second form", "--", "tab:orange"),
        ("upper_program", "Theorem 1, first form", "-", "tab:orange"),
        ("sequential", "sequential, Example 1", "-.", "tab:gray"),
        ("apr", "APR, simulated", "-", "red"),
        ("optimum", "T*", "-", "black"),
        ("lower_without_constant", "lower bound without c_λ", "--", "tab:blue"),
        ("lower", "lower bound", "-", "tab:blue"),
    )
    for axes, q in zip(panels[0], SCALING_EXPONENTS, strict=True):
        line = [c for c in cells if c.q == q]
        for name, label, style, colour in lines:
            axes.plot(
                [c.gap**-2 for c in line],
                [getattr(c, name) for c in line],
                label=label,
                linestyle=style,
                color=colour,
                marker="o" if name == "apr" else None,
                markersize=3.5,
            )
        axes.set(xscale="log", yscale="log", title=f"q = {q:g}", xlabel="1 / Δ₂²")
    for axes, q in zip(panels[1], SCALING_EXPONENTS, strict=True):
        _draw_schedule(axes, scaling_with_least_work(q))
    panels[0, 0].set_ylabel("seconds")
    panels[1, 0].set_ylabel("arms still in")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    title = "above: bounds and simulated times; below: the schedule of the dynamic program"
    figure.suptitle(
        f"λ(m) = {LEAST_WORK:g} m + {1 - LEAST_WORK:g} m^q, 16 arms: {title}", fontsize=11
    )
    return figure


def _draw_schedule(axes: Any, scaling: Scaling) -> None:
    """Arms alive over time for the planner who knows the gaps, for three instances."""
    for gap, colour in zip((0.03, 0.1, 0.3), ("tab:purple", "tab:green", "tab:brown"), strict=True):
        stages = theory.oracle_schedule(theory.gaps_of(linear_means(gap)) ** -2.0, scaling)
        now, times, alive = 0.0, [], []
        for stage in stages:
            times += [now, now + stage.seconds]
            alive += [stage.survivors, stage.survivors]
            now += stage.seconds
        times.append(now)
        alive.append(1)
        total = theory.schedule_seconds(stages)
        share = [t / total for t in times]
        label = f"Δ₂ = {gap:g}: {len(stages)} stages, {total:.0f} s"
        axes.plot(share, alive, color=colour, label=label)
    axes.set(xlabel="share of the oracle's time", ylim=(0, 22), yticks=(1, 4, 8, 12, 16))
    axes.legend(fontsize=7, frameon=False, loc="upper right")
