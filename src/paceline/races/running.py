"""Running a checked race: its workers, its journal, its screen, and its end."""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.rounds import Verdict
from paceline.engines.base import Workers
from paceline.engines.manual import Closed
from paceline.errors import Interrupted, InvalidInput, RaceFailed
from paceline.journal import Journal
from paceline.journal.records import RaceEnded
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.races.callbacks import Callbacks
from paceline.races.changes import (
    changes_since,
    say_changes,
)
from paceline.races.concerns import CHANGED, LATE, UNKNOWN, say_left_running, warn
from paceline.races.ended import as_it_ended
from paceline.races.history import RUNNING, History
from paceline.races.identity import (
    ending_in,
    header_in,
    header_of,
    now,
    session_of,
)
from paceline.races.interrupted import interrupted, what_is_kept
from paceline.races.lateness import too_little_left
from paceline.races.logbook import Logbook, log, logged, logs_rounds
from paceline.races.past import Past
from paceline.races.replaying import model_of, replayed, result_now, session_of_race
from paceline.races.sameness import check_same
from paceline.races.session import Session
from paceline.races.settings import Settings
from paceline.races.stopping import Stopped
from paceline.races.telling import Audience
from paceline.result import Result


@dataclass(frozen=True)
class _Start:
    """What to warn of at the start, and what is raced from then on if a change was accepted."""

    worries: dict[str, str] = field(default_factory=dict)
    work: dict[str, Any] | None = None

    @classmethod
    def after(cls, changed: str, work: dict[str, Any]) -> "_Start":
        """After these changes."""
        if not changed:
            return cls()
        return cls({CHANGED: f"resumed after {changed} changed: results may not compare"}, work)


@dataclass(frozen=True)
class Host:
    """Who has a race run: hears its warnings, and is given its session when that begins."""

    loud: Callable[[str], None] = warn
    begun: Callable[[Session], None] = lambda _: None


def run_race(settings: Settings, host: Host = Host()) -> Result:
    """Run the race; if its journal exists, resume from it."""
    past = Past()
    if settings.options["journal"] is None:
        return run_recorded(settings, None, past, host)
    path = Path(settings.options["journal"])
    with Journal.open(path, past.read, private=_holds_environment(settings)) as journal:
        return run_recorded(settings, journal, past, host)


def run_recorded(
    settings: Settings,
    journal: Journal | None,
    past: Past,
    host: Host = Host(),
) -> Result:
    """Run the race from where its journal, of which `past` was read, leaves it."""
    callbacks = Callbacks.of(settings.options["callbacks"])
    try:
        result = _run(settings, journal, past, host)
    except Interrupted as error:
        callbacks.ended(error.result)
        raise
    callbacks.ended(result)
    return result


def _run(settings: Settings, journal: Journal | None, past: Past, host: Host) -> Result:
    records, start = past.frame, _Start()
    if journal is not None:
        if records:
            checked = check_same(settings, records, journal.path)
            header = header_in(records, journal.path)
            settings, start = checked.settings, _Start.after(checked.changed, checked.work)
        else:
            header = header_of(settings)
            journal.add(header)
            journal.commit()
        unknown = header.problem.get("fingerprint", {}).get("unknown")
        if unknown:
            start.worries[UNKNOWN] = f"{unknown}: whether it is the same after a resume is unknown"
    history = past.history or History(len(settings.arms), settings.sign)
    changes = changes_since(records, settings) if records else ()
    ending = ending_in(records)
    result = None
    if ending is not None:
        result = as_it_ended(settings, records, history, ending, changes)
    screen = _screen(settings.options["progress"])
    if result is not None:
        if screen is not None:
            screen.update(result.standing)
            screen.close(result)
        log(logging.INFO, f"{result.notes[0]}: {result.verdict}")
        return result
    if changes:
        settings = replace(settings, notes=(*settings.notes, say_changes(changes)))
    try:
        with logged(screen):
            result = _open(settings, journal, history, screen, start, host)
    finally:
        if screen is not None:
            screen.close(result)
    return result


