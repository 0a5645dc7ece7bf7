"""What a user asked of a race, checked: everything that can be refused is refused here."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.core.arrays import failure_probability, non_negative, positive, whole
from paceline.core.delays import Delays
from paceline.core.evaluated import takes
from paceline.core.noise import Noise
from paceline.core.noise.catalog import checked
from paceline.core.pool import CorePool
from paceline.core.scaling import Scaling
from paceline.durations import Deadline, deadline_of, seconds_of
from paceline.engines.dispatch import NO_IDEA, Rules, make_pool
from paceline.errors import InvalidInput, unknown_name
from paceline.machine import AvailableCores
from paceline.policies.base import Policy, Task
from paceline.policies.catalog import find_policy

_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Settings:
    """A race, ready to be run."""

    what: Callable[..., Any] | Command | str  # a function of which only the name is known
    arms: tuple[Any, ...]
    labels: tuple[str, ...]
    confidence: float | None
    deadline: Deadline | None
    minimize: bool
    top: int
    tolerance: float
    noise: Noise
    shared_seeds: bool  # whether the k-th pulls of all arms have one seed
    paired: bool  # whether they are judged as pairs
    pairing_open: bool  # whether the user left that to us
    rules: Rules
    machine: AvailableCores
    pool: CorePool | None  # None: τ is learned, or its level is
    shape: CorePool | None
    policy: Policy
    seed: int
    on_failure: str
    max_pulls: float

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
            confidence=self.confidence,
            deadline=deadline,
            top=self.top,
            tolerance=self.tolerance,
            noise=noise.negated() if self.minimize else noise,
            paired=self.paired,
            arms_at_start=len(self.arms),
            delays=delays,
            seed=self.seed,
        )


def settle(
    evaluate: Callable[..., Any] | Command,
    arms: Sequence[Any],
    *,
    confidence: float | None,
    deadline: Any,
    direction: str,
    top: int,
    tolerance: float,
    noise: str,
    bounds: Sequence[float] | None,
    sigma: float | None,
    paired: bool | None,
    cores: int | None,
    cores_per_pull: int | tuple[int, int] | None,
    scaling: Scaling | None,
    policy: str | Policy | None,
    seed: int,
    retries: int,
    timeout: Any,
    on_failure: str,
    max_pulls: float | None,
    machine: AvailableCores,
) -> Settings:
    """Check all arguments of a race, and work out what they leave open."""
    candidates = _arms(arms)
    if not (paired is None or isinstance(paired, bool)):
        raise InvalidInput(f"paired must be True, False or None, got {paired!r}")
    _check_what(evaluate, candidates, paired=bool(paired))
    if direction not in ("maximize", "minimize"):
        raise unknown_name("direction", direction, ("maximize", "minimize"))
    if on_failure not in ("drop-arm", "stop"):
        raise unknown_name("on_failure", on_failure, ("drop-arm", "stop"))
    if confidence is None and deadline is None:
        confidence = 0.95
    until = None if deadline is None else deadline_of(deadline, datetime.now().astimezone())
    rules = _rules(machine, cores, cores_per_pull, retries, timeout)
    if isinstance(evaluate, Command) and evaluate.value.kind == "time":
        _check_timing(rules)
    assumed = checked(noise, bounds, sigma)
    rules = replace(rules, allowed=assumed.allowed)
    chosen = find_policy(policy, deadline_only=confidence is None)
    pairing_open, shared = paired is None, bool(paired)
    if paired is None:
        shared = _may_share(evaluate, candidates, assumed)
        # To a deadline a stage would have to wait for both of a pair, and means gain by it anyway.
        paired = shared and confidence is not None and chosen.judges_pairs
        shared = paired or (shared and confidence is None)
    settings = Settings(
        what=evaluate,
        arms=candidates,
        labels=_labels(candidates),
        confidence=_confidence(confidence),
        deadline=until,
        minimize=direction == "minimize",
        top=whole(top, "top"),
        tolerance=non_negative(tolerance, "tolerance"),
        noise=assumed,
        shared_seeds=shared,
        paired=paired,
        pairing_open=pairing_open,
        rules=rules,
        machine=machine,
        pool=_pool(scaling, rules) if isinstance(scaling, CorePool) else None,
        shape=None if isinstance(scaling, CorePool | None) else _shape(scaling, rules),
        policy=chosen,
        seed=whole(seed, "seed", least=0),
        on_failure=on_failure,
        max_pulls=math.inf if max_pulls is None else positive(max_pulls, "max_pulls"),
    )
    known = settings.pool or NO_IDEA
    seconds = None if until is None else until.seconds
    chosen.start(settings.task(len(candidates), known, assumed, seconds))  # an unfit one is refused
    if settings.max_pulls < math.inf and settings.max_pulls % 1:
        raise InvalidInput(f"max_pulls must be a whole number, got {max_pulls!r}")
    if settings.max_pulls < len(candidates):
        raise InvalidInput(
            f"max_pulls={max_pulls} is less than one pull for each of the {len(candidates)} arms: "
            f"raise it to {len(candidates)} at least"
        )
    return settings


def label_of(arm: Any) -> str:
    """An arm in a few words.

    >>> label_of({"x": 4, "mode": "fast"}), label_of(0.5), label_of("adam")
    ('x=4 mode=fast', '0.5', 'adam')
    """
    if isinstance(arm, str):
        text = arm
    elif isinstance(arm, Mapping) or hasattr(arm, "_asdict"):  # or a named tuple
        arm = arm if isinstance(arm, Mapping) else arm._asdict()
        text = " ".join(f"{key}={value}" for key, value in arm.items())
        text = text.removeprefix("command=") if len(arm) == 1 else text  # it speaks for itself
    else:
        name = getattr(arm, "__name__", None)
        plain = arm.item() if isinstance(arm, np.generic) else arm
        text = name if isinstance(name, str) else repr(plain)
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))  # an address says nothing
    if len(text) <= _LONGEST_LABEL:
        return text
    return (
        f"{text[: _LONGEST_LABEL // 2]}…{text[1 - _LONGEST_LABEL // 2 :]}"  # they differ anywhere
    )


def _confidence(value: float | None) -> float | None:
    if value is not None:
        failure_probability(value)
    return None if value is None else float(value)


def _labels(arms: Sequence[Any]) -> tuple[str, ...]:
    """A label for every arm; where two would be the same, with their numbers."""
    labels = [label_of(arm) for arm in arms]
    often = Counter(labels)
    return tuple(
        f"{label} #{number}" if often[label] > 1 else label for number, label in enumerate(labels)
    )


def _arms(arms: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(arms, str | bytes | Mapping | Set) or not hasattr(arms, "__iter__"):
        raise InvalidInput(f"arms must be a list of candidates, got {arms!r}")
    candidates = tuple(arms)
    if len(candidates) < 2:
        raise InvalidInput(
            f"there {'is only one arm' if candidates else 'are no arms'}: give at least two "
            "candidates"
        )
    return candidates


def _check_what(evaluate: Any, arms: Sequence[Any], *, paired: bool) -> None:
    if isinstance(evaluate, Command):
        odd = next((arm for arm in arms if not isinstance(arm, Mapping)), None)
        if odd is not None:
            raise InvalidInput(
                f"the arms of a command are tables of its parameters, {{'x': 1}} say: got {odd!r}"
            )
        evaluate.check(arms, paired=paired)
        return
    if not callable(evaluate):
        raise InvalidInput(f"evaluate must be a function of an arm, or a Command: got {evaluate!r}")
    if paired and not takes(evaluate, "seed"):
        raise InvalidInput(
            "paired=True gives the k-th pulls of all arms one seed, but evaluate takes none: "
            "write evaluate(arm, *, seed)"
        )


def _may_share(evaluate: Callable[..., Any] | Command, arms: Sequence[Any], noise: Noise) -> bool:
    """Whether pulls of all arms can have the same seeds, and it does not cost much if they do."""
    if not noise.sharing_costs_little:
        return False
    if not isinstance(evaluate, Command):
        return takes(evaluate, "seed")
    try:
        evaluate.check(arms, paired=True)
    except InvalidInput:  # it takes no seed, or two arms would write the same file
        return False
    return True


def _rules(
    machine: AvailableCores,
    cores: int | None,
    per_pull: int | tuple[int, int] | None,
    retries: int,
    timeout: Any,
) -> Rules:
    pool = machine.cores if cores is None else whole(cores, "cores")
    if per_pull is None:
        least, most = 1, pool
    elif isinstance(per_pull, Sequence) and not isinstance(per_pull, str):
        if len(per_pull) != 2:
            raise InvalidInput(f"cores_per_pull must be a number or (least, most): {per_pull!r}")
        least = whole(per_pull[0], "the least of cores_per_pull")
        most = whole(per_pull[1], "the most of cores_per_pull")
    else:
        least = most = whole(per_pull, "cores_per_pull")
    if least > most:
        raise InvalidInput(f"cores_per_pull runs from {least} down to {most}: swap them")
    if least > pool:
        size = f"cores={pool}" if cores is not None else str(machine)
        raise InvalidInput(
            f"a pull wants {least} cores and the pool has {size}: lower cores_per_pull, or "
            "raise cores"
        )
    limit = math.inf if timeout is None else seconds_of(timeout, "timeout")
    return Rules(pool, least, min(most, pool), whole(retries, "retries", least=0), limit)


def _check_timing(rules: Rules) -> None:
    if rules.least_cores != rules.most_cores:
        raise InvalidInput(
            "the value is the command's own time, which depends on its cores: fix them with "
            "cores_per_pull=1, say"
        )


def _pool(scaling: CorePool, rules: Rules) -> CorePool:
    """A pool that was given, in seconds; with no more and no fewer cores to a pull than allowed."""
    if scaling.cores != rules.cores:
        raise InvalidInput(
            f"the scaling is of {scaling.cores} cores, the pool has {rules.cores}: "
            f"give cores={scaling.cores}, or another scaling"
        )
    table = scaling.runtime_seconds
    return make_pool(lambda cores: float(table[cores - 1]), rules)


def _shape(scaling: Any, rules: Rules) -> CorePool:
    """How the seconds of a pull fall with its cores; PowerLaw(0.5) says nothing of their level."""
    if not isinstance(scaling, Scaling):
        raise InvalidInput(f"scaling must be a Scaling such as PowerLaw(0.5), got {scaling!r}")
    return make_pool(lambda cores: scaling.seconds(rules.cores / cores), rules)
