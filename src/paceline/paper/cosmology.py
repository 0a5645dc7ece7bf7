"""The physical experiment: which cosmology explains the supernovae best, on real processes.

The workload is an example, `examples/cosmology`: 64 candidates, and pulls that share their
integrals among cores. Here its scaling is measured, policies race it in virtual time on pools
of many sizes, and the same races are run on this machine's cores.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from paceline import real
from paceline.core.arrays import Bools, Floats, Ints
from paceline.core.pool import CorePool
from paceline.core.statistics import standard_error
from paceline.errors import InvalidInput
from paceline.machine import available_cores
from paceline.paper.cosmology_figure import draw
from paceline.paper.report import Report, Setup
from paceline.paper.resampled import Resampled
from paceline.paper.workload import load_example
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.racing import Racing
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.staged import Staged
from paceline.real.profiling import Profile
from paceline.result import Result
from paceline.simulation import simulate
from paceline.tables import Table
from paceline.theory import stages_to_combine

PAPER_RUNS = 60
TIMED_RUNS = 10  # of a pull on each number of cores
REAL_CORES = 2  # of the races that are run for real: so many every machine has
POOLS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
CONFIDENCE_POOLS = (2, 4, 8, 16, 40)
CONFIDENCE = 0.95

# The deadline lets SSH with k = 2 pull every arm in each of its three stages, with some time to
# spare, and SH not in each of its six.
_ROUNDS_BY_DEADLINE = 3.6

# Where a stage has no pull for every arm the paper's algorithm cuts blindly.
DEADLINE_POLICIES: dict[str, Policy] = {
    "SH": SequentialHalving(too_short="blind"),
    "SH, subset": SequentialHalving(too_short="subset"),
    "SSH": SSH(),
    "staged": Staged(best_effort=True),
}
REAL_DEADLINE = ("SH", "SSH", "staged")


class Contender(NamedTuple):
    """A policy for a confidence, and whether pulls with the same number share their points."""

    policy: Policy
    paired: bool = False


CONFIDENCE_POLICIES = {
    "APR": Contender(APR()),
    "APR, 0.2 of its width": Contender(APR(deviation=0.2)),
    "racing": Contender(Racing()),
    "racing, paired": Contender(Racing(), paired=True),
}
REAL_CONFIDENCE = ("racing", "racing, paired")


class Cell(NamedTuple):
    """One policy on one pool, over all races."""

    goal: str  # "deadline" or "confidence"
    pool: int
    where: str  # "virtual" or "real"
    policy: str
    races: int
    success: float
    success_error: float
    seconds: float
    seconds_error: float
    longest: float
    pulls: float


@dataclass(frozen=True)
class Workload:
    """What is raced: the candidates, a pull, and all that is known of it."""

    candidates: Sequence[Any]
    pull: Callable[..., float]
    problem: Resampled
    source: str  # of the supernovae

    @property
    def best(self) -> int:
        """The candidate with the highest score over all points."""
        return int(self.problem.means.argmax())


def reproduce(setup: Setup) -> Report:
    """Measure the scaling, then race in virtual time and for real."""
    cores = available_cores().cores
    if cores < REAL_CORES:
        raise InvalidInput(
            f"this experiment measures how pulls scale, for which it needs {REAL_CORES} cores: "
            f"this process may use {cores}"
        )
    runs = setup.runs or PAPER_RUNS
    real_runs = runs if setup.real_runs is None else setup.real_runs
    workload = load_workload(setup)
    lab = Lab(setup, workload, measure_scaling(workload, setup.seed))
    cells = lab.virtual(runs)
    answer = None
    if real_runs:
        cells += lab.deadline_for_real(real_runs)
        more, answer = lab.confidence_for_real(math.ceil(real_runs / 20))
        cells += more
    return Report(
        name="cosmology",
        title=f"Cosmological parameters from supernovae ({workload.source})",
        data=Table(Cell._fields, cells),
        summary=_summary(lab, cells),
        draw=lambda: draw(cells, lab.profile, lab.deadline, workload.source),
        notes=[*_notes(lab, cells), *_compared(lab, cells, answer)],
        answer=answer,
    )


def load_workload(setup: Setup) -> Workload:
    """The example, with the survey that was asked for or is there."""
    survey_module = load_example("cosmology", "survey")
    likelihood = load_example("cosmology", "likelihood")
    try:
        survey = survey_module.load(setup.data)
    except survey_module.BadSurvey as error:
        raise InvalidInput(str(error)) from error
    scores = [
        likelihood.scores(arm, survey, steps=likelihood.STEPS_FOR_MEANS)
        for arm in likelihood.CANDIDATES
    ]
    return Workload(
        likelihood.CANDIDATES,
        partial(likelihood.evaluate, survey=survey),
        Resampled(np.array(scores), likelihood.POINTS_PER_PULL),
        survey.source,
    )


def measure_scaling(workload: Workload, seed: int) -> Profile:
    """Seconds of a pull on one core and on more, as `paceline profile` has them."""
    return real.profile(
        workload.pull, workload.candidates, cores=REAL_CORES, repeats=TIMED_RUNS, seed=seed
    )


@dataclass(frozen=True)
class Lab:
    """Where races are run: with a workload whose scaling was measured."""

    setup: Setup
    workload: Workload
    profile: Profile

    @cached_property
    def deadline(self) -> float:
        """As in the paper: k* = 2 on the pool at hand, and too short for SH."""
        once = self.pool(REAL_CORES).seconds(float(self.workload.problem.arms))
        return round(_ROUNDS_BY_DEADLINE * once, 2)

    def pool(self, cores: int) -> CorePool:
        """So many cores, on which pulls take what was measured, or what the model says."""
        return CorePool(cores, self.profile.runtime)

    def combined(self, cores: int) -> int:
        """SSH's k* on such a pool."""
        return stages_to_combine(self.workload.problem.arms, self.deadline, self.pool(cores))

    def virtual(self, runs: int) -> list[Cell]:
        """Every policy on every pool, in virtual time."""
        jobs = [
            *product(["deadline"], POOLS, DEADLINE_POLICIES),
            *product(["confidence"], CONFIDENCE_POOLS, CONFIDENCE_POLICIES),
        ]
        return [
            self._simulated(goal, cores, name, runs)
            for goal, cores, name in self.setup.track(jobs, len(jobs), "virtual races")
        ]

    def _simulated(self, goal: str, cores: int, name: str, runs: int) -> Cell:
        found = simulate(
            self.workload.problem,
            scaling=self.pool(cores),
            replications=runs,
            seed=self.setup.seed,
            processes=self.setup.processes,
            **self._options(goal, name),
        )
        return _cell(goal, cores, "virtual", name, found.correct, found.seconds, found.pulls)

    def _options(self, goal: str, name: str) -> dict[str, Any]:
        if goal == "deadline":
            return {"deadline": self.deadline, "policy": DEADLINE_POLICIES[name]}
        policy, paired = CONFIDENCE_POLICIES[name]
        return {"confidence": CONFIDENCE, "policy": policy, "paired": paired}

    def deadline_for_real(self, runs: int) -> list[Cell]:
        """The same races on this machine's cores."""
        found = self._for_real("deadline", REAL_DEADLINE, runs)
        return [self._real_cell("deadline", name, results) for name, results in found.items()]

    def confidence_for_real(self, runs: int) -> tuple[list[Cell], Result]:
        """Races that take a minute or so each; and the first of them, as the answer."""
        found = self._for_real("confidence", REAL_CONFIDENCE, runs)
        cells = [self._real_cell("confidence", name, results) for name, results in found.items()]
        return cells, found[REAL_CONFIDENCE[0]][0]

    def _for_real(self, goal: str, names: Sequence[str], runs: int) -> dict[str, list[Result]]:
        """Policies in turn, so that all see the same disturbances."""
        found: dict[str, list[Result]] = {name: [] for name in names}
        races = list(product(range(runs), names))
        for number, name in self.setup.track(races, len(races), f"real races to a {goal}"):
            result = real.race(
                self.workload.pull,
                self.workload.candidates,
                cores=REAL_CORES,
                scaling=self.pool(REAL_CORES),
                seed=self.setup.seed + number,
                progress=False,
                **self._options(goal, name),
            )
            found[name].append(result)
        return found

    def _real_cell(self, goal: str, name: str, results: Sequence[Result]) -> Cell:
        right = np.array([result.index == self.workload.best for result in results])
        seconds = np.array([result.elapsed for result in results])
        pulls = np.array([result.pulls for result in results])
        return _cell(goal, REAL_CORES, "real", name, right, seconds, pulls)


