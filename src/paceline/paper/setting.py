"""Figure 1: three arms share a divisible resource, asynchronously."""

import math
from dataclasses import dataclass

import numpy as np

from paceline.core.problem import Bernoulli
from paceline.core.rounds import Conditions, Results, Round, Shares
from paceline.core.scaling import PowerLaw
from paceline.display.table import Table
from paceline.loop import run
from paceline.paper.rectangles import draw_spans, legend_of_arms
from paceline.paper.report import Figure, Report, Setup, new_figure
from paceline.policies.base import Pacer, Policy, Task
from paceline.pools.timeline import Span
from paceline.simulation import prepare_race

# Twice the resource makes a pull 1.5 times faster: λ(2) = 1.5 λ(1).
SCALING = PowerLaw(math.log2(1.5))
MEANS = (0.7, 0.5, 0.3)
DEADLINE = 12.0

# For each arm, the share of its next pulls and how many run at once; repeated over and over.
_HABITS: tuple[tuple[tuple[float, int], ...], ...] = (
    ((0.5, 1), (0.25, 1), (0.125, 4)),
    ((0.25, 1), (0.5, 1), (0.25, 2)),
    ((0.25, 1), (0.125, 2), (0.125, 1)),
)


@dataclass(frozen=True)
class Juggling(Policy):
    """Starts an arm's next pulls, on their own share, the moment its last ones are back."""

    name = "juggling"
    goal = "deadline"

    def _pacer(self, task: Task) -> Pacer:
        return _JugglingPacer(task)


class _JugglingPacer(Pacer):
    def opening(self) -> Round:
        self.turns = [0] * self.task.arms
        return self._wanted()

    def decide(self) -> Round:
        return self._wanted()

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        self.tally.add(results)
        left = self._missing.pulls.copy()
        left[results.arms] -= results.pulls
        for arm in np.flatnonzero(left == 0).tolist():
            self.turns[arm] += 1
            self.rounds += 1
        wanted = self._wanted()
        pulls = np.where(left > 0, left, wanted.pulls)
        self._adopt(Round(wanted.arms, pulls, wanted.how))

    def _wanted(self) -> Round:
        habits = [_HABITS[arm][turn % len(_HABITS[arm])] for arm, turn in enumerate(self.turns)]
        shares, pulls = zip(*habits, strict=True)
        how = Shares(np.array(shares))
        return Round(np.arange(len(habits)), np.array(pulls, dtype=np.int64), how)


def reproduce(setup: Setup) -> Report:
    """Run three arms for a while in virtual time and draw what ran when."""
    spans: list[Span] = []
    task = Task(arms=len(MEANS), scaling=SCALING, deadline=DEADLINE)
    race = prepare_race(Bernoulli(MEANS), Juggling(), task, setup.seed, 0, spans)
    ending = run(*race, deadline=DEADLINE)
    unfinished = race[1].under_way()

    def draw() -> Figure:
        figure = new_figure(7.0, 3.6)
        axes = figure.subplots()
        draw_spans(axes, [*spans, *unfinished], DEADLINE)
        legend_of_arms(figure, len(MEANS))
        axes.set_title("Three arms, one resource: twice the share, 1.5 times as fast", fontsize=10)
        return figure

    shares = sorted({span.share for span in spans}, reverse=True)
    return Report(
        name="setting",
        title="Figure 1: pulls on shares of a divisible resource",
        data=Table(
            ("arm", "pulls", "share", "start", "end"),
            [(s.arm + 1, s.pulls, s.share, s.start, s.end) for s in spans],
        ),
        summary=Table(
            ("share of a pull", "seconds", "pulls done"),
            [
                (share, SCALING.seconds(1 / share), sum(s.pulls for s in spans if s.share == share))
                for share in shares
            ],
        ),
        draw=draw,
        notes=[
            (
                f"{ending.pulls} pulls finished in {DEADLINE:g} s of virtual time; "
                "those under way at the end are hatched, white is idle"
            ),
            "there is a single run: --runs has no effect here",
        ],
    )
