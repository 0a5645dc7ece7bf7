"""Figure 2: one pull at a time, a fixed batch, and APR, on the same three arms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paceline.core.problem import Bernoulli
from paceline.core.scaling import PowerLaw
from paceline.display.table import Table
from paceline.loop import Ending, run
from paceline.paper.rectangles import draw_spans, legend_of_arms
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.policies.apr import APR
from paceline.policies.base import Policy, Task
from paceline.policies.batch_racing import BatchRacing
from paceline.pools.timeline import Span
from paceline.simulation import Simulation, prepare_race, simulate

MEANS = (0.95, 0.5, 0.05)
SCALING = PowerLaw(0.5)
CONFIDENCE = 0.9
DEFAULT_RUNS = 200
DEVIATION = 0.2  # the paper's practice; it keeps the drawing short
STRATEGIES: tuple[tuple[str, Policy], ...] = (
    ("sequential: one pull at a time", BatchRacing(batch=1, deviation=DEVIATION)),
    ("a fixed batch of 240", BatchRacing(batch=240, deviation=DEVIATION)),
    ("APR", APR(beta=2.0, deviation=DEVIATION)),
)


def reproduce(setup: Setup) -> Report:
    """Draw one run of each strategy, and average many."""
    runs = setup.runs or DEFAULT_RUNS
    results = [
        simulate(MEANS, policy, SCALING, confidence=CONFIDENCE, seed=setup.seed, replications=runs)
        for _, policy in setup.track(STRATEGIES, len(STRATEGIES), "strategies")
    ]
    drawn = [_one_run(policy, setup.seed, _typical_run(results)) for _, policy in STRATEGIES]
    longest = max(ending.seconds for ending, _ in drawn)

    def draw() -> Figure:
        figure = new_figure(9.0, 7.0)
        panels = figure.subplots(3, 1, sharex=True)
        for axes, (label, _), (ending, spans) in zip(panels, STRATEGIES, drawn, strict=True):
            draw_spans(axes, spans, longest)
            axes.set_title(f"{label}: {ending.seconds:.1f} s", fontsize=10, loc="left")
            axes.label_outer()
            _mark_eliminations(axes, spans, winner=int(ending.answer.arms[0]))
        legend_of_arms(figure, len(MEANS))
        return figure

    return Report(
        name="strategies",
        title="Figure 2: information early, throughput, or both",
        data=Table(
            ("strategy", "arm", "pulls", "share", "start", "end"),
            [
                (label, s.arm + 1, s.pulls, s.share, s.start, s.end)
                for (label, _), (_, spans) in zip(STRATEGIES, drawn, strict=True)
                for s in spans
            ],
        ),
        summary=Table(
            ("strategy", "seconds", "± s.e.", "pulls", "rounds", "success"),
            [
                (
                    label,
                    result.mean_seconds,
                    result.standard_error,
                    float(result.pulls.mean()),
                    float(result.rounds.mean()),
                    result.success,
                )
                for (label, _), result in zip(STRATEGIES, results, strict=True)
            ],
        ),
        draw=draw,
        notes=[
            (
                f"the table is over {runs} runs; the figure shows the run whose three times are "
                "nearest to their means"
            )
        ],
    )


def _typical_run(results: Sequence[Simulation]) -> int:
    far = sum(np.abs(np.log(result.seconds / result.mean_seconds)) for result in results)
    return int(np.argmin(far))


def _one_run(policy: Policy, seed: int, number: int) -> tuple[Ending, list[Span]]:
    spans: list[Span] = []
    task = Task(arms=len(MEANS), scaling=SCALING, confidence=CONFIDENCE)
    race = prepare_race(Bernoulli(MEANS), policy, task, seed, number, spans)
    return run(*race), spans


def _mark_eliminations(axes: Any, spans: Sequence[Span], winner: int) -> None:
    """Mark where an arm is dropped before the end."""
    end = max(span.end for span in spans)
    for arm in sorted({span.arm for span in spans} - {winner}):
        last = max(span.end for span in spans if span.arm == arm)
        if last < end:
            axes.axvline(last, color="black", linestyle=":", linewidth=1)
            axes.annotate(
                f"arm {arm + 1} out",
                (last, 0.04),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
            )
