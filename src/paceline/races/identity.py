"""What a race is: written to its journal at the start, compared when the race is resumed."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from paceline.commands import Command
from paceline.errors import InvalidInput
from paceline.journal.records import FORMAT, RaceBegun, RaceEnded, Record, SessionBegun
from paceline.machine import AvailableCores
from paceline.races.forms import Pairing, name_of
from paceline.races.labels import without_addresses
from paceline.races.options import OPTIONS
from paceline.races.settings import Settings, assemble


def header_of(settings: Settings) -> RaceBegun:
    """The first record of a race."""
    what = {"what": name_of(settings.evaluate), "arms": _arms_of(settings)}
    return RaceBegun(
        format=FORMAT,
        problem=_plain(what | _recorded(settings, "race")),
        options=_plain(_recorded(settings, "session")),
        labels=settings.labels,
        started=_now(),
        versions={"python": platform.python_version(), "numpy": np.__version__},
    )


def session_of(settings: Settings, elapsed: float) -> SessionBegun:
    """The record of a process that runs the race: where, and with which options."""
    return SessionBegun(
        at=elapsed,
        options=_plain(_recorded(settings, "session")),
        cores=settings.rules.cores,
        started=_now(),
        host=platform.node(),
        process=os.getpid(),
    )


def header_in(records: Sequence[Record], path: Path) -> RaceBegun:
    """The header of a journal."""
    if not records or not isinstance(records[0], RaceBegun):
        raise InvalidInput(f"{path} is empty: no race has begun there")
    return records[0]


def check_same(settings: Settings, records: Sequence[Record], path: Path) -> Settings:
    """Refuse the journal of another race, and say how it differs.

    In the returned settings, what the user left open is as it was when the race began.
    """
    found = header_in(records, path).problem
    if settings.options["paired"] is None:
        settings = replace(settings, pairing=Pairing.from_json(found.get("paired", False)))
    for name, value in header_of(settings).problem.items():
        if found.get(name) != value:
            raise InvalidInput(
                f"{path} belongs to another race: that one has {name}={short(found.get(name))}, "
                f"this one has {name}={short(value)}. Give another journal, or the same arguments"
            )
    return settings


def ending_in(records: Sequence[Record]) -> RaceEnded | None:
    """How the race ended; None if it has not, or if it was resumed since."""
    last = records[-1] if records else None
    return last if isinstance(last, RaceEnded) else None


def latest_options(records: Sequence[Record]) -> dict[str, Any]:
    """The options of the last session."""
    begun = [one for one in records if isinstance(one, RaceBegun | SessionBegun)]
    return begun[-1].options


def deadline_changed(settings: Settings, records: Sequence[Record]) -> bool:
    """Whether the deadline differs from that of the last session."""
    before = latest_options(records)["deadline"] or {}
    now = _plain(_recorded(settings, "session"))["deadline"] or {}
    if before.get("moment") or now.get("moment"):
        return bool(before.get("moment") != now.get("moment"))
    return bool(before.get("seconds") != now.get("seconds"))


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
        sessions = [one.cores for one in records if isinstance(one, SessionBegun)]
        cores = (sessions[-1] if sessions else 0) or options["cores"] or 1
        available = AvailableCores(cores, "as recorded", ())
    return assemble(evaluate, arms, header.labels, options, available)


def short(value: Any) -> str:
    """A value as text, cut off if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _recorded(settings: Settings, kept: Literal["race", "session"]) -> dict[str, Any]:
    return {
        option.name: option.recorded(settings) for option in OPTIONS.values() if option.kept == kept
    }


def _arms_of(settings: Settings) -> list[Any]:
    """The arms of a command as they are; those of a function as hashes."""
    if isinstance(settings.evaluate, Command):
        return [dict(arm) for arm in settings.arms]
    texts = (without_addresses(repr(arm)) for arm in settings.arms)
    return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The values as they will be read back, to be compared: numpy's numbers and tuples differ."""
    plain: dict[str, Any] = json.loads(json.dumps(value, default=_plain_value))
    return plain


def _plain_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
