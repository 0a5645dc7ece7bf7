"""The cosmology experiment: its study, and its races, virtual and real.

The study is an example, `examples/cosmology`: 64 candidates, and pulls that split their
integrals among cores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from paceline import races
from paceline.core.arrays import Bools, Floats, Ints
from paceline.core.pool import CorePool
from paceline.core.statistics import standard_error
from paceline.errors import InvalidInput
from paceline.paper.examples import load_example
from paceline.paper.report import Setup
from paceline.paper.resampled import Resampled
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.racing import Racing
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.staged import Staged
from paceline.races.profiling import Profile
from paceline.result import Result
from paceline.simulation import simulate
from paceline.theory import stages_to_combine

TIMED_RUNS = 10  # of a pull on each number of cores
REAL_CORES = 2  # for races on real cores: every machine has as many
POOLS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
CONFIDENCE_POOLS = (2, 4, 8, 16, 40)
CONFIDENCE = 0.95

# By the deadline, SSH with k = 2 can pull every arm in each of its three stages, with some time to
# spare; SH cannot in each of its six.
_ROUNDS_BY_DEADLINE = 3.6

# If a stage is too short for one pull of every arm, the paper's algorithm cuts blindly.
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
# The full APR would take more than half an hour per race.
REAL_CONFIDENCE = ("racing", "racing, paired", "APR, 0.2 of its width")


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
class Study:
    """What is raced: the candidates, a pull, and the scores that pulls are drawn from."""

    candidates: Sequence[Any]
    pull: Callable[..., float]
    problem: Resampled
    source: str  # of the supernovae

    @property
    def best(self) -> int:
        """The candidate with the highest score over all points."""
        return int(self.problem.means.argmax())


def load_study(setup: Setup) -> Study:
    """The example, with the requested survey or the one that is installed."""
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
    return Study(
        likelihood.CANDIDATES,
        partial(likelihood.evaluate, survey=survey),
        Resampled(np.array(scores), likelihood.POINTS_PER_PULL),
        survey.source,
    )


def measure_scaling(study: Study, seed: int) -> Profile:
    """The seconds of a pull on one core and on more, measured as `paceline profile` does."""
    return races.profile(
        study.pull, study.candidates, cores=REAL_CORES, repeats=TIMED_RUNS, seed=seed
    )


@dataclass(frozen=True)
class Lab:
    """Runs races of a study whose scaling was measured."""

    setup: Setup
    study: Study
    profile: Profile

    @cached_property
    def deadline(self) -> float:
        """As in the paper: k* = 2 on the pool at hand, and too short for SH."""
        once = self.pool(REAL_CORES).seconds(float(self.study.problem.arms))
        return round(_ROUNDS_BY_DEADLINE * once, 2)

    def pool(self, cores: int) -> CorePool:
        """A pool of `cores` cores; the fitted runtime says how long its pulls take."""
        return CorePool(cores, self.profile.runtime)

    def combined(self, cores: int) -> int:
        """SSH's k* on a pool of this size."""
        return stages_to_combine(self.study.problem.arms, self.deadline, self.pool(cores))

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
            self.study.problem,
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
        """Races of about a minute each; the first of them is the answer."""
        found = self._for_real("confidence", REAL_CONFIDENCE, runs)
        cells = [self._real_cell("confidence", name, results) for name, results in found.items()]
        return cells, found[REAL_CONFIDENCE[0]][0]

    def _for_real(self, goal: str, names: Sequence[str], runs: int) -> dict[str, list[Result]]:
        """Run the policies in turn, so that all see the same disturbances."""
        found: dict[str, list[Result]] = {name: [] for name in names}
        planned = list(product(range(runs), names))
        for number, name in self.setup.track(planned, len(planned), f"real races to a {goal}"):
            result = races.race(
                self.study.pull,
                self.study.candidates,
                cores=REAL_CORES,
                scaling=self.pool(REAL_CORES),
                seed=self.setup.seed + number,
                progress=False,
                **self._options(goal, name),
            )
            found[name].append(result)
        return found

    def _real_cell(self, goal: str, name: str, results: Sequence[Result]) -> Cell:
        right = np.array([result.index == self.study.best for result in results])
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
