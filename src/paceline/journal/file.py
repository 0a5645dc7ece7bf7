"""The file of a journal: append-only, one JSON object per line, each with a checksum.

One process writes, and holds a lock; anybody may read at any time, and follow it as it grows.
"""

import contextlib
import fcntl
import json
import os
import time
import zlib
from pathlib import Path
from typing import Any

from paceline.errors import InvalidInput, RaceFailed
from paceline.journal.records import READABLE, RaceBegun, Record, record_of

_HEADER_START = b'{"kind":"race"'
_SEAL = b',"sum":"'
_SEAL_LENGTH = len(_SEAL) + len(b'01234567"}')
_LOCK_TRIES, _LOCK_SECONDS = 5, 0.02


class Journal:
    """A journal open for writing: `add` records, then `commit` what was added to the disk.

    >>> import tempfile
    >>> from paceline.journal.records import ArmOut
    >>> path = Path(tempfile.mkdtemp()) / "race.jsonl"
    >>> with Journal.open(path) as journal:
    ...     journal.add(RaceBegun(2, problem={}, options={}, labels=("a", "b")))
    ...     journal.add(ArmOut(at=2.5, arm=1))
    >>> read_records(path)[-1]
    ArmOut(at=2.5, arm=1)
    """

    def __init__(self, path: Path, file: int, records: list[Record], chain: int) -> None:
        self.path = path
        self.records = records  # what was there before
        self._file = file
        self._chain = chain  # the checksum of the last line
        self._pending: list[bytes] = []
        self._broken = False

    @classmethod
    def open(cls, path: Path) -> "Journal":
        """Open or create a journal, and lock it; a torn last line is cut off."""
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InvalidInput(f"cannot write the journal {path}: {error.strerror}") from error
        try:
            _lock(file, path)
            reader = Reader(path)
            records = reader.read()
            if os.fstat(file).st_size > reader.offset:
                os.ftruncate(file, reader.offset)
                os.fsync(file)
        except BaseException:
            os.close(file)
            raise
        _sync_folder(path)
        return cls(path, file, records, reader.chain)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, record: Record) -> None:
        """Have a record written by the next `commit`."""
        body = json.dumps(record.to_json(), separators=(",", ":")).encode()[:-1]
        self._chain = zlib.crc32(body, self._chain)
        self._pending.append(body + _seal(self._chain) + b"\n")

    def commit(self) -> None:
        """Write what was added; once this returns, no crash can lose it."""
        if not self._pending or self._broken:
            return
        data = memoryview(b"".join(self._pending))
        self._pending.clear()
        good = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            self._broken = True  # half a line in the middle would spoil the rest
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, good)
            raise RaceFailed(
                f"cannot write the journal {self.path}: {error.strerror}. What was recorded before "
                "is kept: make room, and resume the race"
            ) from error

    def close(self) -> None:
        """Commit, and unlock the file."""
        try:
            self.commit()
        finally:
            os.close(self._file)


class Reader:
    """Reads a journal that may be growing: every `read` gives the new records.

    A last line that is not complete yet, or was torn by a crash, is left for later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0  # the bytes of all records read so far
        self.chain = 0  # the checksum of the last line
        self._lines = 0
        self._format = 0

    def read(self) -> list[Record]:
        """The records since the last time."""
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read()
        except OSError as error:
            raise InvalidInput(f"cannot read the journal {self.path}: {error.strerror}") from error
        # Otherwise any file without a newline at its end would pass for a torn journal.
        beginning = data[: len(_HEADER_START)].rstrip(b"\0")
        if not self._lines and not _HEADER_START.startswith(beginning):
            raise InvalidInput(
                f"{self.path} is not a journal: it begins with {data[:60]!r}. Give another path"
            )
        *whole, torn = data.split(b"\n")
        records = []
        for place, line in enumerate(whole):
            if b"\0" in line and place == len(whole) - 1 and not torn:
                break  # a crash of the machine left a hole
            records.append(self._record(line))
            self.offset += len(line) + 1
        return records

    def _record(self, line: bytes) -> Record:
        self._lines += 1
        try:
            record = record_of(self._unsealed(line))
        except (ValueError, KeyError, TypeError) as error:
            if self._lines == 1 and isinstance(error, KeyError | TypeError):
                raise InvalidInput(
                    f"{self.path} does not begin like a journal: give another path"
                ) from error
            raise InvalidInput(
                f"{self.path} is damaged: line {self._lines} is {line[:60]!r} ({error}). Restore "
                "the file from a copy, or remove that line and all after it"
            ) from error
        if isinstance(record, RaceBegun):
            if record.format not in READABLE:
                raise InvalidInput(
                    f"{self.path} has format {record.format}, but this paceline reads "
                    f"{' and '.join(map(str, READABLE))}: use the version that wrote it"
                )
            self._format = record.format
        return record

    def _unsealed(self, line: bytes) -> dict[str, Any]:
        """What a line says, if nothing in it was changed since it was written."""
        seal = line[-_SEAL_LENGTH:]
        is_sealed = seal.startswith(_SEAL)
        plain = json.loads(line[:-_SEAL_LENGTH] + b"}" if is_sealed else line)
        if not isinstance(plain, dict):
            raise ValueError("it is not a record")
        self.chain = zlib.crc32(line[:-_SEAL_LENGTH] if is_sealed else line, self.chain)
        if is_sealed and seal != _seal(self.chain):
            raise ValueError(
                "its checksum does not fit: after it was written, it was changed, or a line before "
                "it was removed or moved"
            )
        if self._lines == 1 and "format" not in plain:
            raise KeyError("format")
        # Format 1 had no checksums; a line that lost its checksum must not pass for one of those.
        if not is_sealed and self._format != 1 and plain.get("format") != 1:
            raise ValueError("its checksum is missing")
        return plain


def read_records(path: Path) -> list[Record]:
    """Read all records of a journal, which may still be growing."""
    return Reader(path).read()


def is_locked(path: Path) -> bool:
    """Whether some process is writing the journal."""
    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _seal(checksum: int) -> bytes:
    """The end of a line: a checksum of what stands before it, in this line and in those above."""
    return _SEAL + f'{checksum:08x}"}}'.encode()


def _lock(file: int, path: Path) -> None:
    for _ in range(_LOCK_TRIES):  # `is_locked` holds it for a moment
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_LOCK_SECONDS)
        else:
            return
    raise InvalidInput(
        f"another process is writing {path}: wait for it, or give this race a journal of its own"
    )


def _sync_folder(path: Path) -> None:
    """Make sure that the file itself is on the disk, not only what is in it."""
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
