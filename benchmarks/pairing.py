"""What sharing seeds costs where nothing is in common, and saves where much is; λ = √m."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from paceline import Bernoulli, Normal, PowerLaw, Problem, Racing, simulate
from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.normal import NormalNoise
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread

RUNS = 600


class Cell(NamedTuple):
    values: str
    arms: int
    gap: float  # in standard deviations
    common: float


CELLS = [
    Cell(values, arms, gap, 0.0)
    for values in ("normal", "0/1")
    for arms in (2, 8, 32)
    for gap in (0.3, 0.8)
] + [Cell("normal", arms, 0.3, common) for arms in (2, 8, 32) for common in (0.5, 0.9)]


def _means(arms: int, gap: float) -> Floats:
    return np.r_[gap, np.linspace(0.0, -1.0, arms - 1)] if arms > 2 else np.array([gap, 0.0])


def seconds(runs: int, job: tuple[Cell, bool]) -> tuple[float, float, float]:
    """The mean time, its standard error, and the mean pulls."""
    cell, paired = job
    means = _means(cell.arms, cell.gap)
    problem: Problem = Normal(means, 1.0, cell.common)
    noise: Noise = NormalNoise()
    if cell.values == "0/1":
        problem, noise = Bernoulli(0.5 + 0.3 * means), BernoulliNoise()
    result = simulate(
        problem,
        Racing(),
        PowerLaw(0.5),
        confidence=0.95,
        noise=noise,
        paired=paired,
        replications=runs,
        seed=3,
        max_pulls=2e7,
        processes=1,
    )
    return result.mean_seconds, result.standard_error, float(result.pulls.mean())


def run(runs: int = RUNS) -> Table:
    jobs = [(cell, paired) for cell in CELLS for paired in (False, True)]
    found = list(spread(partial(seconds, runs), jobs, available_cores().cores))
    rows: list[tuple[object, ...]] = []
    for place, cell in enumerate(CELLS):
        alone, paired = found[2 * place : 2 * place + 2]
        ratio = paired[0] / alone[0]
        error = ratio * math.hypot(paired[1] / paired[0], alone[1] / alone[0])
        rows.append((*cell, ratio, error, paired[2] / alone[2]))
    columns = ("values", "arms", "gap/σ", "common", "time paired / unpaired", "± s.e.", "pulls")
    return Table(columns, rows)
