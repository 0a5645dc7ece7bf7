"""What a journal says of its race at this moment, whatever has happened to the journal."""

import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from paceline.errors import InvalidInput
from paceline.journal import is_locked
from paceline.journal.reading import Damaged
from paceline.races import Follower, JournalView, checks
from paceline.report import Parts, parts

State = Literal[
    "reading", "waiting", "running", "stopped", "finished", "undecided", "damaged", "gone"
]


@dataclass(frozen=True)
class Status:
    """Where the race is, in a word and in a sentence; `command` resumes it, if something can."""

    state: State
    text: str
    command: str = ""


class Sight(NamedTuple):
    """What was seen in the journal: where the race is, and its page if that could be read."""

    status: Status
    parts: Parts | None = None
    cores: int = 1  # of the pool
    anew: bool = False  # whether the journal was read from its beginning


class _Glance(NamedTuple):
    """What tells at no cost whether there is anything new."""

    file: tuple[int, int]
    size: int
    running: bool


class Watch:
    """Looks at a journal that may not exist yet, may grow, be damaged, replaced or deleted."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(checks.path(path, "the journal")).absolute()
        self._seen: _Glance | str | None = ""  # the last glance; nothing was seen yet
        self._file: tuple[int, int] | None = None  # that is followed
        self._follower: Follower | None = None

    def news(self) -> Literal["", "grown", "turned"]:
        """Whether the journal is as at the last look, or more; this costs next to nothing.

        It has turned if it came, went or was replaced, or if the race began or ended.
        """
        now, seen = self._glance(), self._seen
        if now == seen:
            return ""
        if isinstance(now, _Glance) and isinstance(seen, _Glance):
            return "grown" if now == seen._replace(size=now.size) else "turned"
        return "turned"

    def look(self) -> Sight:
        """How the race stands by now."""
        glance = self._seen = self._glance()
        if glance is None:
            if self._file is None:
                return Sight(Status("waiting", f"Waiting for {self.path}: no such file yet"))
            return Sight(Status("gone", f"{self.path} was deleted or moved away: waiting for it"))
        if isinstance(glance, str):
            return Sight(Status("damaged", f"Cannot read {self.path}: {glance}"))
        if glance.file != self._file:
            self._follower, self._file = None, glance.file
        return self._read(glance)

    def _glance(self) -> _Glance | str | None:
        try:
            there = os.stat(self.path)
            return _Glance((there.st_dev, there.st_ino), there.st_size, is_locked(self.path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return str(error.strerror)

    def _read(self, glance: _Glance) -> Sight:
        if not glance.size:
            return Sight(Status("waiting", f"Waiting for the race: {self.path} is empty so far"))
        anew = self._follower is None
        follower = self._follower or Follower(self.path)
        self._follower = None  # unless this succeeds: what failed half-way cannot go on
        try:
            view = follower.view()
            result = follower.result(view)
            made = parts(result.story)
        except Damaged as error:
            return Sight(Status("damaged", str(error)))
        except InvalidInput as error:
            if not anew:  # it was cut off or replaced
                return self._read(glance)
            return Sight(Status("damaged", str(error)))
        except Exception as error:  # a fault of paceline's own must not end the server
            traceback.print_exc()
            text = f"This page could not be made: {type(error).__name__}: {error}"
            return Sight(Status("damaged", text))
        self._follower = follower
        return Sight(_status(view), made, view.standing.cores, anew)


def _status(view: JournalView) -> Status:
    ending, how = view.ending, view.how_to_resume
    command = how if view.resumes_alone else ""
    if view.running:  # first: a race that was resumed still has its old verdict
        return Status("running", "The race is running")
    if ending is None:
        advice = "To resume it" if command else f"To resume it, {how}"
        return Status("stopped", f"The race is not running, and has not ended. {advice}", command)
    if ending.decided:
        return Status("finished", "The race has ended")
    advice = "To go on with a higher limit" if command else f"To go on with a higher limit, {how}"
    return Status("undecided", f"The race has ended undecided. {advice}", command)
