"""The driver's pairs of sockets and files without a name, for what it shares with its workers.

None of them has the number of a standard stream, not even if the caller has closed those: what some
library writes to its standard error must not end up in a message.
"""

import contextlib
import fcntl
import os
import socket
import subprocess
import tempfile
from typing import BinaryIO

from paceline.errors import RaceFailed

_FIRST_FREE = 3  # 0, 1 and 2 are the standard streams
_SEALS = ("F_SEAL_WRITE", "F_SEAL_GROW", "F_SEAL_SHRINK", "F_SEAL_SEAL")  # of Linux alone
_ROOM_BYTES = 1 << 16  # that a folder must have for what a worker prints


def pair() -> tuple[socket.socket, socket.socket]:
    """Two sockets that are connected; they keep messages apart."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return _moved(mine), _moved(its)


def _moved(end: socket.socket) -> socket.socket:
    return socket.socket(fileno=away(end.detach()))


def is_hung_up(end: socket.socket) -> bool:
    """Whether nobody has the other end of a pair: an empty message looks like that, too.

    >>> mine, its = pair()
    >>> _ = its.send(b"")
    >>> mine.recv(10), is_hung_up(mine)
    (b'', False)
    >>> its.close()
    >>> mine.recv(10), is_hung_up(mine)
    (b'', True)
    >>> mine.close()
    """
    import select

    poll = select.poll()
    poll.register(end, select.POLLRDHUP)
    return bool(poll.poll(0))


def standard(stream: int) -> int | None:
    """What a new process gets as this stream: the same, or nothing if it is closed here.

    Once it is closed, any other file may get its number; that one is not inherited.
    """
    try:
        return None if os.get_inheritable(stream) else subprocess.DEVNULL
    except OSError:
        return subprocess.DEVNULL


def file_with(content: bytes) -> BinaryIO:
    """A file with this content, which nobody changes: in memory, since it comes from there.

    >>> with file_with(b"abc") as file:
    ...     os.pread(file.fileno(), 10, 0)
    b'abc'
    """
    try:
        number = _in_memory(os.MFD_ALLOW_SEALING)
    except (AttributeError, OSError):
        number = _in_folder(0)
    left = memoryview(content)
    try:
        while left:
            left = left[os.write(number, left) :]
    except OSError as error:
        os.close(number)
        raise _no_file(error) from error
    with contextlib.suppress(OSError, AttributeError):  # a file in a folder cannot be sealed
        seals = sum(getattr(fcntl, name) for name in _SEALS)
        fcntl.fcntl(number, fcntl.F_ADD_SEALS, seals)
    return os.fdopen(number, "rb", buffering=0)


def scratch() -> BinaryIO:
    """An empty file to print into; everything is appended.

    It is in the folder for temporary files, for it may get long. If that is full, or there is none,
    it is in memory.
    """
    try:
        number = _in_folder(_ROOM_BYTES)
    except RaceFailed as full:
        try:
            number = _in_memory(0)
        except (AttributeError, OSError):
            raise full from None
    fcntl.fcntl(number, fcntl.F_SETFL, os.O_APPEND)
    return os.fdopen(number, "rb+", buffering=0)


def _in_memory(flags: int) -> int:
    return away(os.memfd_create("paceline", os.MFD_CLOEXEC | flags))


def _in_folder(room: int) -> int:
    try:
        with tempfile.TemporaryFile(buffering=0) as file:
            file.write(bytes(room))  # a full folder still takes an empty file
            file.truncate(0)
            return fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    except OSError as error:
        raise _no_file(error) from error


def _no_file(error: OSError) -> RaceFailed:
    return RaceFailed(
        f"no file for a worker process could be made, neither in memory nor in the folder for "
        f"temporary files ({error}): free some space, or set TMPDIR to another folder"
    )


def away(number: int) -> int:
    """The same file with a number that no standard stream has."""
    if number >= _FIRST_FREE:
        return number
    try:
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    finally:
        os.close(number)
