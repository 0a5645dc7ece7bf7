"""Races in virtual time, many times over: `paceline.simulate`."""

import math
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints, positive, whole
from paceline.core.assumptions import check_assumptions
from paceline.core.noise import Noise
from paceline.core.noise.catalog import checked
from paceline.core.problem import Bernoulli, Normal, Problem
from paceline.core.rounds import NO_ARMS
from paceline.core.scaling import PowerLaw, Scaling
from paceline.core.seeds import replication_seeds
from paceline.core.statistics import standard_error
from paceline.errors import InvalidInput, ScalingWarning, unknown_name
from paceline.loop import Ending, run
from paceline.machine import available_cores
from paceline.parallel import Value, picklable, spread
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.catalog import find_policy
from paceline.pools.timeline import Span
from paceline.pools.virtual import VirtualRunner

# A second process pays off when the work left is several times what starting it costs.
_WORTH_SPREADING_SECONDS = 4.0
_MOST_PAIRED = 2e7  # pulls whose values have to be kept one by one


@dataclass(frozen=True, eq=False)
class Simulation:
    """What `simulate` returns: one entry per replication in every array."""

    seconds: Floats
    pulls: Ints
    rounds: Ints
    chosen: Ints  # replications × top; -1 where undecided
    still_in: tuple[Ints, ...]  # the arms among which it is undecided; none if it is decided
    reasons: tuple[str, ...]  # why it was ended from outside; empty if the policy ended it
    confidences: Floats  # what is guaranteed for each; NaN if nothing is
    problem: Problem
    policy: Policy
    tolerance: float

    @property
    def confidence(self) -> float | None:
        """What is guaranteed for every decided replication, also those that the deadline ended."""
        decided = self.confidences[self.index >= 0]
        return None if not decided.size or np.isnan(decided).any() else float(decided.min())

    @property
    def index(self) -> Ints:
        """The arm returned, -1 if undecided (with `top`, the best of those returned)."""
        return self.chosen[:, 0]

    @property
    def correct(self) -> Bools:
        """Whether the best arms were returned: none worse than those by more than the tolerance."""
        means = self._means()
        worst_allowed = np.sort(means)[-self.chosen.shape[1]] - self.tolerance
        good = np.where(self.chosen >= 0, means[self.chosen] >= worst_allowed, False)
        return np.asarray(good.all(axis=1))

    @property
    def gap(self) -> Floats:
        """How far the mean of the arm returned is below the best mean; NaN if undecided."""
        means = self._means()
        return np.where(self.index >= 0, means.max() - means[self.index], np.nan)

    @property
    def success(self) -> float:
        """The share of replications that were correct."""
        return float(self.correct.mean())

    @property
    def mean_seconds(self) -> float:
        """The mean time over the replications."""
        return float(self.seconds.mean())

    @property
    def standard_error(self) -> float:
        """The standard error of `mean_seconds`; NaN for one replication."""
        return standard_error(self.seconds)

    def _means(self) -> Floats:
        if self.problem.means is None:
            raise InvalidInput(
                "the true means are unknown, so no answer can be judged: give means= to the problem"
            )
        return self.problem.means


def simulate(
    means: Any,
    policy: str | Policy | None = None,
    scaling: Scaling = PowerLaw(0.5),  # noqa: B008 - frozen
    *,
    confidence: float | None = None,
    deadline: float | None = None,
    rewards: str = "bernoulli",
    sigma: float = 1.0,
    noise: str | Noise | None = None,
    paired: bool = False,
    top: int = 1,
    tolerance: float = 0.0,
    seed: int = 0,
    replications: int = 1,
    max_pulls: float | None = None,
    max_rounds: float = 1e6,
    processes: int | None = None,
) -> Simulation:
    """Race arms with known means, or a `Problem`, in virtual time.

    It stops at `confidence` (0.95 if neither that nor a deadline is given), or at `deadline`
    seconds with the best so far. Tied arms never separate, so it also stops, undecided, at a cap on
    rounds or pulls (10¹⁵ of them for a confidence, 2·10⁷ if paired). `policy` is a name or a
    policy; by default `racing` for a confidence, `staged` for a deadline and `timed` for both.
    `rewards` and `sigma` (of normal rewards) go with means; a problem has its own. `noise` is what
    the policy assumes: by default what is true of the problem; "normal" if it has to learn the
    variances. `paired` gives pull k of every arm the same seed. Replications run on all cores if
    that pays off (`processes` says how many), with the same results.

    >>> import paceline
    >>> result = paceline.simulate([0.9, 0.6, 0.5], policy="apr", scaling=paceline.PowerLaw(0.5),
    ...                            confidence=0.9, seed=0, replications=20)
    >>> result.success, result.index[:5], bool((result.seconds > 0).all())
    (1.0, array([0, 0, 0, 0, 0]), True)
    """
    problem = means if isinstance(means, Problem) else _problem(means, rewards, sigma)
    if confidence is None and deadline is None:
        confidence = 0.95
    goals = {"confidence": confidence is not None, "deadline": deadline is not None}
    chosen_policy = find_policy(policy, **goals)
    _check_scaling(scaling)
    task = Task(
        arms=problem.arms,
        scaling=scaling,
        confidence=confidence,
        deadline=deadline,
        top=top,
        tolerance=tolerance,
        noise=_noise(problem, noise),
        paired=paired,
    )
    chosen_policy.start(task)  # a task that it cannot do is refused here, before anything runs
    whole(replications, "replications")
    whole(seed, "seed", least=0)
    if max_pulls is None:
        max_pulls = _MOST_PAIRED if paired else math.inf if confidence is None else 1e15
    for cap, what in ((max_pulls, "max_pulls"), (max_rounds, "max_rounds")):
        if cap != math.inf:
            positive(cap, what)
    caps = (max_pulls, max_rounds)
    one = partial(_replicate, problem, chosen_policy, task, seed, caps)
    endings = replicate(one, replications, processes)
    return Simulation(
        seconds=np.array([ending.seconds for ending in endings]),
        pulls=np.array([ending.pulls for ending in endings], dtype=np.int64),
        rounds=np.array([ending.rounds for ending in endings], dtype=np.int64),
        chosen=np.array([_chosen(ending, top) for ending in endings], dtype=np.int64),
        still_in=tuple(NO_ARMS if e.answer.decided else e.answer.arms for e in endings),
        reasons=tuple(ending.answer.reason for ending in endings),
        confidences=np.array([e.answer.confidence for e in endings], dtype=np.float64),
        problem=problem,
        policy=chosen_policy,
        tolerance=tolerance,
    )


