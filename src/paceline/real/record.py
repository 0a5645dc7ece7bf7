"""The race in its journal: the header that says what it is, and how it is taken up again."""

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.core.arrays import Ints
from paceline.core.delays import Delays
from paceline.core.noise import Noise
from paceline.core.noise.catalog import from_json as noise_from_json
from paceline.core.pool import CorePool
from paceline.core.rounds import Conditions
from paceline.durations import Deadline
from paceline.engines.dispatch import Dispatcher, Ended, Rules
from paceline.engines.ledger import Snapshot
from paceline.errors import InvalidInput
from paceline.journal import FORMAT, Record
from paceline.machine import AvailableCores
from paceline.policies.base import Policy
from paceline.policies.catalog import POLICIES
from paceline.real.settings import Settings

_SEEDS_ONLY = "seeds only"  # arms share them, and are not judged as pairs


@dataclass(frozen=True)
class Plan:
    """What a policy is started with: on which arms, by which λ and noise, until when."""

    racing: Ints
    pool: CorePool
    noise: Noise
    deadline: float | None  # on the policy's clock
    shift: float  # what its clock is behind the race's
    delays: Delays | None  # how pulls keep to λ
    rounds: tuple[Ended, ...] = ()  # those it was told of, if it was started before

    def to_json(self) -> Record:
        """The record of its start."""
        return {
            "kind": "plan",
            "arms": self.racing.tolist(),
            "pool": self.pool.to_json(),
            "noise": self.noise.to_json(),
            "deadline": self.deadline,
            "shift": self.shift,
            "delays": None if self.delays is None else self.delays.to_json(),
        }

    @classmethod
    def from_json(cls, record: Record, rounds: Sequence[tuple[Record, Snapshot | None]]) -> "Plan":
        """The plan of a record, with the rounds that were recorded after it."""
        first = pool = CorePool.from_json(record["pool"])
        at_start = delays = _delays(record.get("delays"))
        told = []
        for one, known in rounds:
            # The same pool stays the same object: a policy sees by that whether λ is another.
            if one.get("pool") is not None and one["pool"] != pool.to_json():
                pool = CorePool.from_json(one["pool"])
            delays = _delays(one.get("delays")) or delays
            told.append(Ended(Conditions(one["seconds"], pool, delays), known))
        return cls(
            racing=np.array(record["arms"], dtype=np.int64),
            pool=first,
            noise=noise_from_json(record["noise"]),
            deadline=record["deadline"],
            shift=record["shift"],
            delays=at_start,
            rounds=tuple(told),
        )


@dataclass
class Past:
    """What earlier sessions of a race left behind."""

    elapsed: float = 0.0
    plan: Plan | None = None
    warnings: dict[str, str] = field(default_factory=dict)  # by what they are about


def header_of(settings: Settings) -> Record:
    """What a race is (which must not change) and how it was to be run (which may)."""
    noise = settings.noise.to_json()
    header = {
        "kind": "race",
        "format": FORMAT,
        "problem": {
            "what": _name_of(settings.what),
            "arms": _arms_of(settings),
            "direction": "minimize" if settings.minimize else "maximize",
            "confidence": settings.confidence,
            "top": settings.top,
            "tolerance": settings.tolerance,
            "noise": noise["kind"],
            "bounds": noise["bounds"],
            "sigma": noise["sigma"],
            "paired": _SEEDS_ONLY if settings.shared_seeds > settings.paired else settings.paired,
            "policy": _policy_json(settings.policy),
            "seed": settings.seed,
        },
        "options": options_of(settings),
        "labels": list(settings.labels),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }
    # As it will be read again, so that it can be compared: numpy's numbers and tuples are others.
    plain: Record = json.loads(json.dumps(header, default=_plain))
    return plain


def options_of(settings: Settings) -> Record:
    """How a race is to be run: what may be another when it is taken up again."""
    deadline, rules = settings.deadline, settings.rules
    moment = None if deadline is None else deadline.moment
    return {
        "deadline": None if deadline is None else deadline.seconds,
        "moment": None if moment is None else moment.isoformat(),
        "cores": rules.cores,
        "cores_per_pull": [rules.least_cores, rules.most_cores],
        "pool": None if settings.pool is None else settings.pool.to_json(),
        "shape": None if settings.shape is None else settings.shape.to_json(),
        "retries": rules.retries,
        "timeout": rules.timeout if math.isfinite(rules.timeout) else None,
        "on_failure": settings.on_failure,
        "max_pulls": settings.max_pulls if math.isfinite(settings.max_pulls) else None,
    }


def checked_header(records: Sequence[Record], path: Path) -> Record:
    """The header of a journal, if it is one that can be read."""
    if not records:
        raise InvalidInput(f"{path} is empty: no race has begun there")
    header = records[0]
    if not {"problem", "options", "labels", "format"} <= header.keys():
        raise InvalidInput(f"{path} does not begin as a journal does: give another path")
    if header["format"] != FORMAT:
        raise InvalidInput(
            f"{path} has format {header['format']}, this paceline reads {FORMAT}: use the version "
            "that wrote it"
        )
    return header


def check_same(header: Record, records: Sequence[Record], path: Path) -> None:
    """Refuse a journal that is of another race, and say in what it differs."""
    found = checked_header(records, path)
    for name, value in header["problem"].items():
        before = found["problem"].get(name)
        if before != value:
            raise InvalidInput(
                f"{path} is of another race: its {name} is {_short(before)}, here it is "
                f"{_short(value)}. Give another journal, or the same arguments"
            )


