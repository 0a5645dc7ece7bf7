"""What `racing` takes: time against APR with the paper's 0.2, by noise, by the number of arms."""

import math
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.stats import binomtest

from benchmarks.cells import FAMILY, PAPER, Cell
from benchmarks.pulls import noisy
from paceline import APR, Bernoulli, Normal, Policy, PowerLaw, Racing, race, simulate
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.problem import Problem
from paceline.core.rounds import Verdict
from paceline.display.table import Table
from paceline.loop import run as run_race
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.policies.base import Task
from paceline.simulation import Simulation, prepare_race

RUNS = 400
FAMILY_RUNS = 100
CONFIDENCE = 0.9
HACK = APR(beta=2.0, deviation=0.2)


def race_cell(cell: Cell, policy: Policy, runs: int, seed: int) -> Simulation:
    return simulate(
        cell.problem,
        policy,
        cell.scaling,
        confidence=CONFIDENCE,
        replications=runs,
        seed=seed,
        processes=1,
    )


def compare(runs: int, cell: Cell) -> tuple[float, float, float, float]:
    """The ratio of mean times, its standard error, and both shares of right answers."""
    ours, theirs = race_cell(cell, Racing(), runs, 1), race_cell(cell, HACK, runs, 2)
    ratio = ours.mean_seconds / theirs.mean_seconds
    relative = (one.standard_error / one.mean_seconds for one in (ours, theirs))
    return ratio, ratio * math.hypot(*relative), ours.success, theirs.success


def compare_all(cells: Sequence[Cell], runs: int = RUNS) -> Table:
    found = list(spread(partial(compare, runs), cells, available_cores().cores))
    rows: list[tuple[object, ...]] = [
        (cell.instance, cell.arms, str(cell.scaling), *numbers)
        for cell, numbers in zip(cells, found, strict=True)
    ]
    logs = np.log([ratio for ratio, *_ in found])
    errors = np.array([error / ratio for ratio, error, *_ in found])
    mean = math.exp(logs.mean())
    error = mean * math.sqrt(float((errors**2).sum())) / len(found)
    rows.append(("geometric mean", "", "", mean, error, "", ""))
    rows.append(("largest", "", "", math.exp(logs.max()), "", "", ""))
    rows.append(("cells above 1", "", "", int((logs > 0).sum()), "", "", ""))
    columns = ("instance", "arms", "scaling", "time / APR(0.2)", "± s.e.", "right", "APR right")
    return Table(columns, rows)


def run() -> Table:
    return compare_all(PAPER)


def run_family() -> Table:
    return compare_all(FAMILY, FAMILY_RUNS)


# What has to be learned about the noise, and what pairing saves.


def _summary(problem: Problem, runs: int, **options: object) -> tuple[float, float, float, float]:
    result = simulate(
        problem,
        Racing(),
        PowerLaw(0.5),
        confidence=CONFIDENCE,
        replications=runs,
        **options,  # type: ignore[arg-type]
    )
    pulls = result.pulls.astype(np.float64)
    error = float(pulls.std(ddof=1) / math.sqrt(runs))
    return result.mean_seconds, result.standard_error, float(pulls.mean()), error


def run_noise(runs: int = RUNS) -> Table:
    rows: list[tuple[object, ...]] = []
    for arms, gap in ((2, 0.3), (16, 0.3), (16, 0.1), (64, 0.3)):
        means = np.r_[gap, np.linspace(0.0, -1.0, arms - 1)] if arms > 2 else np.array([gap, 0.0])
        problem = Normal(means, sigma=1.0, common=0.9)
        known = _summary(problem, runs)
        for name, options in (
            ("σ known", {}),
            ("σ unknown", {"noise": "normal"}),
            ("paired, 90 % in common", {"noise": "normal", "paired": True}),
            ("sub-Gaussian", {"noise": SubgaussianNoise(sigma=1.0)}),
        ):
            found = _summary(problem, runs, **options) if options else known
            rows.append((arms, gap, name, *found, found[0] / known[0], found[2] / known[2]))
    columns = ("arms", "gap/σ", "noise", "seconds", "± s.e.", "pulls", "± s.e.", "time", "of pulls")
    return Table(columns, rows)


# What deciding costs.


def _milliseconds(problem: Problem, batches: int = 5, races: int = 5) -> float:
    """A race, in the quickest of a few batches: others use this machine too."""
    task = Task(arms=problem.arms, scaling=PowerLaw(0.5), confidence=CONFIDENCE)
    run_race(*prepare_race(problem, Racing(), task, 0, 0))  # has the boundary computed
    means = []
    for batch in range(batches):
        began = time.perf_counter()
        for number in range(races):
            run_race(*prepare_race(problem, Racing(), task, 0, 1 + batch * races + number))
        means.append(1e3 * (time.perf_counter() - began) / races)
    return min(means)


def _longest_step(arms: int) -> tuple[float, float]:
    """Mean and longest milliseconds of a step with normal values, the boundary known."""
    problem = Normal(np.r_[0.3, np.linspace(0.0, -1.0, arms - 1)])
    task = Task(arms=arms, scaling=PowerLaw(0.5), confidence=CONFIDENCE, noise=NormalNoise())
    steps: list[float] = []
    for replication in range(20):
        pacer, runner = prepare_race(problem, Racing(), task, 0, replication)
        while not isinstance(asked := pacer.ask(), Verdict):
            runner.pursue(asked)
            results = runner.wait(math.inf)
            complete = results.total == asked.total
            conditions = runner.close_round(pacer.rounds) if complete else None
            began = time.perf_counter()
            pacer.tell(results, conditions)
            if replication:
                steps.append(1e3 * (time.perf_counter() - began))
    return float(np.mean(steps)), float(np.quantile(steps, 0.99))


def run_steps() -> Table:
    rows: list[tuple[object, ...]] = []
    for arms, promise in ((1_000, 20.0), (10_000, 100.0)):
        scattered = np.sort(np.random.default_rng(arms).uniform(0.1, 0.9, arms))[::-1].copy()
        for name, means in (
            ("uniform means", np.r_[scattered[0] + 0.02, scattered[1:]]),
            ("one ahead by 0.2", np.r_[0.7, np.linspace(0.5, 0.4, arms - 1)]),
        ):
            cost = _milliseconds(Bernoulli(means))
            rows.append((f"a race in virtual time, n = {arms:,}, {name}", cost, promise))
    mean, longest = _longest_step(64)
    rows.append(("a step, 64 arms, on average", mean, 5.0))
    rows.append(("a step, 64 arms, 99 of 100 are below", longest, 5.0))
    return Table(("what", "milliseconds", "promise"), rows)


# On this machine.


def run_streaming(races: int = 200) -> Table:
    """Short real pulls: arms fall while others run, and the answer is still right."""
    arms = [0.0, *(-0.04 * place for place in range(1, 16))]
    wrong, seconds, pulls = 0, [], []
    for number in range(races):
        result = race(noisy, arms, confidence=CONFIDENCE, seed=number, progress=False)
        wrong += result.index != 0
        seconds.append(result.elapsed)
        pulls.append(result.pulls)
    refuted = binomtest(wrong, races, 1 - CONFIDENCE, alternative="greater").pvalue < 1e-6
    row = (races, wrong / races, 1 - CONFIDENCE, refuted, np.mean(seconds), np.mean(pulls))
    return Table(("races", "wrong", "allowed", "refuted", "seconds each", "pulls each"), [row])
