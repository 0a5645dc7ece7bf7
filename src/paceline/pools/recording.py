"""Record first, then count: the only way in which anything becomes known of a race."""

from collections.abc import Callable
from typing import Protocol

from paceline.journal.records import PullsReturned, Record
from paceline.pools.books import Books


class Recorder(Protocol):
    """Where records go: a journal."""

    def add(self, record: Record) -> None:
        """Take a record."""

    def commit(self) -> None:
        """Keep all that was taken."""


class Recording:
    """Sends records to the journal, if there is one, and then into the books.

    Values count once they are kept, so that nothing acts on one that a crash could lose. Failures
    count at once: whether a pull is tried again depends on them.
    """

    def __init__(self, books: Books, journal: Recorder | None) -> None:
        self.books = books
        self._journal = journal
        self._values: list[PullsReturned] = []  # not kept yet
        self.is_fresh = False  # whether anything was recorded that earlier sessions did not know
        self.heard: Callable[[PullsReturned], bool] | None = None  # who hears of results, if any
        self.stop_asked = False  # whether it wants the race to stop

    def add(self, record: Record) -> None:
        """Take a record; `commit` keeps it."""
        if self._journal is not None:
            self._journal.add(record)
        if isinstance(record, PullsReturned):
            self.is_fresh = True
            self._values.append(record)
        else:
            self.books.take(record)

    def commit(self) -> None:
        """Make sure that no crash can lose what was added; then count the values."""
        if self._journal is not None:
            self._journal.commit()
        values, self._values = self._values, []
        for record in values:
            self.books.take(record)
        if self.heard is not None:
            for record in values:
                self._tell(record)

    def _tell(self, record: PullsReturned) -> None:
        """Somebody hears of a result; not again of any, if it ended in an error."""
        heard, self.heard = self.heard, None
        if heard is not None:
            self.stop_asked |= heard(record)
            self.heard = heard

    def note(self, record: Record) -> None:
        """Take a record, and keep it at once."""
        self.add(record)
        self.commit()
