"""A confidence and a deadline at once: `timed` beside `staged`, and `racing` as it was before."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paceline import (
    Bernoulli,
    CorePool,
    Normal,
    Policy,
    PowerLaw,
    Problem,
    Racing,
    Scaling,
    Staged,
    Timed,
    simulate,
)
from paceline.core.arrays import Floats
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread

RUNS = 1000
CONFIDENCE = 0.95
LADDER: Floats = np.r_[0.0, -np.linspace(0.1, 1.0, 15)]  # in standard deviations


class Cell(NamedTuple):
    name: str
    problem: Problem
    scaling: Scaling
    deadline: float


def cells() -> list[Cell]:
    """Made here, because a pool of cores cannot be sent to another process."""
    pool = CorePool(40, lambda cores: 0.2 * cores**-0.5)
    return [
        Cell("16 normal, gaps 0.1–1 σ, 40 cores", Normal(LADDER), pool, 10.0),
        Cell("gaps × 0.5", Normal(0.5 * LADDER), pool, 10.0),
        Cell("gaps × 1.5", Normal(1.5 * LADDER), pool, 10.0),
        Cell("gaps × 2.5", Normal(2.5 * LADDER), pool, 10.0),
        Cell("gaps × 5", Normal(5.0 * LADDER), pool, 10.0),
        Cell("λ = √m", Normal(LADDER), PowerLaw(0.5), 60.0),
        Cell("λ = √m, gaps × 3, later", Normal(3.0 * LADDER), PowerLaw(0.5), 200.0),
        Cell("λ = m^0.9, gaps × 2", Normal(2.0 * LADDER), PowerLaw(0.9), 700.0),
        Cell("0/1, 0.6–0.3, 40 cores", Bernoulli(0.6 + 0.3 * LADDER), pool, 20.0),
        Cell("0/1, 0.9–0.1, 40 cores", Bernoulli(0.9 + 0.8 * LADDER), pool, 20.0),
    ]


CONTENDERS: list[tuple[str, Policy, bool, bool]] = [  # with a confidence, with a deadline
    ("staged", Staged(), False, True),
    ("racing, both", Racing(), True, True),
    ("timed", Timed(), True, True),
    ("racing, no deadline", Racing(), True, False),
]


class Seen(NamedTuple):
    right: float
    stated: float  # the share that had the confidence, by the deadline
    wrong: float  # of all races: stated and wrong
    reached: float  # the share that said anything
    seconds: float
    error: float  # of the seconds


def measure(runs: int, job: tuple[int, int]) -> Seen:
    """One contender in one cell; a race without a deadline is judged at that of the others."""
    cell, (_, policy, confident, timely) = cells()[job[0]], CONTENDERS[job[1]]
    goals: dict[str, Any] = {"max_pulls": 1e7}
    goals["confidence"] = CONFIDENCE if confident else None
    goals["deadline"] = cell.deadline if timely else None
    noise = "normal" if isinstance(cell.problem, Normal) else None  # whose σ is learned
    result = simulate(
        cell.problem, policy, cell.scaling, noise=noise, replications=runs, seed=3, processes=1,
        **goals,
    )  # fmt: skip
    in_time = result.seconds <= cell.deadline * (1 + 1e-9)
    stated = (result.confidences >= CONFIDENCE - 1e-9) & in_time
    seconds = np.minimum(result.seconds, cell.deadline)
    return Seen(
        result.success,
        float(stated.mean()),
        float((stated & ~result.correct).mean()),
        float((~np.isnan(result.confidences) & in_time).mean()),
        float(seconds.mean()),
        float(seconds.std() / math.sqrt(runs)),
    )


def run(runs: int = RUNS) -> Table:
    jobs = [(i, j) for i in range(len(cells())) for j in range(len(CONTENDERS))]
    found = spread(partial(measure, runs), jobs, available_cores().cores)
    rows: list[tuple[object, ...]] = []
    for (i, j), seen in zip(jobs, found, strict=True):
        cell, name = cells()[i], CONTENDERS[j][0]
        error = math.sqrt(seen.right * (1 - seen.right) / runs)
        right: tuple[object, ...] = (seen.right, error)
        if not CONTENDERS[j][3]:
            right = (math.nan, math.nan)  # it had all the time it wanted
        rows.append(
            (cell.name, cell.deadline, name, *right, seen.stated, seen.wrong, seen.reached,
             seen.seconds, seen.error)
        )  # fmt: skip
    columns = ("instance", "deadline", "policy", "right", "± s.e.", "stated", "wrongly", "reached",
               "seconds", "± s.e.")  # fmt: skip
    return Table(columns, rows, keys=3)
