"""From a journal back to a race: how it stands, and resuming it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.words import arm_name, listed
from paceline.errors import InvalidInput, unknown_name
from paceline.journal import Journal, Reader, is_locked
from paceline.journal.records import RaceBegun, RaceEnded, Record
from paceline.policies.base import Policy
from paceline.policies.uniform import Uniform
from paceline.pools.interruptions import RecordsEnded
from paceline.races import checks
from paceline.races.advice import can_read, how_to_resume, resumes_alone
from paceline.races.forms import BY_HAND, Pairing, write_policy
from paceline.races.history import History
from paceline.races.identity import (
    ending_in,
    header_in,
    latest_options,
    plain,
    recalled_options,
    recalled_settings,
)
from paceline.races.option import NOT_IN_RESUME
from paceline.races.options import OPTIONS
from paceline.races.past import Past
from paceline.races.replaying import replayed
from paceline.races.running import run_recorded
from paceline.races.sameness import check_change
from paceline.races.session import Session
from paceline.races.settings import Settings, check_cores, check_run
from paceline.races.snapshot import told
from paceline.races.trust import check_trust
from paceline.result import Result
from paceline.story.standing import ArmRecord, Standing, Status, ranked
from paceline.story.story import Outcome
from paceline.story.timeline import Timeline


@dataclass(frozen=True)
class JournalView:
    """What a journal says: the race, how it stands, and how it ended, if it has."""

    header: RaceBegun
    standing: Standing
    ending: RaceEnded | None
    running: bool  # whether a process is writing it
    resumes_alone: bool  # whether the journal says all that it takes to resume the race
    how_to_resume: str
    core_seconds: float  # of all pulls, also those that gave no value
    timeline: Timeline  # what every core was used for, and when

    @property
    def chosen(self) -> tuple[int, ...]:
        """The best arms; of a race that ended undecided, those that lead."""
        if self.ending is None or self.ending.index < 0:
            return ()
        if self.ending.decided:
            return self.ending.arms
        still_in = [self.standing.arms[arm] for arm in self.ending.arms]
        leaders = ranked(still_in, minimize=self.standing.minimize)
        return tuple(record.index for record in leaders[: self.header.problem.get("top", 1)])


class Follower:
    """Says how the race of a journal stands, whenever asked: each time it reads only what is new.

    A race under way is replayed further, not anew, as long as it keeps to its plan.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(checks.path(path, "the journal"))
        self._reader = Reader(self.path)
        self._past = Past()
        self._session: Session | None = None  # if it can go on
        self._turns = 0  # that the session knows of
        self._shown: Session | None = None  # the one that was viewed last

    def view(self) -> JournalView:
        """How the race stands by its last record."""
        past = self._past
        records = past.read(self._reader)
        header, history = header_in(records, self.path), past.history
        assert history is not None
        with _as_written(self.path):
            known = can_read(header.problem["policy"])
            options = recalled_options(records, {} if known else {"policy": Uniform()})
            settings = recalled_settings(records, options)
        session = self._replayed(settings, history, known=known)
        self._shown = session
        standing = session.teller.standing(session.phase)
        running = is_locked(self.path)
        if not running:
            standing = replace(standing, remaining=None)  # nothing comes of it as it is
        ending = ending_in(records)
        if ending is not None and history.plan is not None:
            # A last value may have completed a round after the deadline: then it did not count.
            standing = replace(standing, rounds=len(history.plan.rounds))
        if ending is not None and ending.decided:
            standing = replace(standing, arms=_decided(standing.arms, ending.arms))
        what = header.problem["what"]
        alone = resumes_alone(what, header.problem["policy"], options["engine"])
        return JournalView(
            header,
            standing,
            ending,
            running=running,
            resumes_alone=alone,
            how_to_resume=how_to_resume(str(self.path), what, alone=alone),
            core_seconds=session.books.core_seconds,
            timeline=session.books.timeline(standing.elapsed),
        )

    @property
    def session(self) -> Session:
        """The race as it was replayed for the last view."""
        assert self._shown is not None
        return self._shown

    def result(self, view: JournalView | None = None) -> Result:
        """The race as it ended, or as it stands; given its last view, without another look."""
        view = self.view() if view is None else view
        session = self.session
        settings, outcome = session.settings, _outcome(view)
        best = None
        if outcome.index >= 0:
            best = (settings.parameters or settings.arms)[outcome.index]
        known, pool = session.teller.view(session.phase), session.dispatcher.model.pool
        return told(known, view.standing, outcome, best, pool, self.path)

    def _replayed(self, settings: Settings, history: History, *, known: bool) -> Session:
        session, plan = self._session, history.plan
        if self._turns != self._past.turns:
            session, self._turns = None, self._past.turns
        if session is None or plan is None or not session.go_on(plan, history.elapsed):
            session = replayed(settings, history)
            # A policy that is not known cannot say who is out.
            ended = known and isinstance(session.run(), RecordsEnded)
            self._session = session if ended else None
        return session


