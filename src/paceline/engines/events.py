"""What happens to jobs and to the pool: the events that an engine's workers report.

A job ends with exactly one of `Finished`, `Failed` and `Lost`; no event of it follows.
"""

from dataclasses import dataclass
from typing import Literal

FailureKind = Literal[
    "exception",
    "told",  # by whoever does the pulls
    "no number",
    "exit status",
    "no start",
    "died",  # its worker ended by itself
    "timeout",
    "out of bounds",
    # Those below need not be the work of the pull: `paceline.pools.blame` has the rules.
    "machine",  # it could not be started or loaded for want of memory, processes, files …
    "killed",  # by a signal that may have come from outside
    "shortage",  # it ran out of memory, processes, files …
    "died after others",  # in a worker in which pulls of other arms had run before
]


@dataclass(frozen=True)
class Failure:
    """Why a pull gave no value: in a word, in a sentence, and as a traceback; what it printed."""

    kind: FailureKind
    message: str
    detail: str = ""
    printed: str = ""

    @property
    def blames_one(self) -> bool:
        """Whether it is known which pull of a group failed: an earlier one may kill the worker."""
        return self.kind not in ("died", "timeout", "machine", "killed", "died after others")

    @property
    def is_by_pulls(self) -> bool:
        """Whether a pull caused it, this one or another, and not the machine."""
        return self.kind not in ("machine", "killed", "shortage")


@dataclass(frozen=True, slots=True)
class Loading:
    """The job waits: its worker is still starting, or loading what pulls need.

    If it is `idle`, nothing is being done yet: it may wait as long as it takes, and uses no cores.
    """

    job: int
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Began:
    """A job that was `Loading` has begun its first pull: only now does its time count."""

    job: int


@dataclass(frozen=True, slots=True)
class Values:
    """The next pulls of a job, in order, gave these values.

    `seconds` says how long each of them took, and `printed` what those of them printed that did:
    the place of each among these values, and the text.
    """

    job: int
    values: list[float]
    seconds: list[float]
    printed: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """All pulls of the job have given their values."""

    job: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The next pull of the job failed, and the job is over."""

    job: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Lost:
    """The job is over, and none of its pulls is to blame.

    `why` says what the machine did to it; it is empty if the job was told to end. Then `printed`
    may have what the pull had printed that was under way.
    """

    job: int
    why: str = ""
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Resized:
    """The pool has changed: the cores of each node now, and why.

    A node keeps its place, and has 0 cores once it is gone; a new one is added at the end. Jobs
    that were lost with a node are reported one by one, before this or after it. `memory` has the
    bytes of each node, if they are known.
    """

    nodes: tuple[int, ...]
    why: str = ""
    memory: tuple[int, ...] = ()


JobEvent = Loading | Began | Values | Finished | Failed | Lost
Event = JobEvent | Resized
