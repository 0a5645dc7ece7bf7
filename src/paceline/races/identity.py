"""What a race is: written to its journal at the start, compared when the race is resumed."""

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np

from paceline.commands import Command
from paceline.core.words import listed
from paceline.engines.manual import by_hand
from paceline.errors import InvalidInput
from paceline.journal.records import FORMAT, RaceBegun, RaceEnded, Record, SessionBegun
from paceline.machine import AvailableCores
from paceline.races.code import home_of
from paceline.races.fingerprint import SCHEME, fingerprints, parts_of
from paceline.races.forms import name_of
from paceline.races.labels import without_addresses
from paceline.races.option import Option
from paceline.races.options import OPTIONS
from paceline.races.parameters import parameters_of
from paceline.races.pool import RECORDED
from paceline.races.scripts import files_of
from paceline.races.settings import Settings, assemble

_MOST_UNKNOWN = 4


def header_of(settings: Settings) -> RaceBegun:
    """The first record of a race."""
    what = {"what": name_of(settings.evaluate)} | _content(settings)
    return RaceBegun(
        format=FORMAT,
        problem=plain(what | _recorded(settings, lambda option: option.kept == "race")),
        options=plain(_recorded(settings, lambda option: option.kept == "session")),
        labels=settings.labels,
        started=now(),
        versions=versions(),
        parameters=None if isinstance(settings.evaluate, Command) else _parameters(settings),
    )


def versions() -> dict[str, str]:
    """Of what has a say in the values of a race."""
    return {"python": platform.python_version(), "numpy": np.__version__}


def given_options(settings: Settings) -> dict[str, Any]:
    """The options of a race that are not their defaults, as plain values."""
    given = _recorded(settings, lambda option: bool(option.kept))
    return plain({k: v for k, v in given.items() if settings.options[k] != OPTIONS[k].default})


def _parameters(settings: Settings) -> list[dict[str, Any]] | None:
    if not settings.parameters:
        return None
    given = [{} if one is None else dict(one) for one in settings.parameters]
    try:
        return cast("list[dict[str, Any]]", plain({"parameters": given})["parameters"])
    except (TypeError, ValueError):  # numbers that JSON does not have
        return None


def session_of(settings: Settings, elapsed: float) -> SessionBegun:
    """The record of a process that runs the race: where, and with which options."""
    return SessionBegun(
        at=elapsed,
        options=plain(_recorded(settings, lambda option: option.kept and option.in_resume)),
        cores=settings.rules.cores,
        nodes=settings.rules.nodes if len(settings.rules.nodes) > 1 else (),
        started=now(),
        host=platform.node(),
        process=os.getpid(),
    )


def header_in(records: Sequence[Record], path: Path) -> RaceBegun:
    """The header of a journal."""
    if not records or not isinstance(records[0], RaceBegun):
        raise InvalidInput(f"{path} is empty: no race has begun there")
    return records[0]


def ending_in(records: Sequence[Record]) -> RaceEnded | None:
    """How the race ended; None if it has not, or if it was resumed since."""
    last = records[-1] if records else None
    return last if isinstance(last, RaceEnded) else None


def latest_options(records: Sequence[Record]) -> dict[str, Any]:
    """The options of the last session."""
    begun = [one for one in records if isinstance(one, RaceBegun | SessionBegun)]
    return begun[-1].options


def latest_work(records: Sequence[Record]) -> dict[str, Any]:
    """The arms and the fingerprint of what was raced last, with the changes that were accepted."""
    works = [one.work for one in records if isinstance(one, SessionBegun) and one.work]
    header = records[0]
    assert isinstance(header, RaceBegun)
    return works[-1] if works else work_in(header)


def work_in(header: RaceBegun) -> dict[str, Any]:
    """The arms and the fingerprint of a race; journals of earlier versions have no fingerprint."""
    return {"arms": header.problem["arms"], "fingerprint": header.problem.get("fingerprint")}