def _problem(means: Any, rewards: str, sigma: float) -> Problem:
    if rewards == "bernoulli":
        return Bernoulli(means)
    if rewards == "normal":
        return Normal(means, sigma)
    raise unknown_name("rewards", rewards, ("bernoulli", "normal"))


def _noise(problem: Problem, noise: str | Noise | None) -> Noise:
    if noise is None:
        return problem.noise
    return noise if isinstance(noise, Noise) else checked(noise)


def _check_scaling(scaling: Scaling) -> None:
    if not isinstance(scaling, Scaling):
        raise InvalidInput(f"scaling must be a Scaling such as PowerLaw(0.5), got {scaling!r}")
    found = check_assumptions(scaling)
    fatal = found.rising or found.unbounded
    if fatal:
        raise InvalidInput(
            f"{fatal}. More pulls must take more time, without bound: repair {scaling!r}"
        )
    if found.subadditive:
        warnings.warn(
            f"{found.subadditive}. Policies then lose time by running pulls at once",
            ScalingWarning,
            stacklevel=3,
        )


def prepare_race(
    problem: Problem,
    policy: Policy,
    task: Task,
    seed: int,
    replication: int,
    spans: list[Span] | None = None,
) -> tuple[Pacer, VirtualRunner]:
    """The pacer and the runner of one replication, ready for `run`; `spans` records what runs."""
    reward_seed, policy_seed = replication_seeds(seed, replication)
    rng = np.random.default_rng(reward_seed)
    pacer = policy.start(replace(task, seed=policy_seed))
    return pacer, VirtualRunner(problem, task.scaling, rng, spans)


def _replicate(
    problem: Problem,
    policy: Policy,
    task: Task,
    seed: int,
    caps: tuple[float, float],
    replication: int,
) -> Ending:
    pacer, runner = prepare_race(problem, policy, task, seed, replication)
    deadline = math.inf if task.deadline is None else task.deadline
    return run(pacer, runner, deadline=deadline, max_pulls=caps[0], max_rounds=caps[1])


def replicate(
    one: "partial[Value]", replications: int, processes: int | None = None
) -> list[Value]:
    """All replications: in this process for a while, then spread over others if many are left.

    `one` is called with the number of the replication.
    """
    if processes is not None:
        workers = min(whole(processes, "processes"), replications)
        if workers > 1 and not picklable(one):
            raise InvalidInput(
                "the problem, policy or scaling cannot be sent to another process: "
                "use processes=1, or define what it contains at the top of a module"
            )
        return list(spread(one, range(replications), workers))
    values: list[Value] = []
    may_spread = replications > 1 and available_cores().cores > 1
    began = time.perf_counter()
    while len(values) < replications:
        values.append(one(len(values)))
        spent = time.perf_counter() - began
        left = replications - len(values)
        if may_spread and spent > 0.5 and spent / len(values) * left > _WORTH_SPREADING_SECONDS:
            may_spread = picklable(one)
            if may_spread:
                rest = range(len(values), replications)
                return values + list(spread(one, rest, available_cores().cores))
    return values


def _chosen(ending: Ending, top: int) -> list[int]:
    if not ending.answer.decided:
        return [-1] * top
    return [int(arm) for arm in ending.answer.arms]