def _open(
    settings: Settings,
    journal: Journal | None,
    history: History,
    screen: Any,
    start: _Start,
    host: Host,
) -> Result:
    """Start the workers, and race."""
    clock = RaceClock(settings.engine.now)  # to open the workers takes time, too
    clock.resume_at(history.elapsed)
    try:
        workers = settings.engine.open(settings.workload(), settings.rules.cores)
    except OSError as error:
        raise _failed(f"the workers cannot be started: {error}", journal) from None
    except KeyboardInterrupt:
        raise interrupted(replayed(settings, history)) from None
    return _race(settings, workers, clock, journal, history, screen, start, host)


def _race(
    settings: Settings,
    workers: Workers,
    clock: RaceClock,
    journal: Journal | None,
    history: History,
    screen: Any,
    start: _Start,
    host: Host,
) -> Result:
    logbook = Logbook(settings, history.books, journal)
    dispatcher = Dispatcher(
        workers,
        settings.rules,
        history.books,
        clock=clock,
        model=model_of(settings),
        journal=logbook,
        largest_group=1 if _is_command(settings) else settings.engine.abilities.group,
        group_seconds=settings.engine.abilities.group_seconds,
        can_end=settings.engine.abilities.kill,
        hurries=settings.engine.abilities.hurries,
    )
    watch = None if screen is None else screen.update
    callbacks = Callbacks.of(settings.options["callbacks"])
    audience = Audience(watch, callbacks, host.loud, logs_rounds())
    session: Session | None = None
    try:
        begun = replace(session_of(settings, history.elapsed), work=start.work)
        history.take(begun)
        dispatcher.recording.note(begun)
        session = session_of_race(settings, dispatcher, history, audience)
        logbook.begun(history.elapsed)
        if callbacks.on_result:
            dispatcher.recording.heard = session.result_came
        host.begun(session)
        for kind, text in start.worries.items():
            session.teller.concerns.say(kind, text, history.elapsed)
        late = too_little_left(session.books.times, session.deadline - history.elapsed)
        if late:
            session.teller.concerns.say(LATE, late, history.elapsed)
        if journal is not None:
            journal.mishap = session.teller.concerns.warn_of_journal
        outcome = session.run()
    except RaceFailed as error:  # the disk, or the workers' supervisor
        raise _failed(str(error), journal) from None
    except KeyboardInterrupt:
        with contextlib.suppress(KeyboardInterrupt):  # those who wait for it press Ctrl-C again
            dispatcher.finish()
        session = session or session_of_race(settings, dispatcher, history, audience)
        raise interrupted(session) from None
    except Exception as error:
        dispatcher.finish()
        if session is not None and not isinstance(error, InvalidInput | Closed):
            with contextlib.suppress(Exception):
                error.add_note(what_is_kept(session))
        raise
    finally:
        left = dispatcher.finish()
    if isinstance(outcome, Stopped):
        raise _failed(outcome.why, journal)
    assert isinstance(outcome, Verdict)
    if left:
        still = say_left_running(left, settings.engine.name)
        session.teller.concerns.say(RUNNING, still, clock.elapsed())
    result = result_now(session, outcome)
    dispatcher.recording.note(
        RaceEnded(
            at=result.elapsed,
            verdict=result.verdict,
            decided=result.decided,
            confidence=result.confidence,
            arms=tuple(outcome.arms.tolist()),
            index=result.index,
            ended=now(),
        )
    )
    return result


def _failed(why: str, journal: Journal | None) -> RaceFailed:
    if journal is None:
        return RaceFailed(why)
    kept = f"The results so far are in {journal.path}: the race can be resumed from it"
    return RaceFailed(f"{why}\n{kept}")


def _holds_environment(settings: Settings) -> bool:
    """Whether the journal will hold values of environment variables, which may be secret."""
    command = settings.evaluate
    return isinstance(command, Command) and command.holds_values


def _is_command(settings: Settings) -> bool:
    return isinstance(settings.evaluate, Command)


def _screen(progress: Any) -> Any:
    if progress is False:
        return None
    if progress is None or progress is True:
        from paceline.display.screen import make_screen  # rich is slow to import, and often unused

        return make_screen(progress)
    return progress
