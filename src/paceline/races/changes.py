"""What a resume changes about how a race is run, and whether that can change its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paceline.journal.records import RaceBegun, RaceEnded, Record
from paceline.races.forms import read_deadline
from paceline.races.identity import latest_options, session_of
from paceline.races.options import OPTIONS
from paceline.races.settings import Settings


@dataclass(frozen=True)
class Change:
    """An option that is not as in the last session; both values as they are recorded."""

    name: str
    was: Any
    now: Any

    def __str__(self) -> str:
        say = OPTIONS[self.name].on_resume.say
        return f"{self.name}={say(self.now)}, was {say(self.was)}"


def changes_since(records: Sequence[Record], settings: Settings) -> tuple[Change, ...]:
    """How the options differ from those of the last session."""
    header = records[0]
    assert isinstance(header, RaceBegun)
    known = header.problem | latest_options(records)
    now = session_of(settings, 0.0).options
    return tuple(
        Change(name, known[name], now[name])
        for name in now
        if name in known and not _same(name, known[name], now[name])
    )


def say_changes(changes: Sequence[Change]) -> str:
    """The changes in a line.

    >>> say_changes([Change("max_pulls", 20, 400), Change("cores", 2, None)])
    'resumed with max_pulls=400, was 20; cores=None, was 2'
    """
    return f"resumed with {'; '.join(map(str, changes))}"


def could_change_answer(changes: Sequence[Change]) -> bool:
    """Whether a race that has ended under the old options may go on under the new ones."""
    return any(_goes_further(change) for change in changes)


def in_the_way(settings: Settings, ending: RaceEnded, pulls: int) -> str:
    """The limit that leaves nothing to be run in a race that has ended; '' if none does."""
    cap, deadline = settings.goal.max_pulls, settings.goal.deadline
    if cap <= pulls:
        return f"max_pulls={cap:g} allows no more than the {pulls} pulls that it has"
    if deadline is None:
        return ""
    left = deadline.seconds - ending.at
    if deadline.moment is not None:
        left = (deadline.moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    return "" if left > 0 else "its deadline leaves no time"


def _goes_further(change: Change) -> bool:
    was, now = change.was, change.now
    if change.name in ("confidence", "tolerance"):
        return True  # other changes of these were refused
    if change.name == "max_pulls":
        return was is not None and (now is None or now > was)
    if change.name != "deadline" or was is None:
        return False
    before, after = read_deadline(was), read_deadline(now)
    if before is None or after is None:
        return True
    if before.moment is None and after.moment is None:
        return after.seconds > before.seconds
    if before.moment is not None and after.moment is not None:
        return after.moment > before.moment
    return True  # which is later depends on when the race began: `in_the_way` will tell


def _same(name: str, was: Any, now: Any) -> bool:
    if name == "deadline" and was and now and (was["moment"] or now["moment"]):
        return bool(was["moment"] == now["moment"])  # the seconds run from each session's start
    return bool(was == now)
