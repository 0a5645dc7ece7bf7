"""Figure 3: time to a confidence of 0.9, APR against Batch Racing with every batch size."""

from typing import NamedTuple

import numpy as np

from paceline.core.scaling import PowerLaw
from paceline.core.statistics import standard_error
from paceline.display.table import Table
from paceline.paper.instances import SCALING_EXPONENTS, linear_means
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.parallel import spread
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.batch_racing import BatchRacing
from paceline.simulation import simulate

GAPS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
BATCHES = tuple(4**power for power in range(1, 10))  # 4 … 262144
CONFIDENCE = 0.9
DEVIATION = 0.2
PAPER_RUNS = 10


class Cell(NamedTuple):
    """One policy on one instance."""

    q: float
    gap: float
    batch: int | None  # None: APR
    mean: float
    standard_error: float
    success: float


class _Job(NamedTuple):
    gap: float
    batch: int | None
    q: float | None
    runs: int
    seed: int


def reproduce(setup: Setup) -> Report:
    """Run four q, eight gaps, APR and nine batch sizes; report mean and standard error."""
    runs = setup.runs or PAPER_RUNS
    cells = measure(setup, runs)
    aprs = [cell for cell in cells if cell.batch is None]
    summary = []
    for apr in aprs:
        racing = [c for c in cells if (c.q, c.gap) == (apr.q, apr.gap) and c.batch is not None]
        best, worst = min(racing, key=lambda c: c.mean), max(racing, key=lambda c: c.mean)
        summary.append(
            (
                apr.q,
                apr.gap,
                apr.mean,
                apr.standard_error,
                best.mean,
                best.batch,
                apr.mean / best.mean,
                apr.mean / worst.mean,
            )
        )
    return Report(
        name="confidence",
        title="Figure 3: time to a confidence of 0.9",
        data=Table(
            ("q", "gap", "policy", "batch", "mean_seconds", "standard_error", "success", "runs"),
            [
                (
                    c.q,
                    c.gap,
                    "apr" if c.batch is None else "batch-racing",
                    c.batch or "",
                    c.mean,
                    c.standard_error,
                    c.success,
                    runs,
                )
                for c in cells
            ],
        ),
        summary=Table(
            ("q", "gap", "APR", "± s.e.", "best batch", "its m", "APR/best", "APR/worst"),
            summary,
            keys=2,
        ),
        draw=lambda: _draw(cells, runs),
        notes=[
            (
                f"16 Bernoulli arms, {runs} runs, deviation × {DEVIATION:g} (the paper's practice, "
                "which voids the guarantee), means clipped to [0, 1]"
            ),
            "Batch Racing does not look at λ, so the same runs are timed with every q",
        ],
    )


def measure(setup: Setup, runs: int) -> list[Cell]:
    """Simulate every cell. Batch Racing's rounds are the same for all q: only APR's differ."""
    jobs = [_Job(gap, batch, None, runs, setup.seed) for batch in BATCHES for gap in GAPS]
    jobs += [_Job(gap, None, q, runs, setup.seed) for q in SCALING_EXPONENTS for gap in GAPS]
    found = list(setup.track(spread(_cells, jobs, setup.processes), len(jobs), "races"))
    order = {q: place for place, q in enumerate(SCALING_EXPONENTS)}
    return sorted(
        (cell for cells in found for cell in cells), key=lambda c: (order[c.q], c.gap, c.batch or 0)
    )


def policy_of(batch: int | None) -> Policy:
    """The policies of figure 3: Batch Racing with this batch, or APR for None."""
    if batch is None:
        return APR(beta=2.0, deviation=DEVIATION)
    return BatchRacing(batch=batch, deviation=DEVIATION)


def _cells(job: _Job) -> list[Cell]:
    result = simulate(
        linear_means(job.gap),
        policy_of(job.batch),
        PowerLaw(job.q or 0.5),
        confidence=CONFIDENCE,
        seed=job.seed,
        replications=job.runs,
        processes=1,
    )
    cells = []
    for q in SCALING_EXPONENTS if job.q is None else (job.q,):
        # Every round of Batch Racing has `batch` pulls, so it lasts λ(batch).
        seconds = result.seconds
        if job.batch is not None:
            seconds = result.rounds.astype(np.float64) * PowerLaw(q).seconds(float(job.batch))
        mean, error = float(seconds.mean()), standard_error(seconds)
        cells.append(Cell(q, job.gap, job.batch, mean, error, result.success))
    return cells


def _draw(cells: list[Cell], runs: int) -> Figure:
    from matplotlib import colormaps

    figure = new_figure(13.0, 3.9)
    panels = figure.subplots(1, len(SCALING_EXPONENTS))
    colours = {m: colormaps["viridis"](i / len(BATCHES)) for i, m in enumerate(BATCHES)}
    for axes, q in zip(panels, SCALING_EXPONENTS, strict=True):
        for batch in (*BATCHES, None):
            line = [c for c in cells if c.q == q and c.batch == batch]
            style = (
                {"color": "red", "linewidth": 2.2, "marker": "o", "label": "APR", "zorder": 3}
                if batch is None
                else {"color": colours[batch], "linewidth": 1.1, "label": f"BatchRacing({batch})"}
            )
            axes.errorbar(
                [c.gap**-2 for c in line],
                [c.mean for c in line],
                yerr=[c.standard_error for c in line],
                markersize=3.5,
                capsize=2,
                **style,
            )
        axes.set(xscale="log", yscale="log", title=f"q = {q:g}", xlabel="1 / Δ₂²  (harder →)")
    panels[0].set_ylabel("time to stop (s)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    title = "Fixed confidence: 16 Bernoulli arms, δ = 0.1, λ(m) = m^q"
    figure.suptitle(f"{title}, deviation × {DEVIATION:g}, {runs} runs", fontsize=11)
    return figure
