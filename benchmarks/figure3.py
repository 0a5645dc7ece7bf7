"""Mean times of APR and Batch Racing beside the prototype's."""

import math

from benchmarks.prototype import APR_CELLS, BATCH_CELLS, Cell
from paceline import PowerLaw, simulate
from paceline.display.table import Table
from paceline.paper.confidence import CONFIDENCE, policy_of
from paceline.paper.instances import linear_means

RUNS = 400


def measure(cell: Cell, runs: int, seed: int = 7) -> tuple[float, float]:
    """Our mean seconds and standard error for a cell of the prototype."""
    result = simulate(
        linear_means(cell.gap),
        policy_of(cell.batch),
        PowerLaw(cell.q),
        confidence=CONFIDENCE,
        seed=seed,
        replications=runs,
    )
    return result.mean_seconds, result.standard_error


def standard_errors_apart(cell: Cell, mean: float, error: float) -> float:
    """How many standard errors two measurements differ by.

    Where the prototype gave no error, its own is taken to be like ours, beside half a unit of the
    last digit that it gave.
    """
    decimals = len(f"{cell.seconds:g}".partition(".")[2])
    other = cell.error or math.hypot(error, 0.5 * 10.0**-decimals)
    return (mean - cell.seconds) / math.hypot(error, other)


def run() -> Table:
    rows = []
    for cell in [*APR_CELLS, *BATCH_CELLS]:
        mean, error = measure(cell, RUNS)
        name = "APR" if cell.batch is None else f"BatchRacing({cell.batch})"
        apart = standard_errors_apart(cell, mean, error)
        rows.append((cell.q, cell.gap, name, cell.seconds, mean, error, apart))
    return Table(("q", "gap", "policy", "prototype", "seconds", "± s.e.", "s.e. apart"), rows)
