"""How many pulls a tolerance takes, beside Kim and Nelson's procedure; λ(m) = m, δ = 0.05.

PACELINE_BEFORE may name the folder of another checkout, which is then measured as well. An error is
an answer that is worse than the best arm by more than ε; where others are worse by just ε, they
count as errors.
"""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.kim_nelson import kim_nelson
from benchmarks.models import MODELS
from paceline import Normal, PowerLaw, Problem, simulate
from paceline.core.noise.normal import NormalNoise
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread

DELTA = 0.05
RUNS, MODEL_RUNS = 200, 40
_TOLERANCES = {"newsvendor": 0.01, "inventory": 5.0, "activity network": 0.1}


class Cell(NamedTuple):
    """Arms, and what is tolerated."""

    name: str
    problem: Problem
    tolerance: float
    paired: bool
    runs: int


def cells() -> list[Cell]:
    tied, gap = np.zeros(16), 0.1
    normal = {
        "2 tied": tied[:2],
        "16 tied": tied,
        "16, one ahead by ε": np.r_[gap, tied[1:]],
        "16, one ahead by 3ε": np.r_[3 * gap, tied[1:]],
        "16, steps of ε": -gap * np.arange(16),
        "200, one ahead by 3ε": np.r_[3 * gap, np.zeros(199)],
    }
    found = [Cell(name, Normal(means), gap, False, RUNS) for name, means in normal.items()]
    common = Normal(tied, common=0.9)
    found.append(Cell("16 tied, 0.9 in common", common, gap, True, RUNS))
    for name, make in MODELS.items():
        for paired in (False, True):
            one = f"{name}, paired" if paired else name
            found.append(Cell(one, make(), _TOLERANCES[name], paired, MODEL_RUNS))
    return found


def raced(place: int, runs: int | None = None) -> tuple[float, int]:
    """Mean pulls and errors of `racing` in a cell."""
    cell = cells()[place]
    result = simulate(
        cell.problem,
        scaling=PowerLaw(1.0),
        confidence=1 - DELTA,
        noise=NormalNoise(),
        paired=cell.paired,
        tolerance=cell.tolerance,
        replications=runs or cell.runs,
        processes=1,
        seed=31,
    )
    return float(result.pulls.mean()), errors(cell, result.index.tolist())


def rival(place: int, runs: int | None = None) -> tuple[float, int]:
    """The same of Kim and Nelson's procedure."""
    cell = cells()[place]
    found = [
        kim_nelson(
            cell.problem,
            cell.tolerance,
            DELTA,
            np.random.default_rng((37, run)),
            paired=cell.paired,
        )
        for run in range(runs or cell.runs)
    ]
    pulls = float(np.mean([spent for _, spent in found]))
    return pulls, errors(cell, [arm for arm, _ in found])


def errors(cell: Cell, chosen: list[int]) -> int:
    means = cell.problem.means
    assert means is not None
    worst = means.max() - cell.tolerance * (1 - 1e-9)
    return int((means[chosen] < worst).sum())


def before(folder: str, place: int) -> tuple[float, int]:
    """`racing` as another checkout has it."""
    code = "import json, sys; from benchmarks.tolerance import raced; "
    code += "print(json.dumps(raced(int(sys.argv[1]))))"
    root = Path(__file__).parents[1]
    told = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        env=os.environ | {"PYTHONPATH": f"{Path(folder) / 'src'}{os.pathsep}{root}"},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    pulls, wrong = json.loads(told)
    return pulls, wrong


def run() -> Table:
    places, cores = list(range(len(cells()))), available_cores().cores
    found = {"now": list(spread(raced, places, cores)), "KN": list(spread(rival, places, cores))}
    if "PACELINE_BEFORE" in os.environ:
        other = partial(before, os.environ["PACELINE_BEFORE"])
        found["before"] = list(spread(other, places, cores))
    rows: list[tuple[object, ...]] = []
    for place, cell in enumerate(cells()):
        now, theirs = found["now"][place], found["KN"][place]
        row: list[object] = [cell.name, cell.runs, now[0], theirs[0], now[0] / theirs[0]]
        row += [now[1] / cell.runs, theirs[1] / cell.runs]
        if "before" in found:
            row += [found["before"][place][0], found["before"][place][1] / cell.runs]
        rows.append(tuple(row))
    columns = ["arms", "runs", "pulls", "KN", "ratio", "error", "KN's error"]
    return Table((*columns, *(("before", "its error") if "before" in found else ())), rows)
