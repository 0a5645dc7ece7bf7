"""What the cores of a pool did, and when: for an account of their time, and for pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

from paceline.core.arrays import Floats, Ints

# In the order in which they are reported. Besides these, cores are idle.
USES = ("counted", "ahead", "backups", "cancelled", "failed", "starting")


@dataclass(frozen=True)
class CoreTime:
    """How the core time of a pool was spent, in core-seconds.

    >>> CoreTime(counted=60.0, ahead=20.0, starting=1.0, idle=19.0).describe()
    'counted 60 %, ahead 20 %, starting 1 %, idle 19 %'
    """

    counted: float = 0.0  # pulls with a value that a round asked for
    ahead: float = 0.0  # pulls with a value that no round came to ask for
    backups: float = 0.0  # pulls that were done twice: the one that came second
    cancelled: float = 0.0  # pulls that were ended because they were no longer needed
    failed: float = 0.0  # pulls that failed or were lost, and all of arms that failed
    starting: float = 0.0  # workers that loaded what pulls need
    idle: float = 0.0

    @property
    def total(self) -> float:
        """All the time that the pool had."""
        return float(sum(asdict(self).values()))

    @property
    def in_use(self) -> float:
        """The time in which pulls ran, for whatever reason."""
        return self.total - self.starting - self.idle

    def describe(self) -> str:
        """The shares of all of it, for people; what is less than half a percent is left out."""
        total = self.total or 1.0
        shares = {use: round(100 * spent / total) for use, spent in asdict(self).items()}
        return ", ".join(f"{use} {share} %" for use, share in shares.items() if share)

    def to_json(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Span:
    """`cores` cores were used from `start` to `end`, in seconds of the race.

    The pulls have the numbers `first`, `first + 1`, … of their arm; `first` is −1 if there is no
    value of them, and the arm is then the one that was to be pulled next.
    """

    arm: int
    first: int
    pulls: int
    cores: int
    start: float
    end: float
    use: str  # one of `USES`


@dataclass(frozen=True, eq=False)
class Timeline(Sequence[Span]):
    """The spans of a race, in the order of its record; as columns, for those who draw many.

    `pool` says how many cores there were, and from which second on.
    """

    arm: Ints
    first: Ints
    pulls: Ints
    cores: Ints
    end: Floats
    seconds: Floats
    use: Ints  # the place in `USES`
    pool: tuple[tuple[float, int], ...]
    elapsed: float

    @property
    def start(self) -> Floats:
        """When each span began."""
        return self.end - self.seconds

    def __len__(self) -> int:
        return int(self.arm.size)

    @overload
    def __getitem__(self, place: int) -> Span: ...

    @overload
    def __getitem__(self, place: slice) -> list[Span]: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        end, seconds = float(self.end[place]), float(self.seconds[place])
        return Span(
            int(self.arm[place]),
            int(self.first[place]),
            int(self.pulls[place]),
            int(self.cores[place]),
            end - seconds,
            end,
            USES[self.use[place]],
        )

    def __iter__(self) -> Iterator[Span]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"<Timeline of {len(self)} spans: {self.core_time().describe()}>"

    def _repr_html_(self) -> str:
        from paceline.story.markup import of_timeline  # which knows this module

        return of_timeline(self)

    def core_time(self) -> CoreTime:
        """The sum of it all; what is missing was idle."""
        spent = np.bincount(self.use, self.cores * self.seconds, len(USES))
        sizes = pairwise([*self.pool, (self.elapsed, 0)])
        there = sum(cores * max(0.0, end - at) for (at, cores), (end, _) in sizes)
        idle = max(0.0, there - float(spent.sum()))
        return CoreTime(**dict(zip(USES, spent.tolist(), strict=True)), idle=idle)
