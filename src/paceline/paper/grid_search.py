"""The grid search for UCB-E's scale: the one that finds the best arm most often."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from paceline.core.problem import Problem
from paceline.core.scaling import Scaling
from paceline.display.progress import Track, untracked
from paceline.parallel import spread
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
    processes: int = 1,
    track: Track = untracked,
) -> GridSearch:
    """Try every scale on the same runs; ties go to the smaller gap of the arm returned.

    `problem` may be a function of the run's number, for problems that are drawn anew.

    >>> from paceline import Bernoulli, PowerLaw
    >>> problem = Bernoulli([0.9, 0.7, 0.6])
    >>> found = tune_scale(problem, PowerLaw(1.0), deadline=60, scales=(0.001, 0.5), runs=50)
    >>> found.scale, found.success[0.5] > found.success[0.001]
    (0.5, True)
    """
    jobs = list(product(scales, range(runs)))
    one = partial(_gap, problem, scaling, deadline, seed)
    gaps: dict[float, list[float]] = {scale: [] for scale in scales}
    found = track(spread(one, jobs, processes), len(jobs), "grid search")
    for (scale, _), gap in zip(jobs, found, strict=True):
        gaps[scale].append(gap)
    success = {scale: sum(gap == 0 for gap in of) / runs for scale, of in gaps.items()}
    mean_gap = {scale: sum(of) / runs for scale, of in gaps.items()}
    best = max(scales, key=lambda scale: (success[scale], -mean_gap[scale]))
    return GridSearch(best, success, mean_gap)


def _gap(
    problem: Problem | Callable[[int], Problem],
    scaling: Scaling,
    deadline: float,
    seed: int,
    job: tuple[float, int],
) -> float:
    scale, run = job
    instance = problem if isinstance(problem, Problem) else problem(run)
    result = simulate(
        instance, UCBE(scale), scaling, deadline=deadline, seed=seed + run, processes=1
    )
    return float(result.gap[0])
