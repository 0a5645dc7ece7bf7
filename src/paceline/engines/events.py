"""What happens to jobs: the events that an engine's workers report.

A job ends with exactly one of `Finished`, `Failed` and `Lost`; no event of it follows.
"""

from dataclasses import dataclass
from typing import Literal

FailureKind = Literal[
    "exception", "no number", "exit status", "no start", "died", "timeout", "out of bounds"
]


@dataclass(frozen=True)
class Failure:
    """Why a pull gave no value: in a word, in a sentence, and as the traceback or stderr."""

    kind: FailureKind
    message: str
    detail: str = ""

    @property
    def blames_one(self) -> bool:
        """Whether it is known which pull of a group failed: an earlier one may kill the worker."""
        return self.kind not in ("died", "timeout")


@dataclass(frozen=True, slots=True)
class Loading:
    """The job waits: its worker is still starting, or loading what pulls need."""

    job: int


@dataclass(frozen=True, slots=True)
class Began:
    """A job that was `Loading` has begun its first pull: only now does its time count."""

    job: int


@dataclass(frozen=True, slots=True)
class Values:
    """The next pulls of a job, in order, gave these values.

    `seconds` says how long each of them took.
    """

    job: int
    values: list[float]
    seconds: list[float]


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
    """The job is over, and none of its pulls is to blame: it was ended, or its machine was lost."""

    job: int


Event = Loading | Began | Values | Finished | Failed | Lost
