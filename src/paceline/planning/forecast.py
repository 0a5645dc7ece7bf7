"""Races that may come, run in virtual time: how long each takes, and whether it is right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.scaling import Scaling
from paceline.core.seeds import replication_seeds
from paceline.errors import InvalidInput
from paceline.loop import run
from paceline.planning.beliefs import Belief
from paceline.planning.worlds import World
from paceline.policies.base import Task
from paceline.policies.catalog import find_policy
from paceline.pools.virtual import VirtualRunner
from paceline.simulation import replicate
from paceline.theory import optimal_seconds

_MOST_PULLS, _MOST_PAIRED = 1e13, 2e6  # a race that takes more counts as one without an end
_MOST_ROUNDS = 20_000
_WORLDS_FOR_THEORY = 15


class Range(NamedTuple):
    """The median of what was simulated, and where its middle 80 % lie."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> "Range":
        """From 10 % to 90 %; infinite values count as such."""
        return cls(*(float(np.quantile(values, q, method="inverted_cdf")) for q in (0.1, 0.5, 0.9)))

    def to_json(self) -> list[float | None]:
        """Plain numbers; None for what has no end."""
        return [one if math.isfinite(one) else None for one in self]


@dataclass(frozen=True)
class Question:
    """The race that is planned: what it is to find, by which policy, from what kind of values.

    `noise` is what the race assumes. `startup` are seconds before its first pull.
    """

    policy: object = None
    noise: Noise = BERNOULLI
    minimize: bool = False
    top: int = 1
    tolerance: float = 0.0
    paired: bool = False
    startup: float = 0.0
    seed: int = 0

    def task(
        self, world: World, scaling: Scaling, confidence: float | None, deadline: float | None
    ) -> Task:
        """What the policy is told at its start; values are those of the world, high ones good."""
        binary = world.deviations is None
        noise = self.noise.learned(binary=binary)
        if not binary and self.minimize:
            noise = noise.negated()
        return Task(
            arms=world.arms,
            scaling=scaling,
            confidence=confidence,
            deadline=deadline,
            top=self.top,
            tolerance=self.tolerance,
            noise=BERNOULLI if binary else noise,
            paired=self.paired,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Aim:
    """One pool, and when the race on it stops."""

    cores: int | None  # None: the scaling is not one of whole cores
    scaling: Scaling
    confidence: float | None
    deadline: float | None


@dataclass(frozen=True)
class Forecast:
    """What to expect of the race on one pool.

    `success` is the share of races that found the best, `decided` the share that came to an end by
    themselves. `optimum` is T* of the theory, for the same worlds. If the race cannot be run,
    `impossible` says why, and all else is unknown.
    """

    cores: int | None
    confidence: float | None
    deadline: float | None
    seconds: Range
    pulls: Range
    core_hours: Range
    success: float
    decided: float
    optimum: Range
    impossible: str = ""


class _Outcome(NamedTuple):
    seconds: float
    pulls: float
    right: bool
    decided: bool


def forecast(
    question: Question,
    belief: Belief,
    aim: Aim,
    *,
    replications: int,
    seed: int = 0,
    processes: int | None = None,
) -> Forecast:
    """Race many times, each time in a world of its own that fits the belief.

    The worlds depend on the seed alone: pools and goals are compared in the same ones.
    """
    one = partial(_race, question, belief, aim, seed)
    try:
        outcomes = replicate(one, replications, processes)
    except InvalidInput as error:
        return _impossible(aim, str(error))
    seconds = np.array([outcome.seconds for outcome in outcomes])
    cores = math.nan if aim.cores is None else float(aim.cores)
    return Forecast(
        aim.cores,
        aim.confidence,
        aim.deadline,
        Range.of(seconds),
        Range.of(np.array([outcome.pulls for outcome in outcomes])),
        Range.of(cores * seconds / 3600),
        float(np.mean([outcome.right for outcome in outcomes])),
        float(np.mean([outcome.decided for outcome in outcomes])),
        _optimum(question, belief, aim, seed),
    )


def _impossible(aim: Aim, why: str) -> Forecast:
    none = Range(math.nan, math.nan, math.nan)
    return Forecast(
        aim.cores, aim.confidence, aim.deadline, none, none, none, math.nan, math.nan, none, why
    )


def _world(belief: Belief, seed: int, replication: int) -> World:
    return belief.draw(np.random.default_rng((seed, 4, replication)))


def _race(question: Question, belief: Belief, aim: Aim, seed: int, replication: int) -> _Outcome:
    world = _world(belief, seed, replication)
    goals = {"confidence": aim.confidence is not None, "deadline": aim.deadline is not None}
    policy = find_policy(question.policy, **goals)  # type: ignore[arg-type]
    rewards, own = replication_seeds(seed, replication)
    deadline = None if aim.deadline is None else max(aim.deadline - question.startup, 1e-9)
    task = question.task(world, aim.scaling, aim.confidence, deadline)
    pacer = policy.start(replace(task, seed=own))
    runner = VirtualRunner(world, aim.scaling, np.random.default_rng(rewards))
    ending = run(
        pacer,
        runner,
        deadline=math.inf if deadline is None else deadline,
        max_pulls=_MOST_PAIRED if question.paired else _MOST_PULLS,
        max_rounds=_MOST_ROUNDS,
    )
    answer = ending.answer
    if not answer.decided and deadline is None:
        return _Outcome(math.inf, math.inf, right=False, decided=False)
    right = answer.decided and _is_right(world, answer.arms.tolist(), question)
    seconds = ending.seconds + question.startup
    return _Outcome(seconds, float(ending.pulls), right, not answer.reason)


def _is_right(world: World, chosen: Sequence[int], question: Question) -> bool:
    assert world.means is not None
    worst_allowed = np.sort(world.means)[-question.top] - question.tolerance
    return bool((world.means[list(chosen)] >= worst_allowed).all())


def _optimum(question: Question, belief: Belief, aim: Aim, seed: int) -> Range:
    """T*, for gaps in deviations of the noise; no time of its kind is known for a top k."""
    if question.top > 1:
        return Range(math.nan, math.nan, math.nan)
    worlds = 1 if belief.is_certain else _WORLDS_FOR_THEORY
    found = []
    for replication in range(worlds):
        world = _world(belief, seed, replication)
        assert world.means is not None
        falling = -np.sort(-world.means)
        deviation = world.sigma if world.deviations is None else float(world.deviations.max())
        gaps = (falling[0] - falling[1:]) / deviation
        tied = bool((gaps <= 0).any())
        found.append(math.inf if tied else optimal_seconds(gaps, aim.scaling))
    return Range.of(np.array(found))
