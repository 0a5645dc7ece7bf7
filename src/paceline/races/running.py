"""Running a checked race: its workers, its journal, its screen, and its end."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.rounds import Verdict
from paceline.durations import say_seconds
from paceline.engines.base import Workers
from paceline.errors import Interrupted, RaceFailed
from paceline.journal import Journal, Record
from paceline.journal.records import RaceEnded
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races.concerns import warn
from paceline.races.history import History
from paceline.races.identity import (
    check_same,
    deadline_changed,
    ending_in,
    header_of,
    session_of,
)
from paceline.races.session import Session, Stopped
from paceline.races.settings import Settings
from paceline.races.snapshot import result_of
from paceline.races.telling import Audience, Teller
from paceline.result import Result


def run_race(settings: Settings) -> Result:
    """Run the race; if its journal exists, resume from it."""
    if settings.options["journal"] is None:
        return _run(settings, None)
    with Journal.open(Path(settings.options["journal"])) as journal:
        if journal.records:
            settings = check_same(settings, journal.records, journal.path)
        else:
            journal.add(header_of(settings))
            journal.commit()
        return _run(settings, journal)


def replayed(settings: Settings, records: Sequence[Record]) -> Session:
    """The race of these records, as a session that runs up to their end; no time passes in it."""
    history = _history(settings, records)
    clock = RaceClock(lambda: 0.0)
    clock.resume_at(history.elapsed)
    dispatcher = Dispatcher(
        None, settings.rules, history.books, clock=clock, model=_model(settings)
    )
    return _session(settings, dispatcher, history, Audience())


def _run(settings: Settings, journal: Journal | None) -> Result:
    records = [] if journal is None else journal.records
    changed = bool(records) and deadline_changed(settings, records)
    ending = ending_in(records)
    if ending is not None and ending.decided and not changed:
        session = replayed(settings, records)
        outcome = session.run()
        if isinstance(outcome, Verdict):  # there is nothing left to run or to record
            return _result(session, outcome)
    history = _history(settings, records)
    deadline = settings.goal.deadline
    if changed or (deadline is not None and deadline.moment is not None):
        history.forget_plan()  # the policy plans again; a date has come nearer meanwhile
    screen = _screen(settings.options["progress"])
    result: Result | None = None
    try:
        workers = settings.engine.open(settings.workload(), settings.rules.cores)
        result = _race(settings, workers, journal, history, screen)
    finally:
        if screen is not None:
            screen.close(result)
    return result


def _race(
    settings: Settings, workers: Workers, journal: Journal | None, history: History, screen: Any
) -> Result:
    clock = RaceClock(settings.engine.now)
    clock.resume_at(history.elapsed)
    dispatcher = Dispatcher(
        workers,
        settings.rules,
        history.books,
        clock=clock,
        model=_model(settings),
        journal=journal,
        largest_group=1 if _is_command(settings) else settings.engine.abilities.group,
        can_end=settings.engine.abilities.kill,
    )
    watch = None if screen is None else screen.update
    audience = Audience(watch, settings.options["callbacks"], warn)
    try:
        begun = session_of(settings, history.elapsed)
        history.take(begun)
        dispatcher.recording.note(begun)
        session = _session(settings, dispatcher, history, audience)
        outcome = session.run()
    except RaceFailed as error:  # the disk, or the workers' supervisor
        raise _failed(str(error), journal) from None
    except KeyboardInterrupt:
        dispatcher.finish()
        raise Interrupted(_how_to_resume(settings, dispatcher)) from None
    finally:
        dispatcher.finish()
    if isinstance(outcome, Stopped):
        raise _failed(outcome.why, journal)
    assert isinstance(outcome, Verdict)
    result = _result(session, outcome)
    dispatcher.recording.note(
        RaceEnded(
            at=result.elapsed,
            verdict=result.verdict,
            decided=result.decided,
            confidence=result.confidence,
            arms=tuple(outcome.arms.tolist()),
            index=result.index,
        )
    )
    return result


def _failed(why: str, journal: Journal | None) -> RaceFailed:
    if journal is None:
        return RaceFailed(why)
    kept = f"The results so far are in {journal.path}: the race can be resumed from it"
    return RaceFailed(f"{why}\n{kept}")


def _history(settings: Settings, records: Sequence[Record]) -> History:
    return History(len(settings.arms), settings.sign, records)


def _model(settings: Settings) -> PoolModel:
    return PoolModel(settings.rules, settings.pool, settings.shape)


def _session(
    settings: Settings, dispatcher: Dispatcher, history: History, audience: Audience
) -> Session:
    plan = history.plan
    told = 0 if plan is None else len(plan.rounds)
    teller = Teller(settings, dispatcher, audience, history.warnings, told)
    return Session(settings, dispatcher, plan, teller)


def _result(session: Session, verdict: Verdict) -> Result:
    view = session.teller.view(session.phase)
    scaling = session.dispatcher.model.pool
    return result_of(view, verdict, scaling, session.settings.options["journal"])


def _is_command(settings: Settings) -> bool:
    return isinstance(settings.evaluate, Command)


def _how_to_resume(settings: Settings, dispatcher: Dispatcher) -> str:
    after = f"interrupted after {say_seconds(dispatcher.clock.elapsed())}"
    pulls, journal = dispatcher.pulls, settings.options["journal"]
    if journal is None:
        return f"{after}; its {pulls} pulls are lost. With a journal, it could be resumed"
    how = "call race again with the same arguments"
    if _is_command(settings):
        how = f"paceline resume {os.fspath(journal)}"
    return f"{after}; {pulls} pulls are recorded in {journal}. To resume: {how}"


def _screen(progress: Any) -> Any:
    if progress is False:
        return None
    if progress is None or progress is True:
        from paceline.display.screen import make_screen  # rich is slow to import, and often unused

        return make_screen(progress)
    return progress
