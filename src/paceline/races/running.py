"""Running a checked race: its workers, its journal, its screen, and its end."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.core.rounds import Verdict
from paceline.engines.base import Workers
from paceline.errors import RaceFailed
from paceline.journal import Journal
from paceline.journal.records import RaceEnded, Record
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races.changes import (
    Change,
    changes_since,
    could_change_answer,
    in_the_way,
    say_changes,
)
from paceline.races.concerns import CHANGED, LATE, UNKNOWN, say_left_running, warn
from paceline.races.history import RUNNING, History
from paceline.races.identity import (
    ending_in,
    header_in,
    header_of,
    now,
    recalled_options,
    session_of,
)
from paceline.races.interrupted import interrupted
from paceline.races.lateness import too_little_left
from paceline.races.past import Past
from paceline.races.sameness import check_same
from paceline.races.session import Session, Stopped
from paceline.races.settings import Settings, goal_of
from paceline.races.snapshot import result_of
from paceline.races.telling import Audience, Teller
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


def replayed(settings: Settings, history: History) -> Session:
    """A race so far, as a session that runs up to the end of its records; no time passes in it."""
    clock = RaceClock(lambda: 0.0)
    clock.resume_at(history.elapsed)
    dispatcher = Dispatcher(
        None, settings.rules, history.books, clock=clock, model=_model(settings)
    )
    return _session(settings, dispatcher, history, Audience())


def run_recorded(
    settings: Settings,
    journal: Journal | None,
    past: Past,
    host: Host = Host(),
) -> Result:
    """Run the race from where its journal, of which `past` was read, leaves it."""
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
        result = _as_it_ended(settings, records, history, ending, changes)
    screen = _screen(settings.options["progress"])
    if result is not None:
        if screen is not None:
            screen.update(result.standing)
            screen.close(result)
        return result
    if changes:
        settings = replace(settings, notes=(say_changes(changes),))
    try:
        clock = RaceClock(settings.engine.now)  # to open the workers takes time, too
        clock.resume_at(history.elapsed)
        try:
            workers = settings.engine.open(settings.workload(), settings.rules.cores)
        except OSError as error:
            raise _failed(f"the workers cannot be started: {error}", journal) from None
        except KeyboardInterrupt:
            raise interrupted(replayed(settings, history)) from None
        result = _race(settings, workers, clock, journal, history, screen, start, host)
    finally:
        if screen is not None:
            screen.close(result)
    return result


def _as_it_ended(
    settings: Settings,
    records: Sequence[Record],
    history: History,
    ending: RaceEnded,
    changes: Sequence[Change],
) -> Result | None:
    """The result of a race that has ended, as recorded; None if there is something to run."""
    # Under the options of the last session: with a lower cap, it would not get to its end.
    before = goal_of(recalled_options(records, {"policy": settings.policy}))
    session = replayed(replace(settings, goal=before), history)
    outcome = session.run()
    limit = in_the_way(settings, ending, session.books.pulls) if changes else ""
    note = "nothing was run: the race had ended"
    with contextlib.suppress(ValueError):  # no moment was noted
        note += f" on {datetime.fromisoformat(ending.ended).astimezone():%Y-%m-%d %H:%M}"
    if limit:
        note += f", and {limit}"
    session.settings = session.teller.settings = replace(session.settings, notes=(note,))
    arms = np.array(ending.arms, dtype=np.int64)
    recorded = Verdict(arms, decided=ending.decided, confidence=ending.confidence)
    result = _result(session, recorded).saying(ending.verdict)
    if limit:
        return result
    if could_change_answer(changes):
        history.take(session_of(settings, ending.at))  # as if the race went on
        trial = replayed(settings, history)
        verdict = trial.run()
        same = isinstance(verdict, Verdict) and _result(trial, verdict).verdict == ending.verdict
        return result if same else None
    # Otherwise a callback stopped it, which may do otherwise now.
    return result if isinstance(outcome, Verdict) else None


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
    dispatcher = Dispatcher(
        workers,
        settings.rules,
        history.books,
        clock=clock,
        model=_model(settings),
        journal=journal,
        largest_group=1 if _is_command(settings) else settings.engine.abilities.group,
        group_seconds=settings.engine.abilities.group_seconds,
        can_end=settings.engine.abilities.kill,
        hurries=settings.engine.abilities.hurries,
    )
    watch = None if screen is None else screen.update
    audience = Audience(watch, settings.options["callbacks"], host.loud)
    session: Session | None = None
    try:
        begun = replace(session_of(settings, history.elapsed), work=start.work)
        history.take(begun)
        dispatcher.recording.note(begun)
        session = _session(settings, dispatcher, history, audience)
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
        session = session or _session(settings, dispatcher, history, audience)
        raise interrupted(session) from None
    finally:
        left = dispatcher.finish()
    if isinstance(outcome, Stopped):
        raise _failed(outcome.why, journal)
    assert isinstance(outcome, Verdict)
    if left:
        still = say_left_running(left, settings.engine.name)
        session.teller.concerns.say(RUNNING, still, clock.elapsed())
    result = _result(session, outcome)
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
