"""From a journal back to a race: how it stands, and going on with it."""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.arrays import positive, whole
from paceline.core.pool import CorePool
from paceline.durations import deadline_of
from paceline.engines.crew import NothingMore
from paceline.engines.dispatch import make_pool
from paceline.errors import InvalidInput
from paceline.journal import Record, is_locked, read_records
from paceline.machine import available_cores
from paceline.policies.catalog import POLICIES
from paceline.policies.uniform import Uniform
from paceline.real.prepared import Prepared, replay
from paceline.real.record import checked_header, settings_of
from paceline.real.settings import Settings
from paceline.result import ArmRecord, Result, Standing, Status


@dataclass(frozen=True)
class JournalView:
    """What a journal says: the race, how it stands, and how it ended, if it has."""

    header: Record
    standing: Standing
    verdict: str | None
    decided: bool
    running: bool  # whether a process is writing it


def read_journal(path: str | os.PathLike[str]) -> JournalView:
    """Say how the race of a journal stands: it is replayed up to its last record."""
    where = Path(path)
    records = read_records(where)
    header = checked_header(records, where)
    known = header["problem"]["policy"]["name"] in POLICIES
    settings = settings_of(records, available_cores(), None if known else Uniform())
    contest = replay(settings, records)
    if known:  # else who is out, only the user's own policy can tell
        with contextlib.suppress(NothingMore):
            contest.run()
    standing = contest.standing()
    ending = records[-1] if records[-1]["kind"] == "ending" else None
    if ending is not None and ending["decided"]:
        standing = replace(standing, arms=_decided(standing.arms, ending["arms"]))
    verdict = None if ending is None else str(ending["verdict"])
    decided = ending is not None and bool(ending["decided"])
    return JournalView(header, standing, verdict, decided, is_locked(where))


def resume(
    path: str | os.PathLike[str],
    *,
    deadline: Any = None,
    max_pulls: float | None = None,
    cores: int | None = None,
    callbacks: Sequence[Callable[[Standing], Any]] = (),
    progress: Any = None,
) -> Result:
    """Go on with a race of commands from its journal; a cap or the pool may be another."""
    where = Path(path)
    records = read_records(where)
    checked_header(records, where)
    settings = settings_of(records, available_cores())
    if not isinstance(settings.what, Command):
        raise InvalidInput(
            f"{where} is a race of the Python {settings.what}: run its script again, with "
            f"journal={str(where)!r}"
        )
    settings.what.check(settings.arms, paired=settings.shared_seeds)
    if deadline is not None:
        new = deadline_of(deadline, datetime.now().astimezone())
        settings = replace(settings, deadline=new)
    if max_pulls is not None:
        settings = replace(settings, max_pulls=positive(max_pulls, "max_pulls"))
    if cores is not None and whole(cores, "cores") != settings.rules.cores:
        settings = _on_other_pool(settings, cores)
    return Prepared(settings, where, callbacks, progress).run()


def _decided(arms: Sequence[ArmRecord], best: Sequence[int]) -> tuple[ArmRecord, ...]:
    def status(record: ArmRecord) -> Status:
        if record.status == "failed":
            return "failed"
        return "best" if record.index in best else "out"

    return tuple(replace(record, status=status(record)) for record in arms)


def _on_other_pool(settings: Settings, cores: int) -> Settings:
    """The same race on more or fewer cores."""
    rules = settings.rules
    most = cores if rules.most_cores == rules.cores else min(rules.most_cores, cores)
    if rules.least_cores > cores:
        raise InvalidInput(f"a pull wants {rules.least_cores} cores: give at least so many")
    rules = replace(rules, cores=cores, most_cores=most)

    def resized(pool: CorePool | None) -> CorePool | None:
        """Beyond the cores it knows, more do not help."""
        if pool is None:
            return None
        table = pool.runtime_seconds
        return make_pool(lambda count: float(table[min(count, table.size) - 1]), rules)

    return replace(
        settings, rules=rules, pool=resized(settings.pool), shape=resized(settings.shape)
    )