def _cell(
    goal: str, pool: int, where: str, name: str, right: Bools, seconds: Floats, pulls: Ints
) -> Cell:
    hits = right.astype(np.float64)
    return Cell(
        goal,
        pool,
        where,
        name,
        hits.size,
        float(hits.mean()),
        standard_error(hits),
        float(seconds.mean()),
        standard_error(seconds),
        float(seconds.max()),
        float(pulls.mean()),
    )


# What is told.


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


def _notes(lab: Lab, cells: Sequence[Cell]) -> Iterable[str]:
    measured = {cores: float(np.mean(times)) for cores, times in lab.profile.measured.items()}
    times = ", ".join(f"{1e3 * seconds:.1f} ms on {c}" for c, seconds in sorted(measured.items()))
    yield f"supernovae: {lab.workload.source}"
    yield f"a pull takes {times} cores; fitted: {lab.profile.runtime.describe()}"
    yield (
        f"deadline {lab.deadline:g} s, for which k* = {lab.combined(REAL_CORES)} on {REAL_CORES} "
        f"cores; success is the share of races that found the best of 64"
    )
    for pool in CONFIDENCE_POOLS:
        here = [c for c in cells if (c.goal, c.pool) == ("confidence", pool)]
        told = [f"{_name(c)} {c.seconds:.3g} s (right in {c.success:.0%})" for c in here]
        yield f"to {CONFIDENCE:.0%} confidence on {pool} cores: {', '.join(told)}"


def _name(cell: Cell) -> str:
    return cell.policy if cell.where == "virtual" else f"{cell.policy}, {cell.races} for real,"


def _compared(lab: Lab, cells: Sequence[Cell], answer: Result | None) -> Iterable[str]:
    """What was seen for real, beside virtual time."""
    for cell in cells:
        if (cell.goal, cell.where) == ("deadline", "real"):
            twin = next(
                c for c in cells if c[:4] == ("deadline", cell.pool, "virtual", cell.policy)
            )
            error = math.hypot(cell.success_error, twin.success_error)
            apart = abs(cell.success - twin.success) / error if error > 0 else 0.0
            yield (
                f"{cell.policy} for real: right in {cell.success:.0%} of {cell.races} races, "
                f"{apart:.1f} standard errors from virtual time; {cell.pulls:.0f} pulls against "
                f"{twin.pulls:.0f}; the last ended at {cell.longest:.2f} s of {lab.deadline:g} s"
            )
    if answer is not None:
        means, best = lab.workload.problem.means, lab.workload.best
        yield (
            f"over all points the best is {lab.workload.candidates[best]}, with a mean of "
            f"{means[best]:.4f}; the race chose {answer.best}, with {means[answer.index]:.4f}"
        )
