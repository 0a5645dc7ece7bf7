"""Figure 2: one pull at a time, a fixed batch, and APR, on the same three arms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paceline.core.problem import Bernoulli
from paceline.core.scaling import PowerLaw
from paceline.core.seeds import replication_seeds
from paceline.engines.simulated import SimulatedEngine, Span
from paceline.paper.rectangles import draw_spans
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.policies.apr import APR
from paceline.policies.base import Policy, Task
from paceline.policies.batch_racing import BatchRacing
from paceline.race import Ending, run
from paceline.simulation import simulate
from paceline.tables import Table

MEANS = (0.95, 0.5, 0.05)
SCALING = PowerLaw(0.5)
CONFIDENCE = 0.9
DEVIATION = 0.2  # the paper's practice; it keeps the drawing short
STRATEGIES: tuple[tuple[str, Policy], ...] = (
    ("sequential: one pull at a time", BatchRacing(batch=1, deviation=DEVIATION)),
    ("a fixed batch of 240", BatchRacing(batch=240, deviation=DEVIATION)),
    ("APR", APR(beta=2.0, deviation=DEVIATION)),
)


def reproduce(setup: Setup) -> Report:
    """Draw one run of each strategy, and average many."""
    runs = setup.runs or 200
    drawn = [_one_run(policy, setup.seed) for _, policy in STRATEGIES]
    rows = []
    for label, policy in setup.track(STRATEGIES, len(STRATEGIES)):
        result = simulate(
            MEANS, policy, SCALING, confidence=CONFIDENCE, seed=setup.seed, replications=runs
        )
        rows.append(
            (
                label,
                result.mean_seconds,
                result.standard_error,
                float(result.pulls.mean()),
                float(result.rounds.mean()),
                result.success,
            )
        )

    def draw() -> Figure:
        figure = new_figure(12.0, 3.4)
        panels = figure.subplots(1, 3, sharey=True)
        for axes, (label, _), (ending, spans) in zip(panels, STRATEGIES, drawn, strict=True):
            draw_spans(axes, spans)
            axes.set_title(f"{label}: {ending.seconds:.1f} s", fontsize=10)
            _mark_eliminations(axes, spans, winner=int(ending.verdict.arms[0]))
        for axes in panels[1:]:
            axes.set_ylabel("")
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
        summary=Table(("strategy", "seconds", "± s.e.", "pulls", "rounds", "success"), rows),
        draw=draw,
        notes=[f"the drawing shows one run each; the table is over {runs} runs"],
    )


def _one_run(policy: Policy, seed: int) -> tuple[Ending, list[Span]]:
    spans: list[Span] = []
    rewards, own = replication_seeds(seed, 0)
    engine = SimulatedEngine(Bernoulli(MEANS), SCALING, np.random.default_rng(rewards), spans)
    task = Task(arms=len(MEANS), scaling=SCALING, confidence=CONFIDENCE, seed=own)
    return run(policy.start(task), engine), spans


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
