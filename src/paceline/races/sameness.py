"""Whether a journal belongs to the race at hand: the same work, the same arms, the same goal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from paceline.core.words import listed
from paceline.errors import InvalidInput
from paceline.journal.records import RaceBegun, Record
from paceline.races.advice import can_read
from paceline.races.fingerprint import differs
from paceline.races.forms import Pairing, read_policy
from paceline.races.identity import (
    header_in,
    header_of,
    latest_options,
    latest_work,
    old_arms_of,
    work_in,
)
from paceline.races.option import Option
from paceline.races.options import OPTIONS
from paceline.races.resuming import short
from paceline.races.settings import Settings

_MOST_NAMED = 4
_HOW_TO_ACCEPT = (
    "Undo that, or give another journal. Or resume with accept_changes=True (--accept-changes): "
    "old and new results are then judged together"
)


class Checked(NamedTuple):
    """A race that belongs to its journal; what it left open is as it was when the race began."""

    settings: Settings
    changed: str  # what has changed since, which was accepted; "" if nothing has
    work: dict[str, Any]  # its arms and its fingerprint now


def check_same(settings: Settings, records: Sequence[Record], path: Path) -> Checked:
    """Refuse the journal of another race, and say how it differs."""
    header = header_in(records, path)
    if settings.options["paired"] is None:
        pairing = Pairing.from_json(header.problem.get("paired", False))
        settings = replace(settings, pairing=pairing)
    recorded = header.problem["policy"]
    if settings.options["policy"] is None and can_read(recorded):
        # The default depends on the goals, and was another one in earlier versions.
        settings = replace(settings, policy=read_policy(recorded))
    now = header_of(settings)
    _check_name(header, now, path)
    found = list(_changes(header, latest_work(records), now, settings, path))
    changed = listed(found, _MOST_NAMED)
    if changed and not settings.options["accept_changes"]:
        raise InvalidInput(f"{path} is of the same race before {changed} changed. {_HOW_TO_ACCEPT}")
    known = header.problem | latest_options(records)
    for name, option in OPTIONS.items():
        if option.kept == "race":
            check_change(option, known.get(name), now.problem[name], path)
    return Checked(settings, changed, work_in(now))


def check_change(option: Option, was: Any, now: Any, path: Path) -> None:
    """Refuse a change of what the race is; `was` and `now` are recorded values."""
    if was == now or option.on_resume.allows(was, now):
        return
    say, name, only = option.on_resume.say, option.name, option.on_resume.only
    may = f"a resume may change it only if it is {only}" if only else "a resume cannot change it"
    why = ""
    if only and None not in (was, now):
        why = ", because a goal that is relaxed after a look at the values guarantees nothing"
    raise InvalidInput(
        f"{path} belongs to another race: that one has {name}={say(was)}, this one has "
        f"{name}={say(now)}. {name} is part of what the race is; {may}{why}. Give "
        f"{name}={say(was)}, or another journal"
    )


def _check_name(header: RaceBegun, now: RaceBegun, path: Path) -> None:
    """The same function by name, or the same command."""
    was, what = header.problem["what"], now.problem["what"]
    if was == what:
        return
    is_command = isinstance(was, dict), isinstance(what, dict)
    if is_command == (True, True):
        name = next(key for key in what if was.get(key) != what[key])
        was, what = was.get(name), what[name]
    else:
        name = "evaluate"
        was, what = (" ".join(one["words"]) if isinstance(one, dict) else one
                     for one in (was, what))  # fmt: skip
    raise InvalidInput(
        f"{path} belongs to another race: that one has {name}={short(was)}, this one has "
        f"{name}={short(what)}. Give another journal, or the same arguments"
    )


def _changes(
    header: RaceBegun, was: Mapping[str, Any], now: RaceBegun, settings: Settings, path: Path
) -> Iterator[str]:
    """What is not as it was though it has the same name: arms, parts of a function, files."""
    before, mark = was["fingerprint"], now.problem["fingerprint"]
    arms = now.problem["arms"]
    if before is None and isinstance(now.problem["what"], str):  # a journal of an earlier version
        arms = old_arms_of(settings)
    elif before is not None and before["scheme"] != mark["scheme"]:  # or of a later one
        before, arms = None, was["arms"] if header.labels == now.labels else arms
    yield from _changed_arms(header.labels, was["arms"], now.labels, arms, path)
    before = before or mark
    parts = _changed(before.get("parts", {}), mark.get("parts", {}))
    if parts:
        yield f"the {now.problem['what']} ({listed(parts, _MOST_NAMED)})"
    for name in _changed(before.get("files", {}), mark.get("files", {})):
        yield f"the file {name}"


def _changed_arms(
    old_labels: Sequence[str],
    was: Sequence[Any],
    labels: Sequence[str],
    arms: Sequence[Any],
    path: Path,
) -> Iterator[str]:
    if len(was) != len(arms):
        raise InvalidInput(
            f"{path} belongs to another race: that one has {len(was)} arms, this one has "
            f"{len(arms)}. Give another journal, or the same arms"
        )
    for number, (one, other) in enumerate(zip(was, arms, strict=True)):
        if one == other or (isinstance(one, str) and not differs(one, str(other))):
            continue
        old, new = old_labels[number], labels[number]
        if old == new and isinstance(one, str):
            yield f'the content of arm {number}, "{new}"'
            continue
        if old == new:  # of a command: a number and a text, say
            old, new = short(one), short(other)
        raise InvalidInput(
            f'{path} belongs to another race: arm {number} was "{old}" there and is "{new}" here. '
            "Give another journal, or the same arms in the same order"
        )


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of what differs, or is only in one of them."""
    names = dict.fromkeys((*before, *now))
    return [
        name
        for name in names
        if name not in before or name not in now or differs(before[name], now[name])
    ]
