"""Figure 4: success by a deadline, SSH against sequential halving and UCB-E, 1024 arms."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paceline.core.problem import Bernoulli
from paceline.core.scaling import PowerLaw
from paceline.core.statistics import standard_error
from paceline.display.table import Table
from paceline.loop import run
from paceline.paper.grid_search import tune_scale
from paceline.paper.instances import uniform_means
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.parallel import spread
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.ucb_e import UCBE
from paceline.pools.virtual import VirtualRunner
from paceline.simulation import prepare_race
from paceline.theory import stages_to_combine

ARMS = 1024
PAPER_RUNS = 10
DEADLINES: dict[float, tuple[float, ...]] = {
    0.1: (3.0, 4.0, 5.0, 6.0, 8.0),
    0.25: (14.0, 20.0, 28.0, 40.0, 56.0, 80.0),
    0.5: (100.0, 200.0, 300.0, 500.0, 1000.0, 2000.0),
    0.9: (2e3, 5e3, 1e4, 2e4, 5e4, 1e5),
}
TUNING_DEADLINE = {0.1: 8.0, 0.25: 80.0, 0.5: 2000.0, 0.9: 1e4}
PAPER_SCALE = 1.0

# If a stage is too short for one pull of every arm, the paper's algorithms cut blindly. These do so
# too; otherwise they could not be drawn.
_SSH = SSH(too_short="blind")
_HALVING = SequentialHalving(too_short="blind")
_LABELS = {"ssh": "SSH", "sequential-halving": "SH", "ucb-e": "UCB-E"}
# SSH is drawn broad and first: where k* = 1 it equals sequential halving, and both must be visible.
_STYLES: dict[str, dict[str, Any]] = {
    "ssh": {"color": "red", "marker": "o", "markersize": 6, "linewidth": 2.8},
    "sequential-halving": {"color": "green", "marker": "s", "markersize": 3, "linewidth": 1.3},
    "ucb-e": {"color": "blue", "marker": "^", "markersize": 4, "linewidth": 1.3},
}


class Cell(NamedTuple):
    """One policy at one deadline, over all runs."""

    q: float
    deadline: float
    policy: str
    scale: float | None
    success: float
    success_error: float
    gap: float
    gap_error: float


class _Job(NamedTuple):
    q: float
    policy: Policy
    run: int
    seed: int


def reproduce(setup: Setup) -> Report:
    """Run every q, deadline and policy on the same drawn means, and the grid search for UCB-E."""
    runs = setup.runs or PAPER_RUNS
    scales = _tuned_scales(setup, runs)
    cells = measure(setup, runs, scales)
    summary = []
    for q, deadlines in DEADLINES.items():
        for deadline in deadlines:
            here = {(c.policy, c.scale): c for c in cells if (c.q, c.deadline) == (q, deadline)}
            ssh, halving = here["ssh", None], here["sequential-halving", None]
            ucb = here["ucb-e", scales[q]]
            k = stages_to_combine(ARMS, deadline, PowerLaw(q), blind=True)
            summary.append(
                (
                    q,
                    deadline,
                    k,
                    ssh.success,
                    halving.success,
                    ucb.success,
                    ssh.gap,
                    halving.gap,
                    ucb.gap,
                )
            )
    chosen = ", ".join(f"{scale:g} at q={q:g}" for q, scale in scales.items())
    return Report(
        name="deadline",
        title="Figure 4: the best of 1024 arms by a deadline",
        data=Table(Cell._fields, cells),
        summary=Table(
            ("q", "T", "k*", "SSH", "SH", "UCB-E", "gap SSH", "gap SH", "gap UCB-E"),
            summary,
            keys=2,
        ),
        draw=lambda: _draw(cells, scales),
        notes=[
            f"1024 Bernoulli arms, means uniform on [0, 1], drawn anew for each of {runs} runs",
            (
                f"UCB-E's scale by grid search: {chosen}; at q=0.9 the data also have the paper's "
                f"scale {PAPER_SCALE:g}"
            ),
        ],
    )


def measure(setup: Setup, runs: int, scales: dict[float, float]) -> list[Cell]:
    """Success and gap of every policy at every deadline."""
    jobs = []
    for q in reversed(DEADLINES):  # the longest first, so that no process is left waiting
        policies: list[Policy] = [UCBE(scales[q]), _SSH, _HALVING]
        if q == 0.9 and scales[q] != PAPER_SCALE:
            policies.insert(0, UCBE(PAPER_SCALE))
        jobs += [_Job(q, policy, i, setup.seed) for policy in policies for i in range(runs)]
    answers = setup.track(spread(_answers, jobs, setup.processes), len(jobs), "races")
    gaps: dict[tuple[float, Policy], list[list[float]]] = {}
    for job, found in zip(jobs, answers, strict=True):
        gaps.setdefault((job.q, job.policy), []).append(found)
    cells = []
    for (q, policy), table in sorted(gaps.items(), key=lambda item: item[0][0]):
        for deadline, values in zip(DEADLINES[q], np.array(table).T, strict=True):
            scale = policy.scale if isinstance(policy, UCBE) else None
            hits = (values == 0).astype(float)
            cells.append(
                Cell(
                    q,
                    deadline,
                    policy.name,
                    scale,
                    float(hits.mean()),
                    standard_error(hits),
                    float(values.mean()),
                    standard_error(values),
                )
            )
    return cells


def _answers(job: _Job) -> list[float]:
    """The gap of the arm that the policy answers at each deadline, in one run."""
    means = uniform_means(ARMS, job.seed, job.run)
    deadlines = DEADLINES[job.q]

    def start(deadline: float) -> tuple[Pacer, VirtualRunner]:
        task = Task(arms=ARMS, scaling=PowerLaw(job.q), deadline=deadline)
        return prepare_race(Bernoulli(means), job.policy, task, job.seed, job.run)

    # UCB-E does not look at the deadline: one race passes through them all.
    passing = start(deadlines[-1]) if isinstance(job.policy, UCBE) else None
    gaps = []
    for deadline in deadlines:
        arm = run(*(passing or start(deadline)), deadline=deadline).answer.arms[0]
        gaps.append(float(means.max() - means[arm]))
    return gaps


def _tuned_scales(setup: Setup, runs: int) -> dict[float, float]:
    """The best scale for every q, found on other draws than those that are reported."""
    draw = partial(_other_draw, seed=setup.seed)
    return {
        q: tune_scale(
            draw,
            PowerLaw(q),
            TUNING_DEADLINE[q],
            runs=min(runs, 10),
            seed=setup.seed,
            processes=setup.processes,
            track=setup.track,
        ).scale
        for q in DEADLINES
    }


def _other_draw(run: int, seed: int) -> Bernoulli:
    return Bernoulli(uniform_means(ARMS, seed + 1_000_003, run))


def _draw(cells: list[Cell], scales: dict[float, float]) -> Figure:
    figure = new_figure(13.0, 5.8)
    panels = figure.subplots(2, len(DEADLINES))
    for column, q in enumerate(DEADLINES):
        for policy, label in _LABELS.items():
            scale = scales[q] if policy == "ucb-e" else None
            line = [c for c in cells if (c.q, c.policy, c.scale) == (q, policy, scale)]
            style = _STYLES[policy] | {"capsize": 2}
            times = [c.deadline for c in line]
            panels[0, column].errorbar(
                times,
                [c.success for c in line],
                yerr=[c.success_error for c in line],
                label=label,
                **style,
            )
            panels[1, column].errorbar(
                times, [c.gap for c in line], yerr=[c.gap_error for c in line], **style
            )
        panels[0, column].set(title=f"q = {q:g}", ylim=(-0.05, 1.05))
        panels[1, column].set(xlabel="deadline T (s)", ylim=(0, 1))
        panels[1, column].set_yscale("symlog", linthresh=1e-4)
        for axes in panels[:, column]:
            axes.set_xscale("log")
            axes.set_xticks(DEADLINES[q], [f"{t:g}" for t in DEADLINES[q]], fontsize=8)
            axes.minorticks_off()
    panels[0, 0].set_ylabel("best arm found")
    panels[1, 0].set_ylabel("gap of the arm returned")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Fixed deadline: 1024 Bernoulli arms, uniform means, λ(m) = m^q", fontsize=11)
    return figure
