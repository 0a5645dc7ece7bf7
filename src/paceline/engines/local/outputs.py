"""What a worker prints, as the driver sees it: files that outlive the worker."""

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from paceline.engines.local import process
from paceline.engines.local.descriptors import scratch
from paceline.engines.local.process.printing import excerpt, excerpt_of, limit, together

_LARGEST_LOG = 1 << 20  # bytes, after which a new job has the log start anew
_LOOK_SECONDS = 0.1
# Lines of Python's account of a crash.
_OURS = re.compile(rf'^  File "(?:{re.escape(process.__path__[0])}.*|<frozen runpy>.*)\n', re.M)


@dataclass(eq=False)
class Outputs:
    """The log of a worker, and for commands what they print to stdout.

    >>> outputs = Outputs.create(command=False)
    >>> _ = os.write(outputs.log.fileno(), b"loading\\nhello\\n")
    >>> outputs.told(8)  # as the worker says
    >>> outputs.rest()
    'hello\\n'
    >>> outputs.close()
    """

    log: BinaryIO  # what functions print; for commands, their stderr
    stdout: BinaryIO | None  # of a command
    _at: int = 0  # where in the log begins what the worker has not told yet
    _looked: float = 0.0

    @classmethod
    def create(cls, *, command: bool) -> "Outputs":
        """Files for a worker."""
        return cls(scratch(), scratch() if command else None)

    def begin(self) -> None:
        """A job begins: what earlier ones have printed is not its own."""
        if self.stdout is not None:
            os.ftruncate(self.stdout.fileno(), 0)
        size = os.fstat(self.log.fileno()).st_size
        if size > _LARGEST_LOG:
            os.ftruncate(self.log.fileno(), 0)
            size = 0
        self._at = size

    def told(self, at: int) -> None:
        """The worker has told of what is in its log before this place."""
        self._at = at

    def rest(self) -> str:
        """What its job printed, and the worker did not tell: it has ended."""
        log = self.log.fileno()
        size = os.fstat(log).st_size
        stderr = _OURS.sub("", excerpt(log, self._at if self._at <= size else 0, size))
        if self.stdout is None:
            return stderr
        return together(excerpt_of(self.stdout.fileno()), stderr)

    def limit(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """See now and then that a pull which prints without end does not fill the disk."""
        if (now := clock()) < self._looked + _LOOK_SECONDS:
            return
        self._looked = now
        for file in self._files():
            limit(file.fileno(), may_cut=file is self.log)

    def close(self) -> None:
        """Close the files; they are then gone."""
        for file in self._files():
            file.close()

    def _files(self) -> Iterator[BinaryIO]:
        yield self.log
        if self.stdout is not None:
            yield self.stdout