def needs_new_plan(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a session with these recorded options cannot follow the plan of the one before.

    The policy then starts anew, and hears of all values again, from the first on. A date as a
    deadline has come nearer meanwhile, even if it is the same date.
    """
    if any(before.get(name) != now.get(name) for name in ("confidence", "tolerance")):
        return True
    was, is_now = before.get("deadline") or {}, now.get("deadline") or {}
    return bool(is_now.get("moment") or was.get("seconds") != is_now.get("seconds"))


def recalled_options(
    records: Sequence[Record], given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The options of a recorded race, as in its last session, except for those given now."""
    header = records[0]
    assert isinstance(header, RaceBegun)
    known = header.problem | latest_options(records)
    given = given or {}
    return {
        name: given[name]
        if name in given
        else option.recall(known[name])
        if name in known
        else option.default
        for name, option in OPTIONS.items()
    }


def recalled_settings(
    records: Sequence[Record],
    options: Mapping[str, Any],
    available: AvailableCores | None = None,
) -> Settings:
    """The settings of a recorded race; of a function only the name is known.

    Without `available`, the race has the cores of its last session.
    """
    header = records[0]
    assert isinstance(header, RaceBegun)
    what = header.problem["what"]
    evaluate = what if isinstance(what, str) else Command.from_json(what)
    arms = header.labels if isinstance(what, str) else tuple(header.problem["arms"])
    if available is None:
        sessions = [one for one in records if isinstance(one, SessionBegun)]
        cores = (sessions[-1].cores if sessions else 0) or options["cores"] or 1
        nodes = sessions[-1].nodes if sessions else ()
        available = AvailableCores(cores, RECORDED, (), nodes)
    settings = assemble(evaluate, arms, header.labels, options, available)
    known = header.parameters if isinstance(what, str) else header.problem["arms"]
    return replace(settings, parameters=parameters_of(known or ()))


def old_arms_of(settings: Settings) -> list[Any]:
    """The arms of a function as journals kept them before they had fingerprints."""
    texts = (without_addresses(repr(arm)) for arm in settings.arms)
    return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


def _recorded(settings: Settings, wanted: Callable[[Option], Any]) -> dict[str, Any]:
    return {one.name: one.recorded(settings) for one in OPTIONS.values() if wanted(one)}


def _content(settings: Settings) -> dict[str, Any]:
    """The arms and the fingerprint of a race, for its header.

    The arms of a command are kept as they are, those of a function as hashes.
    """
    if isinstance(settings.evaluate, Command):
        files = files_of(settings.evaluate, settings.arms)
        arms: list[Any] = [dict(arm) for arm in settings.arms]
        return {"arms": arms, "fingerprint": {"scheme": SCHEME, "files": files}}
    # Pulls by hand are at home nowhere: all code of the arms that is no library's counts.
    home = None if settings.evaluate is by_hand else home_of(settings.evaluate)
    prints = fingerprints(settings.arms, home)
    parts = {} if isinstance(settings.evaluate, str) else parts_of(settings.evaluate)
    unknown = [
        *(f"{name} holds a {kind}" for name, one in parts.items() for kind in one.unknown),
        *(
            f'arm {number}, "{label}", holds a {kind}'
            for number, (label, one) in enumerate(zip(settings.labels, prints, strict=True))
            for kind in one.unknown
        ),
    ]
    mark: dict[str, Any] = {"scheme": SCHEME, "parts": {name: parts[name].text for name in parts}}
    if unknown:
        mark["unknown"] = listed(unknown, _MOST_UNKNOWN)
    return {"arms": [one.text for one in prints], "fingerprint": mark}


def plain(value: dict[str, Any]) -> dict[str, Any]:
    """The values as they will be read back, to be compared: numpy's numbers and tuples differ."""
    found: dict[str, Any] = json.loads(json.dumps(value, default=_plain_value))
    return found


def _plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def now() -> str:
    """The time by the calendar, as journals have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
