"""Arms of unequal cost: pulls of some arms take ten times as long. Real dispatcher, virtual clock.

Races to a confidence are compared by the time they take, and races to a deadline by how often they
find the best. The scaling is learned. PACELINE_BEFORE names the folder of another checkout, which
runs the same races, seed by seed.
"""

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import paceline
from paceline.display.table import Table
from paceline.engines.jobs import Job
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload

_SECONDS = 0.2  # of a pull of a cheap arm on one core
_TIMES_AS_LONG = 10.0
_SIGMA = 0.3  # of the logarithm of times
_GAPS = (0.3, 1.2)  # of the second best and of the worst, in standard deviations
_PULLS = 6  # of each arm, for which there would be time until the deadline

POOLS = ((16, 40), (8, 8), (40, 4))  # arms and cores
WHICH = ("none", "best", "all but the best", "random half", "worse half", "one in eight")
POLICIES = ("racing", "staged")
_RACES = {"racing": 80, "staged": 100}


class Case(NamedTuple):
    """An instance: how many arms and cores, which arms are slow, and the policy."""

    arms: int
    cores: int
    slow: str
    policy: str


CASES = [Case(*pool, which, policy) for policy in POLICIES for pool in POOLS for which in WHICH]


class Unequal(SimulatedEngine):
    """Each pull takes as long as its arm does, give or take."""

    def __init__(self, case: Case, costs: list[float], seed: int) -> None:
        super().__init__(case.cores, script=self._play)
        self.costs = costs
        self.seed = seed

    def _play(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        times = math.exp(random.Random(hash((self.seed, arm, number))).gauss(0.0, _SIGMA))
        seconds = _SECONDS * times * self.costs[arm] / job.cores**0.5
        return seconds, float(workload.call(arm, number, job.cores))


def costs_of(case: Case, places: list[int], rng: random.Random) -> list[float]:
    """What a pull of each arm costs; `places` are the arms, the best first."""
    count = len(places)
    slow = {
        "none": [],
        "best": places[:1],
        "all but the best": places[1:],
        "random half": rng.sample(places, count // 2),
        "worse half": places[count // 2 :],
        "one in eight": rng.sample(places, count // 8),
    }[case.slow]
    return [_TIMES_AS_LONG if arm in slow else 1.0 for arm in range(count)]


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 1.0)


def race(case: Case, seed: int) -> tuple[float, bool]:
    """How long it took, and whether it found the best."""
    rng = random.Random(seed)
    places = rng.sample(range(case.arms), case.arms)
    means = dict(zip(places, [0.0, *(-np.linspace(*_GAPS, case.arms - 1)).tolist()], strict=True))
    costs = costs_of(case, places, rng)
    deadline = None
    if case.policy == "staged":
        deadline = _PULLS * _SECONDS * (sum(costs) / case.cores + max(costs))
    result = paceline.race(
        evaluate,
        [means[arm] for arm in range(case.arms)],
        engine=Unequal(case, costs, seed),
        deadline=deadline,
        confidence=None if deadline else 0.95,
        policy=case.policy,
        noise="normal",
        seed=seed,
        paired=False,
        progress=False,
    )
    return result.elapsed, result.index == places[0]


def measure(case: Case, races: int) -> list[tuple[float, bool]]:
    """Some races of a case."""
    return [race(case, seed) for seed in range(races)]


def elsewhere(source: Path) -> list[list[tuple[float, bool]]]:
    """All cases in a process of its own, with the package as `source` has it."""
    here = str(Path(__file__).parents[1])
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.unequal"],
        env=os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{here}"},
        cwd=here,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return list(json.loads(told))


def run() -> Table:
    """Mean seconds, now against before, and right answers."""
    now = elsewhere(Path(__file__).parents[1] / "src")
    folder = os.environ.get("PACELINE_BEFORE")
    before = elsewhere(Path(folder) / "src") if folder else now
    rows = []
    for case, mine, old in zip(CASES, now, before, strict=True):
        seconds, right = (np.array(column) for column in zip(*mine, strict=True))
        seconds_then, right_then = (np.array(column) for column in zip(*old, strict=True))
        ratios = np.log(seconds / seconds_then)
        error = float(ratios.std(ddof=1) / math.sqrt(ratios.size))
        rows.append(
            (
                f"{case.policy}, {case.arms} arms on {case.cores} cores, slow: {case.slow}",
                float(seconds_then.mean()),
                float(seconds.mean()),
                float(np.exp(ratios.mean())),
                error,
                float(right_then.mean()),
                float(right.mean()),
            )
        )
    columns = ("races", "s before", "s now", "now / before", "± s.e.", "right before", "right now")
    return Table(columns, rows)


if __name__ == "__main__":
    some = [case for case in CASES if not sys.argv[1:] or case.policy in sys.argv[1:]]
    print(json.dumps([measure(case, _RACES[case.policy]) for case in some]))
