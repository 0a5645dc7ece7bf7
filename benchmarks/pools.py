"""How well real races use their pool: the real dispatcher, on a virtual clock.

The ideal is the same pulls on one core each, without a moment at which anybody waits. Pulls take
0.2 s on one core and less on more, by the square root of the cores; their times vary, and some are
stragglers, because of the machine or because of their seed. PACELINE_BEFORE may name the folder of
another checkout, which is then measured as well.
"""

import json
import math
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import paceline
from paceline.core.pool import CorePool
from paceline.display.table import Table
from paceline.engines.jobs import Job
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload
from paceline.policies.base import Pacer, Task

_CORES = 40
_SECONDS = 0.2
_ARMS = 16
_RACES = 20
_STRAGGLERS, _TIMES_AS_LONG = 0.02, 10.0


@dataclass(frozen=True)
class Case:
    """How the times of pulls vary: log-normal by `sigma`, and stragglers by whom."""

    name: str
    sigma: float
    stragglers: str  # "", "machine" or "seed"
    promise: str


CASES = (
    Case("constant", 0.0, "", "1.05"),
    Case("log-normal 0.3", 0.3, "", "1.08"),
    Case("log-normal 0.8", 0.8, "", "1.15"),
    Case("0.3, 2 % stragglers by the machine", 0.3, "machine", "1.15"),
    Case("0.8, 2 % stragglers by the machine", 0.8, "machine", "1.25"),
    Case("0.3, 2 % stragglers by the seed", 0.3, "seed", "0.76 of before"),
    Case("0.8, 2 % stragglers by the seed", 0.8, "seed", "0.69 of before"),
)


class Uneven(SimulatedEngine):
    """Pulls whose times vary: anew with every attempt, or by their seed."""

    def __init__(self, case: Case, seed: int) -> None:
        super().__init__(_CORES, script=self._play)
        self.case = case
        self.seed = seed
        self.attempts: dict[tuple[int, int], int] = {}
        self.first: dict[tuple[int, int], float] = {}  # of each pull, on one core

    def _play(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        attempt = self.attempts.get((arm, number), 0)
        self.attempts[arm, number] = attempt + 1
        part = 0 if self.case.stragglers == "seed" else attempt
        rng = random.Random(hash((self.seed, arm, number, part)))
        times = math.exp(rng.gauss(0.0, self.case.sigma)) if self.case.sigma else 1.0
        if self.case.stragglers and rng.random() < _STRAGGLERS:
            times *= _TIMES_AS_LONG
        self.first.setdefault((arm, number), _SECONDS * times)
        return _SECONDS * times / job.cores**0.5, float(workload.call(arm, number, job.cores))


class Spied(paceline.Racing):
    """Racing, whose pacer can be asked how many pulls it was told of."""

    def _pacer(self, task: Task) -> Pacer:
        pacer = super()._pacer(task)
        object.__setattr__(self, "pacer", pacer)
        return pacer


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 1.0)


def measure(case: Case, races: int) -> dict[str, float]:
    """Elapsed against the ideal, and the share of the cores in use, over some races."""
    ratios, used, waste = [], [], []
    gaps = np.linspace(0.15, 1.0, _ARMS - 1)
    for seed in range(races):
        engine = Uneven(case, seed)
        policy: Any = Spied()
        result = paceline.race(
            evaluate,
            [0.0, *(-gaps).tolist()],
            engine=engine,
            policy=policy,
            scaling=CorePool(_CORES, lambda cores: _SECONDS / cores**0.5),
            seed=seed,
            paired=False,
            progress=False,
        )
        told = policy.pacer.tally.pulls.tolist()
        pulls = [(arm, number) for arm, count in enumerate(told) for number in range(count)]
        ideal = sum(engine.first[pull] for pull in pulls) / _CORES
        ratios.append(result.elapsed / ideal)
        used.append(result.core_seconds / _CORES / result.elapsed)
        waste.append(result.pulls / len(pulls) - 1)
    return {
        "ratio": float(np.mean(ratios)),
        "error": float(np.std(ratios) / math.sqrt(races)),
        "used": float(np.mean(used)),
        "ahead": float(np.mean(waste)),
    }


def elsewhere(source: Path) -> list[dict[str, float]]:
    """The same in a process of its own, with the package as `source` has it."""
    here = str(Path(__file__).parents[1])
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.pools", str(_RACES)],
        env=os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{here}"},
        cwd=here,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return list(json.loads(told))


def run() -> Table:
    """Elapsed against the ideal, before and now."""
    now = elsewhere(Path(__file__).parents[1] / "src")
    folder = os.environ.get("PACELINE_BEFORE")
    before = elsewhere(Path(folder) / "src") if folder else [None] * len(CASES)
    rows = []
    for case, mine, old in zip(CASES, now, before, strict=True):
        rows.append(
            (
                case.name,
                "–" if old is None else old["ratio"],
                mine["ratio"],
                mine["error"],
                case.promise,
                "–" if old is None else mine["ratio"] / old["ratio"],
                "–" if old is None else old["used"],
                mine["used"],
                mine["ahead"],
            )
        )
    columns = ("times of pulls", "before", "now", "± s.e.", "promise", "now / before")
    return Table((*columns, "in use before", "in use now", "pulls not told"), rows)


if __name__ == "__main__":
    print(json.dumps([measure(case, int(sys.argv[1])) for case in CASES]))
