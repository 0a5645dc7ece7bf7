"""A race that has ended: its result as recorded, unless there is something to run."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from paceline.core.rounds import Verdict
from paceline.journal.records import RaceEnded, Record
from paceline.races.changes import Change, could_change_answer, in_the_way
from paceline.races.history import History
from paceline.races.identity import recalled_options, session_of
from paceline.races.replaying import replayed, result_now
from paceline.races.settings import Settings, goal_of
from paceline.result import Result


def as_it_ended(
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
    result = result_now(session, recorded).saying(ending.verdict)
    if limit:
        return result
    if could_change_answer(changes):
        history.take(session_of(settings, ending.at))  # as if the race went on
        trial = replayed(settings, history)
        verdict = trial.run()
        same = isinstance(verdict, Verdict) and result_now(trial, verdict).verdict == ending.verdict
        return result if same else None
    # Otherwise a callback stopped it, which may do otherwise now.
    return result if isinstance(outcome, Verdict) else None