def open_journal(path: str | os.PathLike[str]) -> Result:
    """The race of a journal as a result: as it ended, or as it stands if it has not ended.

    Of a function's arms, the journal has only what they are made of: `best` is a dict of its
    parameters, or its label.
    """
    return Follower(path).result()


def _outcome(view: JournalView) -> Outcome:
    ending, standing = view.ending, view.standing
    if ending is not None:
        still_in = () if ending.decided else ending.arms
        return Outcome(
            ending.index,
            ending.decided,
            ending.verdict,
            ending.confidence,
            view.chosen,
            still_in,
            ended=not view.running,
        )
    alive = [record for record in standing.ranked() if record.status == "in"]
    leaders = [record for record in alive if record.pulls][: view.header.problem.get("top", 1)]
    chosen = tuple(record.index for record in leaders)
    names = listed([arm_name(record.label) for record in leaders], len(leaders))
    lead = f"; {names} {'leads' if len(chosen) == 1 else 'lead'} so far" if chosen else ""
    return Outcome(
        chosen[0] if chosen else -1,
        decided=False,
        verdict=f"{'under way' if view.running else 'not finished'}{lead}",
        confidence=None,
        chosen=chosen,
        still_in=tuple(record.index for record in alive),
        ended=False,
    )


def read_journal(path: str | os.PathLike[str]) -> JournalView:
    """Say how the race of a journal stands, by replaying it up to its last record."""
    return Follower(path).view()


def resume(path: str | os.PathLike[str], *, trust: bool = False, **changes: Any) -> Result:
    """Resume a race of commands from its journal, as it was last run, except for the changes.

    Options that say how the race is run may change: `deadline`, `max_pulls`, `cores` and others; of
    its goal only `confidence`, which may be raised, and `tolerance`, which may be lowered
    (docs/reference.md lists them all). None lifts a limit. A race that has ended goes on if a
    change can change its answer; otherwise nothing is run.

    This runs the commands that the journal holds. If it belongs to another user, or if every user
    may write it, the race is refused and the message shows the commands; `trust=True` runs them.
    """
    checks.truth(trust, "trust")
    where, past = Path(checks.path(path, "the journal")), Past()
    with Journal.open(where, past.read, create=False) as journal:
        with _as_written(where):
            settings = _resumed(journal.records, changes, where)
        if not trust:
            check_trust(where, settings)
        settings = _here(settings, journal.records)
        return run_recorded(settings, journal, past)


def _resumed(records: Sequence[Record], changes: Mapping[str, Any], path: Path) -> Settings:
    """The settings of a recorded race, with these changes."""
    known = header_in(records, path).problem | latest_options(records)
    checked: dict[str, Any] = {"journal": str(path)}
    for name, value in changes.items():
        if name not in OPTIONS or name in NOT_IN_RESUME:
            raise unknown_name(
                "argument", name, [one for one in OPTIONS if one not in NOT_IN_RESUME]
            )
        if value is not None or (OPTIONS[name].kept == "session" and not OPTIONS[name].default):
            checked[name] = _checked_change(name, value, known, path)
    if isinstance(known["what"], str):
        how = how_to_resume(str(path), known["what"], alone=False)
        whose = f"of the Python {known['what']}"
        if known["what"] == BY_HAND:
            whose = "that is asked for pulls and told their values, so nothing can run it alone"
        raise InvalidInput(f"{path} is a race {whose}: {how}")
    return recalled_settings(records, recalled_options(records, checked))


def _here(settings: Settings, records: Sequence[Record]) -> Settings:
    """The same race, checked, with the cores that there are here and now."""
    assert isinstance(settings.evaluate, Command)
    settings.evaluate.check(settings.arms, paired=settings.pairing.shares_seeds)
    available = settings.engine.available()
    settings = recalled_settings(records, settings.options, available)
    check_run(settings)
    check_cores(settings)
    return settings


@contextmanager
def _as_written(path: Path) -> Iterator[None]:
    """Refuse options that no paceline wrote; without checksums, that may come up only here."""
    try:
        yield
    except InvalidInput:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InvalidInput(
            f"{path} is damaged: what its first line, or the last of a session, says of the race "
            f"cannot be read ({type(error).__name__}: {error}). Restore the file from a copy"
        ) from error


def _checked_change(name: str, value: Any, known: Mapping[str, Any], path: Path) -> Any:
    option = OPTIONS[name]
    value = option.check(value, name)
    if option.kept == "race":
        now = write_policy(value) if isinstance(value, Policy) else value
        now = Pairing(value, value).to_json() if name == "paired" else now
        check_change(option, known.get(name), plain({name: now})[name], path)
    return value


def _decided(arms: Sequence[ArmRecord], best: Sequence[int]) -> tuple[ArmRecord, ...]:
    def status(record: ArmRecord) -> Status:
        if record.status == "failed":
            return "failed"
        return "best" if record.index in best else "out"

    return tuple(replace(record, status=status(record)) for record in arms)
