"""A race that was found fit to run: what it will do, and the doing."""

import contextlib
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from paceline.commands import Command
from paceline.core.evaluated import takes
from paceline.core.pool import CorePool
from paceline.core.rounds import Verdict
from paceline.core.seeds import pull_seeds
from paceline.durations import say_seconds
from paceline.engines.crew import Crew, NoCrew, NothingMore
from paceline.engines.dispatch import Dispatcher
from paceline.engines.local import LocalHost
from paceline.engines.work import CommandWork, FunctionWork, Host, Work
from paceline.errors import Interrupted, InvalidInput, RaceFailed
from paceline.journal import Journal, Record, read_records
from paceline.policies.staged import Staged
from paceline.real.concerns import warn
from paceline.real.contest import Contest
from paceline.real.record import (
    Past,
    as_recorded,
    check_same,
    deadline_changed,
    header_of,
    session_record,
    take_up,
)
from paceline.real.settings import Settings
from paceline.real.summary import result_of
from paceline.result import Result, Standing
from paceline.theory import plan_race

_MOST_NAMED = 8
_MOST_COMMANDS = 3


@dataclass(frozen=True)
class Prepared:
    """A race, checked; `run` runs it, `describe` says what it will do."""

    settings: Settings
    journal: str | os.PathLike[str] | None = None
    callbacks: Sequence[Callable[[Standing], Any]] = ()
    progress: Any = None
    host: Host = field(default_factory=LocalHost)

    def __post_init__(self) -> None:
        for callback in self.callbacks or ():
            if not callable(callback):
                raise InvalidInput(f"callbacks must be functions of a Standing: got {callback!r}")
        able = all(hasattr(self.progress, name) for name in ("update", "close"))
        if not (self.progress is None or isinstance(self.progress, bool) or able):
            raise InvalidInput(
                f"progress must be None, True, False, or have update and close: {self.progress!r}"
            )

    def run(self) -> Result:
        """Race; with a journal that exists, go on from there."""
        if self.journal is None:
            return self._run(None)
        with Journal.open(Path(self.journal)) as journal:
            settings = as_recorded(self.settings, journal.records)
            header = header_of(settings)
            if journal.records:
                check_same(header, journal.records, journal.path)
            else:
                journal.add(header)
                journal.commit()
            return replace(self, settings=settings)._run(journal)

    def _run(self, journal: Journal | None) -> Result:
        settings, records = self.settings, [] if journal is None else journal.records
        changed = bool(records) and deadline_changed(records, settings)
        ended = bool(records) and records[-1]["kind"] == "ending" and records[-1]["decided"]
        if ended and not changed:
            with contextlib.suppress(NothingMore):  # nothing has to be run, nor recorded
                contest = replay(settings, records)
                return result_of(contest, contest.run(), self.journal)
        screen = _screen(self.progress)
        result: Result | None = None
        try:
            crew = self.host.crew(make_work(settings), settings.rules.cores)
            dispatcher = _dispatcher(settings, crew, journal, self.host.clock)
            try:
                past = take_up(records, dispatcher, settings) if records else Past()
                if changed or (settings.deadline is not None and settings.deadline.moment):
                    past.plan = None  # the policy plans again; a date has come nearer meanwhile
                if journal is not None:
                    journal.add(session_record(past, settings))
                    journal.commit()
                watch = None if screen is None else screen.update
                callbacks = tuple(self.callbacks or ())
                contest = Contest(settings, dispatcher, past, watch, callbacks, loud=warn)
                verdict = contest.run()
            except RaceFailed as error:
                if journal is None:
                    raise
                text = f"{error}\nWhat was recorded is in {self.journal}, from where it can go on"
                raise RaceFailed(text) from None
            except KeyboardInterrupt:
                dispatcher.finish()
                raise Interrupted(self._how_to_resume(dispatcher)) from None
            finally:
                dispatcher.finish()
            result = result_of(contest, verdict, self.journal)
            if journal is not None:
                journal.add(_ending(result, verdict, dispatcher))
        finally:
            if screen is not None:
                screen.close(result)
        return result

    def _how_to_resume(self, dispatcher: Dispatcher) -> str:
        after = f"interrupted after {say_seconds(dispatcher.elapsed())}"
        pulls = dispatcher.pulls
        if self.journal is None:
            return f"{after}; its {pulls} pulls are lost: with a journal it could be resumed"
        if isinstance(self.settings.what, Command):
            how = f"paceline resume {self.journal}"
        else:
            how = "call race again with the same arguments"
        return f"{after}; {pulls} pulls are recorded in {self.journal}. To go on: {how}"

    def describe(self) -> list[tuple[str, str]]:
        """What the race will do, as labels and texts."""
        settings = self.settings
        rules, deadline = settings.rules, settings.deadline
        names = ", ".join(settings.labels[:_MOST_NAMED])
        more = ", …" if len(settings.labels) > _MOST_NAMED else ""
        goal = []
        if settings.confidence is not None:
            goal.append(f"a confidence of {settings.confidence:g}")
        if deadline is not None:
            goal.append(f"the deadline of {say_seconds(deadline.seconds)}")
        per_pull = str(rules.least_cores)
        if rules.most_cores > rules.least_cores:
            per_pull = f"{rules.least_cores} to {rules.most_cores}"
        size = str(settings.machine)
        if rules.cores != settings.machine.cores:
            size = f"{rules.cores} cores, as asked for; this machine gives {size}"
        scaling = "learned from the first pulls" if settings.pool is None else str(settings.pool)
        if settings.shape is not None:
            scaling = f"as given, its level measured: {settings.shape}"
        good = "low" if settings.minimize else "high"
        lines = [
            ("arms", f"{len(settings.arms)}: {names}{more}"),
            ("stops at", " or ".join(goal)),
            ("policy", str(settings.policy)),
            ("values", f"{good} is good; noise: {settings.noise.describe()}"),
            ("pool", size),
            ("cores per pull", per_pull),
            ("scaling", scaling),
        ]
        if isinstance(settings.policy, Staged) and settings.pool is not None:
            lines += _plan(settings, settings.pool)
        if isinstance(settings.what, Command):
            for number, arm in enumerate(settings.arms[:_MOST_COMMANDS]):
                seed = pull_seeds(settings.seed, number, 0, 1, paired=settings.shared_seeds)[0]
                filled = settings.what.fill(arm, seed=seed, cores=rules.least_cores)
                lines.append(("command", shlex.join(filled.argv)))
            if len(settings.arms) > _MOST_COMMANDS:
                lines.append(("", "…"))
        if self.journal is not None:
            path = Path(self.journal)
            records = read_records(path) if path.exists() else []
            if records:
                check_same(header_of(as_recorded(settings, records)), records, path)
            known = "is there, and is gone on with" if records else "is new"
            lines.append(("journal", f"{self.journal} {known}"))
        return lines


