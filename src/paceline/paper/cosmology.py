"""The physical experiment: which cosmology explains the supernovae best, on real processes.

The scaling of a pull is measured. Then policies race in virtual time on pools of many sizes, and
the same races run on this machine's cores.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from paceline.display.table import Table
from paceline.errors import InvalidInput
from paceline.machine import available_cores
from paceline.paper.cosmology_figure import draw
from paceline.paper.cosmology_lab import (
    CONFIDENCE,
    CONFIDENCE_POLICIES,
    CONFIDENCE_POOLS,
    DEADLINE_POLICIES,
    POOLS,
    REAL_CORES,
    Cell,
    Lab,
    load_study,
    measure_scaling,
)
from paceline.paper.report import Report, Setup
from paceline.result import Result

PAPER_RUNS = 60


def reproduce(setup: Setup) -> Report:
    """Measure the scaling, then race in virtual time and for real."""
    cores = available_cores().cores
    if cores < REAL_CORES:
        raise InvalidInput(
            f"this experiment needs {REAL_CORES} cores to measure how pulls scale: "
            f"this process may use {cores}"
        )
    runs = setup.runs or PAPER_RUNS
    real_runs = runs if setup.real_runs is None else setup.real_runs
    study = load_study(setup)
    lab = Lab(setup, study, measure_scaling(study, setup.seed))
    cells = lab.virtual(runs)
    answer = None
    if real_runs:
        cells += lab.deadline_for_real(real_runs)
        more, answer = lab.confidence_for_real(math.ceil(real_runs / 30))
        cells += more
    return Report(
        name="cosmology",
        title=f"Cosmological parameters from supernovae ({study.source})",
        data=Table(Cell._fields, cells),
        summary=_summary(lab, cells),
        draw=lambda: draw(cells, lab.profile, lab.deadline, study.source),
        more=[(f"Seconds to {CONFIDENCE:.0%} confidence, mean and standard error", _times(cells))],
        notes=[*_notes(lab), *_compared(lab, cells, answer)],
        answer=answer,
    )


def _summary(lab: Lab, cells: Sequence[Cell]) -> Table:
    """Success by the deadline, pool by pool: in virtual time, then for real."""
    rows: list[tuple[Any, ...]] = []
    for where, pool in product(("virtual", "real"), POOLS):
        here = [c for c in cells if (c.goal, c.where, c.pool) == ("deadline", where, pool)]
        if here:
            found = {c.policy: f"{c.success:.2f} ± {c.success_error:.2f}" for c in here}
            shown = (found.get(name, "") for name in DEADLINE_POLICIES)
            rows.append((where, pool, lab.combined(pool), *shown))
    return Table(("time", "cores", "k*", *DEADLINE_POLICIES), rows, keys=2)


def _times(cells: Sequence[Cell]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for where, pool in product(("virtual", "real"), CONFIDENCE_POOLS):
        here = [c for c in cells if (c.goal, c.where, c.pool) == ("confidence", where, pool)]
        if here:
            found = {c.policy: _with_error(c) for c in here}
            right = min(c.success for c in here)
            shown = (found.get(name, "") for name in CONFIDENCE_POLICIES)
            rows.append((where, pool, *shown, f"{right:.0%}"))
    return Table(("time", "cores", *CONFIDENCE_POLICIES, "right, at least"), rows, keys=2)


def _with_error(cell: Cell) -> str:
    if math.isnan(cell.seconds_error):
        return f"{cell.seconds:.3g}"
    return f"{cell.seconds:.3g} ± {cell.seconds_error:.1g}"


def _notes(lab: Lab) -> Iterable[str]:
    measured = {cores: float(np.mean(times)) for cores, times in lab.profile.measured.items()}
    times = ", ".join(f"{1e3 * seconds:.1f} ms on {c}" for c, seconds in sorted(measured.items()))
    yield f"supernovae: {lab.study.source}"
    yield f"a pull takes {times} cores; fitted: {lab.profile.runtime.describe()}"
    yield (
        f"deadline {lab.deadline:g} s, for which k* = {lab.combined(REAL_CORES)} on {REAL_CORES} "
        f"cores; success is the share of races that found the best of 64"
    )


def _apart(one: Cell, other: Cell) -> float:
    """How many standard errors lie between two rates, if both have the same probability."""
    races = one.races + other.races
    right = (one.races * one.success + other.races * other.success) / races
    error = math.sqrt(right * (1 - right) * (1 / one.races + 1 / other.races))
    return abs(one.success - other.success) / error if error > 0 else 0.0


def _compared(lab: Lab, cells: Sequence[Cell], answer: Result | None) -> Iterable[str]:
    """Compare the races on real cores with virtual time."""
    for cell in cells:
        if (cell.goal, cell.where) == ("deadline", "real"):
            same = (cell.goal, cell.pool, "virtual", cell.policy)
            twin = next(c for c in cells if c[:4] == same)
            yield (
                f"{cell.policy} for real: right in {cell.success:.0%} of {cell.races} races, "
                f"{_apart(cell, twin):.1f} standard errors from virtual time; {cell.pulls:.0f} "
                f"pulls against {twin.pulls:.0f}; the last ended at {cell.longest:.2f} s of "
                f"{lab.deadline:g} s"
            )
    if answer is not None:
        means, best = lab.study.problem.means, lab.study.best
        yield (
            f"over all points the best is {answer.arms[best].label}, with a mean of "
            f"{means[best]:.4f}; the race below chose {answer.arms[answer.index].label}, with "
            f"{means[answer.index]:.4f}"
        )
