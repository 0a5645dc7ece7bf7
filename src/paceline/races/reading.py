"""From a journal back to a race: how it stands, and resuming it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.engines.catalog import ENGINES
from paceline.errors import InvalidInput, unknown_name
from paceline.journal import is_locked, read_records
from paceline.journal.records import RaceBegun, RaceEnded
from paceline.policies.catalog import POLICIES
from paceline.policies.uniform import Uniform
from paceline.races.identity import ending_in, header_in, recalled_options, recalled_settings
from paceline.races.options import OPTIONS
from paceline.races.running import replayed, run_race
from paceline.races.settings import check_run
from paceline.result import ArmRecord, Result, Standing, Status, ranked


@dataclass(frozen=True)
class JournalView:
    """What a journal says: the race, how it stands, and how it ended, if it has."""

    header: RaceBegun
    standing: Standing
    ending: RaceEnded | None
    running: bool  # whether a process is writing it
    resumes_alone: bool  # whether the journal says all that it takes to resume the race
    core_seconds: float  # of all pulls, also those that gave no value

    @property
    def chosen(self) -> tuple[int, ...]:
        """The best arms; of a race that ended undecided, those that lead."""
        if self.ending is None or self.ending.index < 0:
            return ()
        if self.ending.decided:
            return self.ending.arms
        still_in = [self.standing.arms[arm] for arm in self.ending.arms]
        leaders = ranked(still_in, minimize=self.standing.minimize)
        return tuple(record.index for record in leaders[: self.header.problem["top"]])


def read_journal(path: str | os.PathLike[str]) -> JournalView:
    """Say how the race of a journal stands, by replaying it up to its last record."""
    where = Path(path)
    records = read_records(where)
    header = header_in(records, where)
    known = header.problem["policy"]["name"] in POLICIES
    options = recalled_options(records, {} if known else {"policy": Uniform()})
    session = replayed(recalled_settings(records, options), records)
    if known:  # otherwise only the user's own policy can tell who is out
        session.run()
    standing = session.teller.standing(session.phase)
    ending = ending_in(records)
    if ending is not None and ending.decided:
        standing = replace(standing, arms=_decided(standing.arms, ending.arms))
    is_command = not isinstance(header.problem["what"], str)
    return JournalView(
        header,
        standing,
        ending,
        running=is_locked(where),
        resumes_alone=is_command and known and options["engine"] in ENGINES,
        core_seconds=session.books.core_seconds,
    )


def resume(path: str | os.PathLike[str], **changes: Any) -> Result:
    """Resume a race of commands from its journal.

    Options that say how the race is run may change: `deadline`, `max_pulls`, `cores` and others
    (docs/options.md lists them), `callbacks` and `progress`. What the race is cannot.
    """
    where = Path(path)
    records = read_records(where)
    header_in(records, where)
    checked: dict[str, Any] = {"journal": str(where)}
    for name, value in changes.items():
        if value is not None:
            checked[name] = _checked_change(name, value)
    options = recalled_options(records, checked)
    settings = recalled_settings(records, options)
    if not isinstance(settings.evaluate, Command):
        raise InvalidInput(
            f"{where} is a race of the Python {settings.evaluate}: run its script again, with "
            f"journal={str(where)!r}"
        )
    settings.evaluate.check(settings.arms, paired=settings.pairing.shares_seeds)
    settings = recalled_settings(records, options, settings.engine.available())
    check_run(settings)
    return run_race(settings)


def _checked_change(name: str, value: Any) -> Any:
    changeable = [
        one for one, option in OPTIONS.items() if option.kept != "race" and one != "journal"
    ]
    if name in changeable:
        return OPTIONS[name].check(value, name)
    if name in OPTIONS:
        raise InvalidInput(
            f"{name} is part of what the race is, and cannot change when it resumes: start "
            "another race for that"
        )
    raise unknown_name("argument", name, changeable)


def _decided(arms: Sequence[ArmRecord], best: Sequence[int]) -> tuple[ArmRecord, ...]:
    def status(record: ArmRecord) -> Status:
        if record.status == "failed":
            return "failed"
        return "best" if record.index in best else "out"

    return tuple(replace(record, status=status(record)) for record in arms)
