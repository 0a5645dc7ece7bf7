"""The grid search for UCB-E's scale: the one that finds the best arm most often."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paceline.core.problem import Problem
from paceline.core.scaling import Scaling
from paceline.policies.ucb_e import UCBE
from paceline.simulation import simulate

SCALES = (0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class GridSearch:
    """The scale with the most successes, and what every scale reached."""

    scale: float
    success: dict[float, float]
    gap: dict[float, float]


def tune_scale(
    problem: Problem | Callable[[int], Problem],
    scaling: Scaling,
    deadline: float,
    *,
    scales: Sequence[float] = SCALES,
    runs: int = 10,
    seed: int = 0,
) -> GridSearch:
    """Try every scale on the same runs; ties go to the smaller gap of the arm returned.

    `problem` may be a function of the run's number, for problems that are drawn anew.

    >>> from paceline import Bernoulli, PowerLaw
    >>> problem = Bernoulli([0.9, 0.7, 0.6])
    >>> found = tune_scale(problem, PowerLaw(1.0), deadline=60, scales=(0.001, 0.5), runs=50)
    >>> found.scale, found.success[0.5] > found.success[0.001]
    (0.5, True)
    """
    success, gap = {}, {}
    for scale in scales:
        hits, short = 0, 0.0
        for run in range(runs):
            instance = problem(run) if callable(problem) else problem
            result = simulate(
                instance, UCBE(scale), scaling, deadline=deadline, seed=seed + run, processes=1
            )
            hits += int(result.correct[0])
            short += float(result.gap[0])
        success[scale], gap[scale] = hits / runs, short / runs
    best = max(scales, key=lambda scale: (success[scale], -gap[scale]))
    return GridSearch(best, success, gap)
