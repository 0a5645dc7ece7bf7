"""What pulls print in a process that another library has started."""

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from paceline.engines.local.process.printing import Printed

_LARGEST_LOG = 1 << 20  # bytes, after which it starts anew with the next job
_MOST_ON_DISK = 1 << 25  # bytes, after which it starts anew at once: a pull may print without end

_captures: dict[int, "_Capture"] = {}  # by process: what was made before a fork is another's


@contextlib.contextmanager
def captured() -> Iterator[Printed | None]:
    """Have the standard streams of this process go into a file within this block.

    Nothing else may run in the process meanwhile. None is given if it has no standard streams.

    >>> import subprocess
    >>> with captured() as printed:
    ...     print("to stdout")
    ...     _ = subprocess.run(["echo", "by a child"])
    ...     text = printed.take_all()
    >>> print(text, end="")
    to stdout
    by a child
    """
    process = os.getpid()
    if process not in _captures:
        _captures.clear()
        _captures[process] = _Capture()
    capture, streams = _captures[process], (sys.stdout, sys.stderr)
    _flush(*streams, capture.printed)
    saved: list[int] = []
    try:
        saved += [os.dup(number) for number in (1, 2)]
    except OSError:
        yield None
        return
    try:
        capture.begin()
        sys.stdout, sys.stderr = capture.streams
        yield capture.printed
    finally:
        sys.stdout, sys.stderr = streams
        _flush(*capture.streams, capture.printed)
        for number, was in zip((1, 2), saved, strict=True):
            os.dup2(was, number)
            os.close(was)


def scratch() -> BinaryIO:
    """An empty file to print into."""
    try:
        from paceline.engines.local import descriptors
    except ImportError:  # Windows
        return tempfile.TemporaryFile(buffering=0)
    return descriptors.scratch()


def _flush(*streams: Any) -> None:
    for stream in streams:
        with contextlib.suppress(Exception):  # it is closed, or None, or somebody else's
            stream.flush()


class _Capture:
    """The file, and streams that write into it while it has the numbers of the standard ones."""

    def __init__(self) -> None:
        with scratch() as file:
            self._file = os.dup(file.fileno())
        self.streams = [
            io.TextIOWrapper(
                io.BufferedWriter(_Limited(number, "wb", closefd=False)),
                encoding="utf-8",
                errors="backslashreplace",
                line_buffering=True,
            )
            for number in (1, 2)
        ]
        self.printed = Printed(self._file, self.streams)

    def begin(self) -> None:
        """Have what is printed come here."""
        if os.fstat(self._file).st_size > _LARGEST_LOG:
            self.printed.forget()
        for number in (1, 2):
            os.dup2(self._file, number)
        self.printed.take()


class _Limited(io.FileIO):
    """Begins anew when very much was written."""

    _written = 0

    def write(self, some: Any) -> int:
        """Write some bytes."""
        self._written += len(some)
        if self._written > _MOST_ON_DISK:
            self._written = 0
            os.ftruncate(self.fileno(), 0)
        return super().write(some) or 0
