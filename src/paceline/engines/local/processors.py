"""Which processors a race uses, and which of them are free."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO


class Processors:
    """As many processors as the pool has cores, if possible ones that no other race has claimed.

    If the pool has more cores than there are processors, nothing is pinned: jobs get none.

    >>> processors = Processors((0, 1), cores=2)
    >>> first = processors.take(1, before=[1])
    >>> first, processors.take(1), processors.are_free(first)
    ([1], [0], False)
    >>> processors.release(first)
    >>> processors.are_free(first)
    True
    >>> processors.close()
    >>> Processors((0, 1), cores=8).take(1)
    []
    """

    def __init__(self, candidates: Sequence[int], cores: int) -> None:
        self._claims: list[BinaryIO] = []  # each file is locked as long as it is open
        self._free = self._claim(candidates, cores) if cores <= len(candidates) else []
        self._pinned = bool(self._free)

    def take(self, cores: int, before: Sequence[int] = ()) -> list[int]:
        """Processors for a job: those its worker had before, if they are free."""
        if not self._pinned:
            return []
        mine = list(before) if before and self.are_free(before) else self._free[:cores]
        self._free = [one for one in self._free if one not in mine]
        return mine

    def release(self, processors: Sequence[int]) -> None:
        """Take back the processors of a job that has ended."""
        self._free = sorted([*self._free, *processors])

    def are_free(self, processors: Sequence[int]) -> bool:
        """Whether a job could have these; always, if nothing is pinned."""
        return not self._pinned or set(processors) <= set(self._free)

    def close(self) -> None:
        """Give up the claims."""
        for file in self._claims:
            file.close()

    def _claim(self, candidates: Sequence[int], cores: int) -> list[int]:
        """Choose processors, and lock a file for each, which other races on this machine see."""
        folder = Path(tempfile.gettempdir(), f"paceline-{os.getuid()}")
        mine: list[int] = []
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            for processor in candidates:
                file = (folder / f"processor-{processor}").open("ab")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    file.close()
                    continue
                self._claims.append(file)
                mine.append(processor)
                if len(mine) == cores:
                    return mine
        others = [processor for processor in candidates if processor not in mine]
        return sorted(mine + others[: cores - len(mine)])
