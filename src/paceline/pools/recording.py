"""Records, then counts: the only way in which anything comes to be known of a race."""

from typing import Protocol

from paceline.journal.records import Record
from paceline.pools.books import Books


class Recorder(Protocol):
    """Where records go: a journal."""

    def add(self, record: Record) -> None:
        """Take a record."""

    def commit(self) -> None:
        """Keep all that was taken."""


class Recording:
    """Records go to the journal, if there is one, and into the books.

    Nobody may be told of what was added before it was committed.
    """

    def __init__(self, books: Books, journal: Recorder | None) -> None:
        self.books = books
        self._journal = journal

    def add(self, record: Record) -> None:
        """Take a record, and let it count."""
        if self._journal is not None:
            self._journal.add(record)
        self.books.take(record)

    def commit(self) -> None:
        """See that no crash can lose what was added."""
        if self._journal is not None:
            self._journal.commit()

    def note(self, record: Record) -> None:
        """Take a record, and keep it at once."""
        self.add(record)
        self.commit()
