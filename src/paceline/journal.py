"""The journal: an append-only record of a race, one JSON object per line.

The first line is the header: what the race is. The others, by their `kind`: `results`, `failure`,
`out` (an arm is out of the race because it failed), `plan` (what a policy was started with),
`round` (what it was told of time and pool when a round was complete), `session` (the race was begun
or taken up again) and `ending`. One process writes, and holds a lock; anybody may read at any time.
"""

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

from paceline.errors import InvalidInput, RaceFailed

FORMAT = 1
_HEADER_START = b'{"kind":"race"'
_LOCK_TRIES, _LOCK_SECONDS = 5, 0.02
Record = dict[str, Any]


class Journal:
    """A journal open for writing: `add` records, then `commit` what was added to the disk.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "race.jsonl"
    >>> with Journal.open(path) as journal:
    ...     journal.add({"kind": "race", "seed": 3})
    ...     journal.commit()
    >>> read_records(path)
    [{'kind': 'race', 'seed': 3}]
    """

    def __init__(self, path: Path, file: int, records: list[Record]) -> None:
        self.path = path
        self.records = records  # what was there before
        self._file = file
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
            records, intact = _parse(path.read_bytes(), path)
            if os.fstat(file).st_size > intact:
                os.ftruncate(file, intact)
                os.fsync(file)
        except BaseException:
            os.close(file)
            raise
        _sync_folder(path)
        return cls(path, file, records)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, record: Record) -> None:
        """Have a record written by the next `commit`."""
        self._pending.append(json.dumps(record, separators=(",", ":")).encode() + b"\n")

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
        """Commit, and let others write."""
        try:
            self.commit()
        finally:
            os.close(self._file)


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


def read_records(path: Path) -> list[Record]:
    """Read all records of a journal, which may be growing meanwhile."""
    try:
        return _parse(path.read_bytes(), path)[0]
    except OSError as error:
        raise InvalidInput(f"cannot read the journal {path}: {error.strerror}") from error


def is_locked(path: Path) -> bool:
    """Whether some process is writing the journal."""
    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _parse(data: bytes, path: Path) -> tuple[list[Record], int]:
    """The records, and how many bytes are whole lines: a crash may have torn the last one."""
    beginning = data[: len(_HEADER_START)]
    # Else a file of the user's without a newline at its end would pass for a torn journal.
    if not _HEADER_START.startswith(beginning.rstrip(b"\0")):
        raise InvalidInput(f"{path} is no journal: it begins with {data[:60]!r}. Give another path")
    records: list[Record] = []
    intact = 0
    for number, line in enumerate(_lines(data), start=1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        whole = line.endswith(b"\n")
        if not isinstance(record, dict) or "kind" not in record or not whole:
            if intact + len(line) == len(data) and (not whole or b"\0" in line):
                break
            raise InvalidInput(
                f"{path} is no journal, or is damaged: line {number} is {line[:60]!r}. Give "
                "another path, or remove that line and all after it"
            )
        records.append(record)
        intact += len(line)
    return records, intact


def _lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _sync_folder(path: Path) -> None:
    """Make sure that the file itself is on the disk, not only what is in it."""
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
