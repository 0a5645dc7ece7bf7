"""Which processors or devices a race uses, and which of them are free."""

import contextlib
import errno
import socket
from collections.abc import Sequence
from typing import ClassVar

from paceline.errors import InvalidInput

# The claims are names of sockets, not files. There is no folder that somebody else could have made
# first, nothing can block, and the kernel removes a name when its socket is closed. Who takes all
# of the names only makes races choose as if there were no claims.
_NAME = "\0paceline-processor-{}"

Place = int | str  # a processor, or a device by its name


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

    prefix: ClassVar[str] = ""  # of the names that are claimed
    moves: ClassVar[bool] = True  # whether a worker may get others for its next job

    def __init__(self, candidates: Sequence[Place], cores: int) -> None:
        self._claims: list[socket.socket] = []  # each has its name as long as it is open
        self._free = self._claim(candidates, cores) if cores <= len(candidates) else []
        self._pinned = bool(self._free)
        self._order = list(candidates)

    def threads(self, cores: int) -> int:
        """How many threads a pull may use that has so many of them."""
        return cores

    def take(self, cores: int, before: Sequence[Place] = ()) -> list[Place]:
        """Processors for a job: those its worker had before, if they are free."""
        if not self._pinned:
            return []
        mine = list(before) if before and self.are_free(before) else self._free[:cores]
        self._free = [one for one in self._free if one not in mine]
        return mine

    def release(self, processors: Sequence[Place]) -> None:
        """Take back the processors of a job that has ended."""
        self._free = sorted([*self._free, *processors], key=self._order.index)

    def are_free(self, processors: Sequence[Place]) -> bool:
        """Whether a job could have these; always, if nothing is pinned."""
        return not self._pinned or set(processors) <= set(self._free)

    def close(self) -> None:
        """Give up the claims."""
        for claim in self._claims:
            claim.close()

    def _claim(self, candidates: Sequence[Place], cores: int) -> list[Place]:
        """Choose processors, and claim a name for each, which other races here cannot have."""
        mine: list[Place] = []
        with contextlib.suppress(OSError):
            for processor in candidates:
                claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                try:
                    claim.bind(_NAME.format(f"{self.prefix}{processor}"))
                except OSError as error:
                    claim.close()
                    if error.errno != errno.EADDRINUSE:
                        raise
                    continue
                self._claims.append(claim)
                mine.append(processor)
                if len(mine) == cores:
                    return mine
        others = [processor for processor in candidates if processor not in mine]
        return sorted(mine + others[: cores - len(mine)], key=list(candidates).index)


class Devices(Processors):
    """GPUs instead of processors. A worker keeps its own for life: libraries ask for them once.

    `threads_each` is how many threads there are for each device.

    >>> devices = Devices(("2", "3"), 2, threads_each=4.5)
    >>> devices.take(1), devices.take(1), devices.threads(1)
    (['2'], ['3'], 4)
    >>> devices.close()
    """

    prefix = "gpu-"
    moves = False

    def __init__(self, candidates: Sequence[Place], cores: int, threads_each: float = 1.0) -> None:
        if cores > len(candidates):
            raise InvalidInput(
                f"there are {len(candidates)} GPUs ({', '.join(map(str, candidates))}), and the "
                f"pool is to have {cores}: lower cores"
            )
        super().__init__(candidates, cores)
        self._threads_each = threads_each

    def threads(self, cores: int) -> int:
        """Its part of the threads."""
        return max(1, int(self._threads_each * cores))
