"""What a user asked of a race, checked: everything that can be refused is refused here."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from paceline.commands import Command
from paceline.core.arguments import takes
from paceline.core.delays import Delays
from paceline.core.noise import Noise
from paceline.core.noise.catalog import checked
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.core.seeds import pull_seeds
from paceline.durations import Deadline, deadline_of
from paceline.engines.base import Engine
from paceline.engines.catalog import WITH_DEVICES, find_engine
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, seen
from paceline.machine import AvailableCores
from paceline.policies.base import Policy, Task
from paceline.policies.catalog import find_policy
from paceline.pools.model import NO_IDEA
from paceline.pools.rules import Rules
from paceline.races.arms import arms_and_labels
from paceline.races.forms import Pairing, RecordedScaling
from paceline.races.parameters import parameters_of
from paceline.races.pool import rules_of
from paceline.races.timing import check_timed, notes_of


@dataclass(frozen=True)
class Goal:
    """When a race ends, and what it is to find."""

    confidence: float | None
    deadline: Deadline | None
    minimize: bool
    top: int
    tolerance: float
    max_pulls: float


@dataclass(frozen=True)
class Settings:
    """A race, ready to be run. `options` has the checked value of every option by name."""

    evaluate: Callable[..., Any] | Command | str  # text: a function whose name alone is known
    arms: tuple[Any, ...]
    labels: tuple[str, ...]
    options: Mapping[str, Any]
    goal: Goal
    noise: Noise
    pairing: Pairing
    rules: Rules
    available: AvailableCores
    pool: CorePool | None  # None: τ is learned, or its level is
    shape: CorePool | None
    policy: Policy
    notes: tuple[str, ...] = ()  # what is to be said about it, as how it resumes
    parameters: tuple[Mapping[str, Any] | None, ...] = ()  # of the arms, if they have names

    @property
    def engine(self) -> Engine:
        """Where pulls run. A race that is only read may name an engine that is unknown here."""
        return find_engine(self.options["engine"])

    @property
    def sign(self) -> float:
        """−1 where low values are good."""
        return -1.0 if self.goal.minimize else 1.0

    def seeds(self, arm: int, first: int, pulls: int) -> list[int]:
        """The seeds of the pulls of an arm, from the first on."""
        shared = self.pairing.shares_seeds
        return pull_seeds(self.options["seed"], arm, first, pulls, paired=shared)

    def workload(self) -> Workload:
        """What the pulls of the race are."""
        assert not isinstance(self.evaluate, str)
        seeds = partial(pull_seeds, self.options["seed"], paired=self.pairing.shares_seeds)
        evaluate = self.evaluate
        if isinstance(evaluate, Command):
            evaluate = evaluate.with_values()
        unit, memory = self.options["unit"], self.options["memory_per_pull"]
        return Workload(evaluate, self.arms, seeds, unit, memory)

    def task(
        self,
        arms: int,
        pool: Scaling,
        noise: Noise,
        deadline: float | None,
        delays: Delays | None = None,
    ) -> Task:
        """What the policy is told at its start."""
        return Task(
            arms=arms,
            scaling=pool,
            confidence=self.goal.confidence,
            deadline=deadline,
            top=self.goal.top,
            tolerance=self.goal.tolerance,
            noise=noise.negated() if self.goal.minimize else noise,
            paired=self.pairing.judges_pairs,
            arms_at_start=len(self.arms),
            delays=delays,
            seed=self.options["seed"],
        )


def check_race(
    evaluate: Callable[..., Any] | Command, arms: Iterable[Any], options: Mapping[str, Any]
) -> Settings:
    """Check a race as a whole; each of its options was checked before."""
    candidates, labels = arms_and_labels(arms, options["labels"])
    _check_evaluate(evaluate, candidates, paired=bool(options["paired"]))
    check_unit(options["engine"], options["unit"])
    available = options["engine"].available()
    settings = assemble(evaluate, candidates, labels, options, available)
    settings = replace(settings, parameters=parameters_of(candidates))
    check_run(settings)
    # A policy refuses a race that it cannot run.
    deadline = settings.goal.deadline
    seconds = None if deadline is None else deadline.seconds
    known = settings.pool or NO_IDEA
    settings.policy.start(settings.task(len(candidates), known, settings.noise, seconds))
    return settings


def assemble(
    evaluate: Callable[..., Any] | Command | str,
    arms: tuple[Any, ...],
    labels: tuple[str, ...],
    options: Mapping[str, Any],
    available: AvailableCores,
) -> Settings:
    """Fill in what checked options leave open, given the cores available."""
    goal = goal_of(options)
    noise = checked(options["noise"], options["bounds"], options["sigma"])
    goals = {"confidence": goal.confidence is not None, "deadline": goal.deadline is not None}
    policy = find_policy(options["policy"], **goals)
    backups = options["backups"] and _depends_on_seed_alone(evaluate)
    rules = replace(rules_of(options, available), allowed=noise.allowed, backups=backups)
    pool, shape = _scaling(options["scaling"], rules)
    pairing = options["paired"]
    if pairing is None:
        may_share = not isinstance(evaluate, str) and _may_share(evaluate, arms, noise)
        # With a deadline a stage would have to wait for both of a pair; shared seeds alone help.
        to_confidence = goal.confidence is not None
        judged = may_share and to_confidence and policy.judges_pairs
        pairing = Pairing(judged or (may_share and not to_confidence), judged)
    elif not isinstance(pairing, Pairing):
        pairing = Pairing(pairing, pairing)
    return Settings(
        evaluate=evaluate,
        arms=arms,
        labels=labels,
        options=options,
        goal=goal,
        noise=noise,
        pairing=pairing,
        rules=rules,
        available=available,
        pool=pool,
        shape=shape,
        policy=policy,
        notes=notes_of(evaluate, rules),
    )


def goal_of(options: Mapping[str, Any]) -> Goal:
    """When a race ends, by its checked options."""
    confidence, deadline = options["confidence"], options["deadline"]
    if confidence is None and deadline is None:
        confidence = 0.95
    if deadline is not None and not isinstance(deadline, Deadline):
        deadline = deadline_of(deadline, datetime.now().astimezone())
    return Goal(
        confidence=confidence,
        deadline=deadline,
        minimize=options["direction"] == "minimize",
        top=options["top"],
        tolerance=options["tolerance"],
        max_pulls=math.inf if options["max_pulls"] is None else options["max_pulls"],
    )


def _check_evaluate(evaluate: Any, arms: Sequence[Any], *, paired: bool) -> None:
    if isinstance(evaluate, Command):
        odd = next((arm for arm in arms if not isinstance(arm, Mapping)), None)
        if odd is not None:
            raise InvalidInput(
                f"an arm of a command is a table of its parameters, such as {{'x': 1}}, got "
                f"{seen(odd)}"
            )
        evaluate.check(arms, paired=paired)
        return
    if not callable(evaluate):
        raise InvalidInput(
            f"evaluate must be a function of an arm, or a Command, got {seen(evaluate)}"
        )
    if paired and not takes(evaluate, "seed"):
        raise InvalidInput(
            "paired=True gives pull k of every arm the same seed, but evaluate takes none: "
            "write evaluate(arm, *, seed)"
        )


def _may_share(evaluate: Callable[..., Any] | Command, arms: Sequence[Any], noise: Noise) -> bool:
    """Whether the arms can share their seeds, and sharing costs little."""
    if not noise.sharing_costs_little:
        return False
    if not isinstance(evaluate, Command):
        return takes(evaluate, "seed")
    try:
        evaluate.check(arms, paired=True)
    except InvalidInput:  # it takes no seed, or two arms would write the same file
        return False
    return True


def _depends_on_seed_alone(evaluate: Callable[..., Any] | Command | str) -> bool:
    """Whether a pull that runs twice gives the same value, and does not get in its own way."""
    if isinstance(evaluate, Command):
        return "seed" in evaluate.placeholders and evaluate.value.kind not in ("time", "file")
    return not isinstance(evaluate, str) and takes(evaluate, "seed")


def check_unit(engine: Engine, unit: str) -> None:
    """Refuse to count devices where the engine has none to give."""
    if unit == "gpus" and not engine.abilities.gpus:
        raise InvalidInput(
            f"unit='gpus', but the engine {engine.name!r} has no devices to give: leave unit out, "
            f"or use an engine that has ({', '.join(map(repr, WITH_DEVICES))})"
        )


def check_cores(settings: Settings) -> None:
    """Refuse a race whose values would depend on how many cores each pull happens to have."""
    check_timed(settings.evaluate, settings.rules, settings.options, settings.available)


def check_run(settings: Settings) -> None:
    """Refuse what cannot be run in this way, whether the race is new or resumes."""
    engine, rules, arms = settings.engine, settings.rules, len(settings.arms)
    if isinstance(settings.evaluate, Command) and not engine.abilities.commands:
        raise InvalidInput(f"the engine {engine.name!r} runs functions, not commands: use another")
    if rules.timeout < math.inf and not engine.abilities.kill:
        raise InvalidInput(
            f"the engine {engine.name!r} cannot end a pull that takes too long: leave timeout out"
        )
    if settings.options["memory_per_pull"] and not engine.abilities.memory:
        raise InvalidInput(
            f"the engine {engine.name!r} cannot keep memory for pulls: leave memory_per_pull out, "
            "and give each more cores instead"
        )
    check_unit(engine, settings.options["unit"])
    if settings.goal.max_pulls < arms:
        raise InvalidInput(
            f"max_pulls={settings.goal.max_pulls:g} is less than one pull for each of the {arms} "
            f"arms: raise it to {arms} at least"
        )


def _scaling(
    given: Scaling | RecordedScaling | None, rules: Rules
) -> tuple[CorePool | None, CorePool | None]:
    """The pool, if τ is known in seconds; else its shape, if that is known.

    PowerLaw(0.5) says how the seconds of a pull fall with its cores, but not their level.
    """
    if given is None:
        return None, None
    if isinstance(given, RecordedScaling):
        pool = rules.pool(given.seconds)
        return (pool, None) if given.exact else (None, pool)
    if not isinstance(given, CorePool):
        return None, rules.pool(lambda cores: float(given.seconds(rules.cores / cores)))
    if given.cores != rules.cores:
        raise InvalidInput(
            f"the scaling is for {given.cores} cores, but the pool has {rules.cores}: "
            f"give cores={given.cores}, or another scaling"
        )
    table = given.runtime_seconds
    return rules.pool(lambda cores: float(table[cores - 1])), None
