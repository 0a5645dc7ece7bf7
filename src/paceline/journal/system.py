"""What a journal needs of the operating system, which is not the same everywhere.

Locks are flock's where there is `fcntl`. On Windows a byte far behind the end is locked: there,
others cannot read what is locked. Where neither exists, nothing is locked.
"""

import contextlib
import os
import signal
from collections.abc import Iterator

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # as mypy sees it, there is always one
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]

_LOCKED_BYTE = 1 << 40  # no journal is as long
# Windows would change the ends of lines, without O_BINARY; the others are not known there.
FLAGS = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))


def lock(file: int) -> None:
    """Lock an open file for this process alone; raises OSError if another one has."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        _lock_byte(file, "LK_NBLCK")


def is_free(file: int) -> bool:
    """Whether nobody has locked an open file."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        elif msvcrt is not None:
            _lock_byte(file, "LK_NBLCK")
            _lock_byte(file, "LK_UNLCK")
    except OSError:
        return False
    return True


def _lock_byte(file: int, how: str) -> None:
    place = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
    try:
        getattr(msvcrt, "locking")(file, getattr(msvcrt, how), 1)  # noqa: B009 - mypy has none
    finally:
        os.lseek(file, place, os.SEEK_SET)


def read_at(file: int, count: int, place: int) -> bytes:
    """Read from a place of an open file."""
    if hasattr(os, "pread"):
        return os.pread(file, count, place)
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, count)


def write_at(file: int, data: memoryview, place: int) -> int:
    """Write to a place of an open file, which is not one that is appended to."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, place)
    os.lseek(file, place, os.SEEK_SET)
    return os.write(file, data)


def copy_mode(source: int, target: int) -> None:
    """Let the same users read and write a file as another."""
    if hasattr(os, "fchmod"):
        os.fchmod(target, os.fstat(source).st_mode & 0o7777)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let a Ctrl-C, or what a batch system sends, wait until this is over, where that can be."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
