"""The file of a journal: append-only, one JSON object per line, each with a checksum.

One process writes, and holds a lock; anybody may read at any time, and follow it as it grows.
"""

import os
from collections.abc import Callable
from pathlib import Path

from paceline.errors import InvalidInput, RaceFailed
from paceline.journal.keeping import KeptFile, Replaced
from paceline.journal.lines import written
from paceline.journal.reading import Reader
from paceline.journal.records import Record
from paceline.journal.system import undisturbed

_PRIVATE = 0o600
_AS_USUAL = 0o666  # less what the user's umask takes away


def _ignore(_: str) -> None:
    pass


class Journal:
    """A journal open for writing: `add` records, then `commit` what was added to the disk.

    `records` are those that were there before, as far as whoever read them kept them. `mishap` is
    called, in words, when the file was deleted, moved or cut off, and had to be written again.

    >>> import tempfile
    >>> from paceline.journal import read_records
    >>> from paceline.journal.records import ArmOut, RaceBegun
    >>> path = Path(tempfile.mkdtemp()) / "race.jsonl"
    >>> with Journal.open(path) as journal:
    ...     journal.add(RaceBegun(2, problem={}, options={}, labels=("a", "b")))
    ...     journal.add(ArmOut(at=2.5, arm=1))
    >>> read_records(path)[-1]
    ArmOut(at=2.5, arm=1)
    """

    def __init__(self, path: Path, file: KeptFile, records: list[Record], chain: int) -> None:
        self.path = path
        self.records = records
        self.mishap: Callable[[str], None] = _ignore
        self._file = file
        self._chain = chain  # the checksum of the last line
        self._pending: list[bytes] = []
        self._broken = False

    @classmethod
    def open(
        cls,
        path: Path,
        read: Callable[[Reader], list[Record]] = Reader.read,
        *,
        create: bool = True,
        private: bool = False,
    ) -> "Journal":
        """Open or create a journal, and lock it; a torn last line is cut off.

        `read` reads what is there and says what to keep of it. If `private`, nobody else may read
        a new file.
        """
        try:
            file = KeptFile(path, create=create, mode=_PRIVATE if private else _AS_USUAL)
        except OSError as error:
            what = "write" if create or os.path.lexists(path) else "read"
            raise InvalidInput(f"cannot {what} the journal {path}: {error.strerror}") from error
        try:
            reader = Reader(path)
            records = read(reader)
            file.cut(reader.offset)
        except BaseException:
            file.close()
            raise
        return cls(path, file, records, reader.chain)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, record: Record) -> None:
        """Have a record written by the next `commit`."""
        line, self._chain = written(record, self._chain)
        self._pending.append(line)

    def commit(self) -> None:
        """Write what was added; once this returns, no crash can lose it."""
        if self._pending:
            with undisturbed():
                self._write()

    def close(self) -> None:
        """Commit, and unlock the file."""
        try:
            with undisturbed():
                self._write()
        finally:
            self._file.close()

    def _write(self) -> None:
        """Write what was added, after a look at whether the file is still what it was."""
        if self._broken:
            return
        data = b"".join(self._pending)
        replaced, happened = None, ""
        try:
            try:
                happened = self._file.check()
            except Replaced as error:
                replaced = error
            if data:
                self._file.append(data)
                self._pending.clear()
        except OSError as error:
            self._broken = True  # half a line in the middle would spoil the rest
            kept = "What was recorded before is kept: make room, and resume the race"
            raise RaceFailed(
                f"cannot write the journal {self.path}: {error.strerror}"
                + (f". {kept}" if error.errno else "")
            ) from error
        if replaced is not None:
            was, self.path = self.path, replaced.saved
            raise RaceFailed(
                f"the journal {was} was taken away while the race was running: {replaced}. "
                f"All that was recorded is saved in {self.path}"
            )
        if happened:
            self.mishap(
                f"the journal {self.path} is not what it was: while the race was running, "
                f"{happened}. It was written again, and nothing is lost"
            )