def _plan(settings: Settings, pool: CorePool) -> list[tuple[str, str]]:
    """The cuts of `staged`, if pulls keep to the scaling."""
    assert settings.deadline is not None
    plan = plan_race(len(settings.arms), pool, settings.deadline.seconds, top=settings.top)
    if plan is None:
        return []  # it was not refused, so a subset of the arms is raced
    chain = plan.chain.merged()
    sizes = " → ".join(str(size) for size in chain.sizes)
    pulls = ", ".join(str(each) for each in chain.pulls[1:])
    return [("plan", f"{sizes} arms, after {pulls} pulls each")]


def replay(settings: Settings, records: Sequence[Record]) -> Contest:
    """The race of these records, ready to be run up to where they end; no time passes there."""
    dispatcher = _dispatcher(settings, NoCrew(), None, lambda: 0.0)
    return Contest(settings, dispatcher, take_up(records, dispatcher, settings))


def _dispatcher(
    settings: Settings, crew: Crew, journal: Journal | None, clock: Callable[[], float]
) -> Dispatcher:
    return Dispatcher(
        crew,
        settings.rules,
        len(settings.arms),
        journal=journal,
        pool=settings.pool,
        shape=settings.shape,
        sign=-1.0 if settings.minimize else 1.0,
        clock=clock,
    )


def make_work(settings: Settings) -> Work:
    """What the pulls of a race are."""
    seeds = partial(pull_seeds, settings.seed, paired=settings.shared_seeds)
    if isinstance(settings.what, Command):
        return CommandWork(settings.what, settings.arms, seeds)
    assert not isinstance(settings.what, str)
    return FunctionWork(
        settings.what,
        settings.arms,
        seeds,
        takes_seed=takes(settings.what, "seed"),
        takes_cores=takes(settings.what, "cores"),
    )


def _ending(result: Result, verdict: Verdict, dispatcher: Dispatcher) -> dict[str, Any]:
    return {
        "kind": "ending",
        "at": round(dispatcher.elapsed(), 6),
        "verdict": result.verdict,
        "decided": result.decided,
        "confidence": result.confidence,
        "arms": verdict.arms.tolist(),
        "index": result.index,
    }


def _screen(progress: Any) -> Any:
    if progress is False:
        return None
    if progress is None or progress is True:
        from paceline.screen import make_screen  # rich is slow to import, and often not needed

        return make_screen(progress)
    return progress
