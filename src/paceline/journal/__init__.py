"""The journal of a race: what is recorded (`records`), and the file that keeps it (`file`)."""

from paceline.journal.file import Journal
from paceline.journal.reading import Reader, is_locked, read_records
from paceline.journal.records import FORMAT, Record

__all__ = ["FORMAT", "Journal", "Reader", "Record", "is_locked", "read_records"]
