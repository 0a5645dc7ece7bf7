"""What `staged` keeps: its bound on the error in virtual time, and its deadlines on real pools."""

import math
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from benchmarks.problems import Points
from benchmarks.pulls import SLEEP_SECONDS, sleepy
from paceline import Bernoulli, CorePool, Normal, PowerLaw, Problem, Scaling, race, simulate
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.policies.staged import Staged
from paceline.theory import plan_race

# Bounds.


class Instance(NamedTuple):
    """A problem, and for how many pulls of each arm in one round the time would do."""

    name: str
    problem: Problem
    scaling: Scaling
    pulls: float

    @property
    def deadline(self) -> float:
        return self.scaling.seconds(self.problem.arms * self.pulls)


def _gaps(exponent: float, arms: int) -> np.ndarray:
    return 0.8 - 0.6 * (np.arange(arms) / (arms - 1.0)) ** exponent


def instances() -> list[Instance]:
    """Means that are hard in different ways, from thin to ample time: 54 in all."""
    found: list[Instance] = []
    for arms, scaling in (
        (2, PowerLaw(0.5)),
        (4, PowerLaw(0.9)),
        (16, PowerLaw(0.25)),
        (64, CorePool(64, lambda cores: cores**-0.5)),
        (256, PowerLaw(0.7)),
        (1024, PowerLaw(0.5)),
    ):
        problems = {
            "one ahead by 0.2": Bernoulli(np.r_[0.6, np.full(arms - 1, 0.4)]),
            "gaps like i^0.5, normal": Normal(_gaps(0.5, arms), sigma=0.5),
            "gaps like i, bounded": Points(np.linspace(0.0, 0.09, arms)),
        }
        for name, problem in problems.items():
            found += [Instance(name, problem, scaling, pulls) for pulls in (8.0, 64.0, 512.0)]
    return found


def _failures(runs: int, one: Instance) -> tuple[float, int]:
    """The bound, and how many of the races go wrong."""
    problem = one.problem
    plan = plan_race(problem.arms, one.scaling, one.deadline)
    assert plan is not None
    bound = plan.loss_bound(problem.means, problem.noise)
    result = simulate(
        problem,
        Staged(),
        one.scaling,
        deadline=one.deadline,
        replications=runs,
        processes=1,
    )
    return bound, runs - int(result.correct.sum())


def run_bounds(runs: int = 500) -> Table:
    """Failures beside the bound; of the deadlines at which it says something, and of all."""
    cases = instances()
    found = spread(partial(_failures, runs), cases, available_cores().cores)
    rows: list[tuple[object, ...]] = []
    for one, (bound, wrong) in zip(cases, found, strict=True):
        refuted = bound < 1 and binomtest(wrong, runs, bound, alternative="greater").pvalue < 1e-4
        arms, scaling = one.problem.arms, str(one.scaling)
        rows.append((one.name, arms, scaling, one.pulls, wrong / runs, bound, refuted))
    sure = [row for row in rows if float(str(row[4])) < 0.01]
    speaking = sum(float(str(row[5])) < 1 for row in sure)
    refuted_rows = sum(bool(row[6]) for row in rows)
    rows.append((f"refuted, of {len(rows)}", "", "", "", refuted_rows, "", ""))
    rows.append(
        ("bound below 1 where success > 0.99", "", "", "", f"{speaking} of {len(sure)}", "", "")
    )
    columns = ("instance", "arms", "scaling", "pulls", "wrong", "bound", "refuted")
    return Table(columns, rows)


# On real pools.

CORES = 16
ARMS = [0.75, 0.6, *np.linspace(0.58, 0.2, 14).tolist()]
DEADLINE = 4.0
_MEAN_DELAY = math.exp(0.3**2 / 2) * (0.98 + 0.02 * 20)


def run_real(races: int = 200) -> Table:
    """Races on 16 logical cores whose pulls sleep, beside the same in virtual time."""
    rows: list[tuple[object, ...]] = []
    for policy in (Staged(), Staged(stragglers="wait")):
        right, late, pulls = [], [], []
        count = races if policy == Staged() else races // 5
        for number in range(count):
            began = time.monotonic()
            result = race(
                sleepy,
                ARMS,
                deadline=DEADLINE,
                cores=CORES,
                seed=number,
                policy=policy,
                progress=False,
            )
            late.append(time.monotonic() - began - DEADLINE)
            right.append(result.index == 0)
            pulls.append(result.pulls)
        rows.append(_row(f"real, stragglers={policy.stragglers!r}", right, pulls, late))
    for name, seconds in (("mean", SLEEP_SECONDS * _MEAN_DELAY), ("median", SLEEP_SECONDS)):
        pool = CorePool(CORES, {cores: seconds * cores**-0.5 for cores in range(1, CORES + 1)})
        virtual = simulate(ARMS, Staged(), pool, deadline=DEADLINE, replications=2000)
        answers, pulls = virtual.correct.tolist(), virtual.pulls.tolist()
        rows.append(_row(f"virtual, all take the {name}", answers, pulls, [0.0]))
    columns = ("races", "how many", "right", "± s.e.", "pulls", "seconds late", "at worst")
    return Table(columns, rows)


def _row(
    name: str, right: Sequence[bool], pulls: Sequence[int], late: Sequence[float]
) -> tuple[object, ...]:
    share = float(np.mean(right))
    error = math.sqrt(share * (1 - share) / len(right))
    return name, len(right), share, error, np.mean(pulls), np.mean(late), max(late)
