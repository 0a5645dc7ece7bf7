"""What runs pulls for real: jobs go in, reports come back. Local processes are one kind of crew."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from paceline.errors import PacelineError


class Run(NamedTuple):
    """Consecutive pulls of one arm: numbers `first`, `first + 1`, … of them."""

    arm: int
    first: int
    pulls: int


def in_turn(runs: Sequence[Run]) -> list[tuple[int, int]]:
    """The pulls of a job, as (arm, number), in the order in which they are done.

    The runs take turns, pull by pull: a machine that slows down then does so for all arms alike.

    >>> in_turn([Run(0, 5, 3), Run(1, 0, 1)])
    [(0, 5), (1, 0), (0, 6), (0, 7)]
    """
    longest = max((run.pulls for run in runs), default=0)
    return [
        (run.arm, run.first + turn) for turn in range(longest) for run in runs if turn < run.pulls
    ]


@dataclass(frozen=True)
class Job:
    """Pulls that one worker does, its runs taking turns, on `cores` cores."""

    number: int
    runs: tuple[Run, ...]
    cores: int

    @property
    def pulls(self) -> int:
        """How many pulls these are."""
        return sum(run.pulls for run in self.runs)


@dataclass(frozen=True)
class Failure:
    """Why a pull gave no value: in a word, in a sentence, and as the traceback or stderr."""

    kind: str
    message: str
    detail: str = ""


@dataclass(frozen=True)
class Report:
    """The next values of a job, in the order in which its pulls are done, and how long each took.

    The last report of a job is `finished`. If it has fewer values than were missing, the first
    pull without one is the one that failed; with no failure either, the job was killed.
    """

    job: int
    values: list[float]
    seconds: list[float]
    failure: Failure | None
    finished: bool


class NothingMore(PacelineError):
    """A replay has used up what was recorded."""


class Crew(Protocol):
    """Runs jobs. Whoever gives them out sees to it that their cores fit into the pool."""

    largest_job: int  # how many pulls a job may have

    def start(self, job: Job) -> bool:
        """Begin a job; False if a first report, without values, will say when it really began."""

    def kill(self, job: int) -> None:
        """End a job and all that it started; its last report comes when it is gone."""

    def wait(self, seconds: float | None) -> list[Report]:
        """Wait for reports, so many seconds at most."""

    def close(self) -> None:
        """End everything."""


class NoCrew:
    """A crew for replays: what is not in the journal will not be done."""

    largest_job = 1

    def start(self, job: Job) -> bool:
        """Refuse."""
        raise NothingMore

    def kill(self, job: int) -> None:
        """Nothing runs."""

    def wait(self, seconds: float | None) -> list[Report]:
        """Nothing will come."""
        raise NothingMore

    def close(self) -> None:
        """Nothing is open."""