def as_recorded(settings: Settings, records: Sequence[Record]) -> Settings:
    """The same race; what the user left open is as in the journal, which may be of old."""
    if not records or not settings.pairing_open or "problem" not in records[0]:
        return settings
    paired = records[0]["problem"].get("paired", False)
    return replace(settings, shared_seeds=bool(paired), paired=paired is True)


def take_up(records: Sequence[Record], dispatcher: Dispatcher, settings: Settings) -> Past:
    """Give the dispatcher what was recorded, and say how far the race had come.

    If failures stopped the race, whoever takes it up has mended that: the arms are back in.
    """
    past = Past()
    out = {record.get("arm") for record in records if record["kind"] == "out"}
    stopped = settings.on_failure == "stop" or len(out) == len(settings.arms)
    rounds: list[tuple[Record, Snapshot | None]] = []
    plan: Record | None = None
    for record in records[1:]:
        kind = record["kind"]
        past.elapsed = max(past.elapsed, record.get("at", 0.0))
        if kind == "plan":
            plan, rounds = record, []
        elif kind == "warning":
            past.warnings[record["about"]] = record["text"]
        elif kind == "round":
            known = dispatcher.ledger.snapshot() if record.get("boxed") else None
            rounds.append((record, known))
        else:
            if kind == "out":
                plan, rounds = None, []  # the race goes on without that arm
            try:
                dispatcher.restore(record, forgive=stopped)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise InvalidInput(
                    f"the journal is damaged: it has a record {_short(record)}. Remove that line"
                ) from error
    dispatcher.restored()
    if plan is not None:
        past.plan = Plan.from_json(plan, rounds)
    return past


def deadline_changed(records: Sequence[Record], settings: Settings) -> bool:
    """Whether the deadline is another than the last time."""
    before, now = latest_options(records), options_of(settings)
    return bool((before["moment"] or before["deadline"]) != (now["moment"] or now["deadline"]))


def session_record(past: Past, settings: Settings) -> Record:
    """The note that a process takes the race up, where, and under which options."""
    return {
        "kind": "session",
        "at": past.elapsed,
        "options": options_of(settings),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "process": os.getpid(),
    }


def policy_from_json(plain: Record) -> Policy:
    """The policy that a header names."""
    kind = POLICIES.get(plain["name"])
    if kind is None:
        raise InvalidInput(
            f"the race was run with a policy of its own, {plain['name']!r}: resume it from Python"
        )
    return kind(**plain["options"])


def latest_options(records: Sequence[Record]) -> Record:
    """How the race was run the last time."""
    sessions = [record for record in records if record["kind"] == "session"]
    options: Record = (sessions or records)[-1 if sessions else 0]["options"]
    return options


def settings_of(
    records: Sequence[Record], machine: AvailableCores, policy: Policy | None = None
) -> Settings:
    """The race of a journal, with its latest options; of a function only the name is known.

    `policy` takes the place of the one in the journal, which may be the user's own.
    """
    header = records[0]
    problem, options = header["problem"], latest_options(records)
    least, most = options["cores_per_pull"]
    moment = options["moment"]
    deadline = None
    if options["deadline"] is not None:
        moment = None if moment is None else datetime.fromisoformat(moment)
        deadline = Deadline(options["deadline"], moment)
    what = problem["what"]
    labels = tuple(header["labels"])
    noise = noise_from_json({**problem, "kind": problem["noise"]})
    return Settings(
        what=what if isinstance(what, str) else Command.from_json(what),
        arms=labels if isinstance(what, str) else tuple(problem["arms"]),
        labels=labels,
        confidence=problem["confidence"],
        deadline=deadline,
        minimize=problem["direction"] == "minimize",
        top=problem["top"],
        tolerance=problem["tolerance"],
        noise=noise,
        shared_seeds=bool(problem["paired"]),
        paired=problem["paired"] is True,
        pairing_open=False,
        rules=Rules(
            options["cores"],
            least,
            most,
            options["retries"],
            math.inf if options["timeout"] is None else options["timeout"],
            noise.allowed,
        ),
        machine=machine,
        pool=None if options["pool"] is None else CorePool.from_json(options["pool"]),
        shape=None if options["shape"] is None else CorePool.from_json(options["shape"]),
        policy=policy or policy_from_json(problem["policy"]),
        seed=problem["seed"],
        on_failure=options["on_failure"],
        max_pulls=math.inf if options["max_pulls"] is None else options["max_pulls"],
    )


def _policy_json(policy: Policy) -> Record:
    options = {one.name: getattr(policy, one.name) for one in fields(policy)}  # type: ignore[arg-type]
    named = {key: _name_of(value) if callable(value) else value for key, value in options.items()}
    return {"name": policy.name, "options": named}


def _name_of(what: Any) -> Any:
    if isinstance(what, Command):
        return what.to_json()
    name = getattr(what, "__qualname__", None) or type(what).__qualname__
    return f"function {name}"


def _arms_of(settings: Settings) -> list[Any]:
    """The arms of a command as they are; of a function, what tells them from others."""
    if isinstance(settings.what, Command):
        return [dict(arm) for arm in settings.arms]
    texts = (re.sub(r" at 0x[0-9a-f]+", "", repr(arm)) for arm in settings.arms)
    return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


def _delays(numbers: Sequence[float] | None) -> Delays | None:
    return None if numbers is None else Delays.from_json(numbers)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
