r"""What pulls print: where it goes, and how much of it is told.

A worker's standard streams are a file, which outlives it: whatever a pull writes, from Python, from
C or in a process that it has started, stands there even if it kills its worker. Nothing blocks.

>>> import tempfile
>>> with tempfile.TemporaryFile(buffering=0) as file:
...     _ = file.write(b"one\n" + b"." * 10_000 + b"\nend\n")
...     text = excerpt(file.fileno(), 0, 10_009)
>>> len(text), text[:4], text[-5:]
(6026, 'one\n', '\nend\n')
>>> text.strip(".one\nd")
'… 4,009 bytes left out …'
"""

import contextlib
import ctypes
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

HEAD_BYTES, TAIL_BYTES = 2_000, 4_000  # of what a pull prints that are told
# A pull that took less is not asked what it has printed, for that takes half a microsecond, as does
# the least that one could write. The second holds where the last job has printed nothing: if such
# short pulls do so then, another one of their job is told to have printed it.
_NOTHING_SECONDS, _SILENT_SECONDS = 5e-7, 1e-5

_LINE_BUFFERED = 1
_PUNCH_HOLE_KEEP_SIZE = 3
_MOST_ON_DISK = 1 << 25  # bytes: twice as much as is searched for a value
_KEPT_ON_DISK = 1 << 20  # at both ends of what takes more


def print_into(file: int) -> None:
    """Make a file the standard streams of this process, line by line, for it may be killed."""
    for number in (1, 2):
        os.dup2(file, number)
    for stream in (sys.__stdout__, sys.__stderr__):
        # None if the driver has none; a text that cannot be encoded is no reason to fail.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(  # type: ignore[union-attr]
                encoding="utf-8", errors="backslashreplace", line_buffering=True
            )
    with contextlib.suppress(OSError, ValueError, AttributeError):
        ctypes.CDLL(None).setvbuf(_c_stdout(), None, _LINE_BUFFERED, ctypes.c_size_t(1 << 12))


def _c_stdout() -> Any:
    return ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout")


class Printed:
    """What is printed into a file, from one call to the next.

    Pulls may replace what is in `sys` or `os`: all is bound before the first of them.
    """

    def __init__(self, file: int, streams: Sequence[Any] | None = None) -> None:
        self.file = file
        self.at = 0  # where what was not told yet begins
        self._is_silent = False
        streams = (sys.__stdout__, sys.__stderr__) if streams is None else streams
        self._flushes: list[Callable[[], object]] = [one.flush for one in streams if one]
        self._flush_c: Callable[[], object] = int  # does nothing
        with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):  # Windows
            fflush, stdout = ctypes.CDLL(None).fflush, _c_stdout()
            self._flush_c = lambda: fflush(stdout)

    def flush(self) -> None:
        """Have the libraries of C write what they hold back."""
        self._flush_c()

    def next_job(self) -> float:
        """How many seconds a pull of the next job takes before it is worth asking."""
        least = _SILENT_SECONDS if self._is_silent else _NOTHING_SECONDS
        self._is_silent = True
        return least

    def take(self, *, seek: Any = os.lseek, to_end: int = os.SEEK_END) -> str:
        """What was printed since, for people: of a long text, the beginning and the end."""
        try:
            for flush in self._flushes:
                flush()
            end = seek(self.file, 0, to_end)
        except Exception:  # a pull has closed them
            return ""
        if end == self.at:
            return ""
        begin, self.at, self._is_silent = self.at if self.at < end else 0, end, False
        return excerpt(self.file, begin, end)

    def take_all(self) -> str:
        """The same, with what the libraries of C still hold back."""
        self.flush()
        return self.take()

    def forget(self) -> None:
        """Begin anew: what was printed so far is of no pull."""
        self.take_all()
        self._is_silent = False
        with contextlib.suppress(OSError):
            os.ftruncate(self.file, 0)
        self.at = 0


def _read(file: int, most: int, place: int, *, seek: Any = os.lseek, read: Any = os.read) -> Any:
    seek(file, place, os.SEEK_SET)
    return read(file, most)


_READ = getattr(os, "pread", _read)  # Windows has none


def excerpt(file: int, begin: int, end: int, *, read: Any = _READ) -> str:
    """What is in a file between these places; of a long text, the beginning and the end."""
    left_out = end - begin - HEAD_BYTES - TAIL_BYTES
    try:
        if left_out <= 0:
            return _decoded(read(file, end - begin, begin))
        head = _decoded(read(file, HEAD_BYTES, begin)).rstrip("\ufffd")
        tail = _decoded(read(file, TAIL_BYTES, end - TAIL_BYTES)).lstrip("\ufffd")
    except OSError:
        return ""
    return f"{head}\n… {left_out:,} bytes left out …\n{tail}"


def _decoded(some: bytes) -> str:
    return some.decode(errors="replace")


def excerpt_of(file: int) -> str:
    """The same of all that is in a file."""
    return excerpt(file, 0, os.fstat(file).st_size)


def together(stdout: str, stderr: str, value: float = math.nan) -> str:
    r"""What a command printed to both of its streams; nothing that is its value alone.

    >>> together("0.5", "slow\n"), together("0.50\n", "", 0.5)
    ('0.5\nslow\n', '')
    """
    texts = [text for text in (stdout, stderr) if text and not _is_number(text, value)]
    return "\n".join(texts) if stdout[-1:] != "\n" else "".join(texts)


def _is_number(text: str, value: float) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return False


def limit(file: int, *, may_cut: bool) -> None:
    """Give back to the disk what is in the middle of a file, if that is very long.

    Everything else stays in its place. Where the system cannot do that, all is cut off, if it may.
    """
    status = os.fstat(file)
    if 512 * status.st_blocks <= _MOST_ON_DISK:
        return
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        allocate = getattr(library, "fallocate64", None) or library.fallocate
        sizes = (_KEPT_ON_DISK, status.st_size - 2 * _KEPT_ON_DISK)
        if allocate(file, _PUNCH_HOLE_KEEP_SIZE, *map(ctypes.c_int64, sizes)) == 0:
            return
    if may_cut:
        os.ftruncate(file, 0)


def joined(printed: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """What pulls printed, a text each; nothing of those that were silent.

    >>> joined([(0, "a"), (1, ""), (2, "b"), (2, "c")])
    [(0, 'a'), (2, 'bc')]
    """
    found: dict[int, str] = {}
    for place, text in printed:
        if text:
            found[place] = found.get(place, "") + text
    return list(found.items())
