"""What a journal holds, read once: the history of its race, and the few records that frame it."""

from paceline.journal.meaning import Meaning, Unsound
from paceline.journal.reading import UNREADABLE, Damaged, Reader
from paceline.journal.records import (
    PullFailed,
    PullsReturned,
    RaceBegun,
    Record,
    RoundEnded,
    SessionBegun,
    TimeSpent,
)
from paceline.races.history import History

_IN_ITS_COURSE = (PullsReturned, TimeSpent, PullFailed, RoundEnded)


class Past:
    """A fold over a journal as it is read; `read` again takes in what is new.

    The frame is enough to say what the race is, with which options it was last run, and how it
    ended. The values are in the history.
    """

    def __init__(self) -> None:
        self.history: History | None = None  # None while there is no header
        self.turns = 0  # how many records may have changed its course
        self._begun: list[Record] = []  # the header and the sessions
        self._last: Record | None = None
        self._meaning = Meaning()
        self._before_last = 0  # the pulls before the last line

    @property
    def frame(self) -> list[Record]:
        """The header, all sessions, and the last record."""
        last = self._last
        return self._begun + ([] if last is None or last is self._begun[-1] else [last])

    def read(self, reader: Reader) -> list[Record]:
        """Take in the new records of a journal, and return the frame."""
        try:
            for record in reader.records(together=True):
                self._take(record, reader)
        except Damaged as error:
            if error.pulls is not None or error.line == 1:
                raise
            raise Damaged(error.path, error.line, error.why, self._meaning.pulls) from error
        return self.frame

    def _take(self, record: Record, reader: Reader) -> None:
        before = self._meaning.pulls
        try:
            self._meaning.take(record)
            if isinstance(record, RaceBegun):
                sign = -1.0 if record.problem.get("direction") == "minimize" else 1.0
                self.history = History(len(record.labels), sign)
            assert self.history is not None
            self.history.take(record)
        except Unsound as error:
            line = reader.line - reader.lines + 1 + error.place
            kept = self._before_last if error.place < 0 else before + error.place
            raise Damaged(reader.path, line, str(error), kept) from error
        except (*UNREADABLE, AttributeError, IndexError) as error:
            why = f"is not as paceline writes it ({type(error).__name__}: {error})"
            raise Damaged(reader.path, reader.line, why, before) from error
        self._before_last = before if reader.lines == 1 else self._meaning.pulls - 1
        self.turns += not isinstance(record, _IN_ITS_COURSE)
        if isinstance(record, RaceBegun | SessionBegun):
            self._begun.append(record)
        self._last = record
