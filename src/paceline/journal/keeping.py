"""The file under a journal that is being written: it may be deleted, moved, emptied or replaced.

Whoever does that does not know that a race is writing it. What is recorded must not be lost, so a
copy without a name is kept beside the file, and is gone with the process.
"""

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from paceline.errors import InvalidInput
from paceline.journal.reading import check_kind
from paceline.journal.system import FLAGS, copy_mode, lock, read_at, write_at

_LOCK_TRIES, _LOCK_SECONDS = 5, 0.02
_COPY_BYTES = 1 << 20


class Replaced(Exception):
    """Something else stands where the file was: what it is, and where the record is saved."""

    def __init__(self, what: str, saved: Path) -> None:
        super().__init__(what)
        self.saved = saved


class KeptFile:
    """A file that is open, locked and only appended to, and stays at its path.

    `mode` is that of a new file. Without `create`, the file must exist.
    """

    def __init__(self, path: Path, *, create: bool, mode: int) -> None:
        flags = os.O_RDWR | os.O_APPEND | FLAGS
        with contextlib.suppress(FileNotFoundError):
            check_kind(path)
        self._file = os.open(path, flags | (os.O_CREAT if create else 0), mode)
        try:
            check_kind(self._file)
            _lock(self._file, path)
        except BaseException:
            os.close(self._file)
            raise
        self.path = Path(os.path.realpath(path))  # of the file itself, if that was a link
        self._size = os.fstat(self._file).st_size
        self._copy: BinaryIO | None = None

    def cut(self, size: int) -> None:
        """Cut off what was torn by a crash; from here on, the file is kept whole."""
        if self._size > size:
            os.ftruncate(self._file, size)
            os.fsync(self._file)
            self._size = size
        try:
            self._copy = tempfile.TemporaryFile(dir=self.path.parent, buffering=0)  # noqa: SIM115
            _pour(self._file, self._copy.fileno(), size)
        except OSError:  # no room: only what is cut off in mid-race cannot be mended then
            self._drop_copy()
        sync_folder(self.path)

    def append(self, data: bytes) -> None:
        """Write to the end of the file; when this returns, it is on the disk."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:  # also a Ctrl-C: what is not whole must not stay
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        if self._copy is not None:
            try:
                _write_at(self._copy.fileno(), data, self._size)
            except OSError:
                self._drop_copy()
        self._size += len(data)

    def check(self) -> str:
        """See that the file is there and whole, and mend it; return what had happened to it.

        If something else is there now, the record is saved beside it, and written there from now
        on: that raises `Replaced`.
        """
        mine = os.fstat(self._file)
        try:
            there = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return self._write_anew() if self._size else ""
        except OSError:  # the file system is not to be reached: to write will say so
            return ""
        if not os.path.samestat(mine, there):
            raise self._saved("another file was put in its place")
        if there.st_size == self._size or not self._size:
            return ""
        if there.st_size < self._size:
            if self._copy is None:
                raise OSError(0, "somebody cut it off, and there was no room to keep a copy")
            if self._mended(self._copy.fileno(), there.st_size):
                return "it was cut off"
        raise self._saved("somebody else wrote to it")

    def close(self) -> None:
        """Unlock the file."""
        self._drop_copy()
        os.close(self._file)

    def _mended(self, copy: int, size: int) -> bool:
        """Write again what was cut off behind `size`; False if more than that has changed."""
        if not _same_start(self._file, copy, size):
            return False
        _pour(copy, self._file, self._size, start=size)
        os.fsync(self._file)
        return True

    def _write_anew(self) -> str:
        """Write the file again where it was; it has all, and is locked, when others see it."""
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self._copied_to(part)
        except OSError as error:
            raise self._saved(f"it cannot be written again ({error.strerror})") from error
        try:
            _name(part, self.path)
        except FileExistsError:
            os.close(file)
            raise self._saved("another file was put in its place") from None
        self._go_on_in(file)
        return "it was deleted or moved away"

    def _saved(self, what: str) -> Replaced:
        """Keep the record beside what is there now, or wherever there is room."""
        name = f"{self.path.name}.saved-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        folders = (self.path.parent, Path.cwd(), Path(tempfile.gettempdir()))
        for last, folder in zip((False, False, True), folders, strict=True):
            try:
                file = self._copied_to(folder / name)
            except OSError:
                if last:
                    raise
            else:
                self.path = folder / name
                self._go_on_in(file)
                break
        return Replaced(what, self.path)

    def _copied_to(self, path: Path) -> int:
        """A new file, open and locked, that holds the whole record."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | FLAGS
        file = os.open(path, flags, 0o600)
        try:
            copy_mode(self._file, file)
            lock(file)
            source = self._file if self._copy is None else self._copy.fileno()
            _pour(source, file, self._size)
            os.fsync(file)
        except BaseException:
            os.close(file)
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        return file

    def _go_on_in(self, file: int) -> None:
        os.close(self._file)
        self._file = file
        sync_folder(self.path)

    def _drop_copy(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None


def _pour(source: int, target: int, end: int, start: int = 0) -> None:
    """Append bytes `start`, …, `end` − 1 of a file to another."""
    while start < end:
        data = read_at(source, min(_COPY_BYTES, end - start), start)
        if not data:
            raise OSError(0, "what was recorded is no longer there")
        left = memoryview(data)
        while left:
            left = left[os.write(target, left) :]
        start += len(data)


def _write_at(file: int, data: bytes, place: int) -> None:
    left = memoryview(data)
    while left:
        count = write_at(file, left, place)
        left, place = left[count:], place + count


def _same_start(one: int, other: int, size: int) -> bool:
    """Whether two files begin with the same `size` bytes."""
    places = range(0, size, _COPY_BYTES)
    counts = [min(_COPY_BYTES, size - place) for place in places]
    return all(
        read_at(one, count, place) == read_at(other, count, place)
        for place, count in zip(places, counts, strict=True)
    )


def _name(part: Path, path: Path) -> None:
    """Give a finished file its name, unless something else has that by now."""
    try:
        os.link(part, path)
    except FileExistsError:
        os.unlink(part)
        raise
    except OSError:  # a file system without links
        os.rename(part, path)
    else:
        os.unlink(part)


def _lock(file: int, path: Path) -> None:
    for _ in range(_LOCK_TRIES):  # `is_locked` holds it for a moment
        try:
            lock(file)
        except OSError:
            time.sleep(_LOCK_SECONDS)
        else:
            return
    raise InvalidInput(
        f"another process is writing {path}: wait for it, or give this race a journal of its own"
    )


def sync_folder(path: Path) -> None:
    """Make sure that the file itself is on the disk, not only what is in it."""
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
