"""Record first, then count: the only way in which anything becomes known of a race."""

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
        for record in self._values:
            self.books.take(record)
        self._values.clear()

    def note(self, record: Record) -> None:
        """Take a record, and keep it at once."""
        self.add(record)
        self.commit()
