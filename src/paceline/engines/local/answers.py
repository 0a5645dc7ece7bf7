"""Checks what a worker says of its job: each answer in its turn, with numbers that can be.

A pull runs in the process of its worker. It may replace that process's clock, or write to its
socket. What it could change counts only if it makes sense.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from paceline.engines.events import Began, Event, Failed, Failure, Finished, Lost, Values
from paceline.engines.jobs import Job
from paceline.engines.local.process.messages import Answer, Malformed

_SLACK_SECONDS = 0.1  # between two clocks

# Bound here, as in the worker: those who freeze the time of a test replace it in `time`.
_Clock = Callable[[], float]


@dataclass
class Turn:
    """A job that a worker has, since when, and what it has said of it.

    >>> from paceline.engines.jobs import Run
    >>> turn = Turn(Job(7, (Run(0, 0, 2),), cores=1), began=True)
    >>> turn.take(Answer("values", 7, [0.5], [0.0], threads=0, trouble=None))
    >>> turn.take(Answer("finished", 7, [0.5, 0.5], [0.0, 0.0], threads=0, trouble=None))
    Traceback (most recent call last):
        ...
    paceline.engines.local.process.messages.Malformed: 2 values where 1 should come
    """

    job: Job
    began: bool  # whether it has begun its first pull; before, its worker has to load
    clock: _Clock = field(default=time.monotonic, repr=False)
    sent: float = math.nan
    answered: int = 0  # pulls
    worked: float = 0.0  # seconds

    def __post_init__(self) -> None:
        self.sent = self.clock()

    @property
    def seconds(self) -> float:
        """How long it has been under way."""
        return self.clock() - self.sent

    def take(self, answer: Answer) -> None:
        """Take note of an answer; raises `Malformed` if it cannot be one to this job."""
        if answer.job != self.job.number:
            raise Malformed("an answer to another job")
        self._check_turn(answer)
        _check_values(answer.values)
        _check_printed(answer)
        self._check_seconds(answer.seconds)
        self.answered += len(answer.values)

    def _check_turn(self, answer: Answer) -> None:
        pulls, missing = len(answer.values), self.job.pulls - self.answered
        if answer.kind == "began":
            if self.began or pulls:
                raise Malformed("the beginning of a job that has begun")
            self.began = True
        elif not self.began and (answer.kind != "failed" or pulls):
            raise Malformed("an answer to a job that has not begun")
        elif answer.kind == "finished" and pulls != missing:
            raise Malformed(f"{pulls} values where {missing} should come")
        elif answer.kind != "finished" and pulls >= missing:
            raise Malformed(f"{pulls} values, and no end, where {missing} should come")

    def _check_seconds(self, seconds: list[float]) -> None:
        if not seconds:
            return
        self.worked += sum(seconds)
        most = self.seconds + _SLACK_SECONDS
        # The sum is nan if one of them is; `min` could miss it.
        if not 0.0 <= self.worked <= most or min(seconds) < 0.0:
            raise Malformed(
                f"pulls of {self.worked:g} s in a job of {most - _SLACK_SECONDS:.3g} s: does the "
                "function change the clock?"
            )


def told(answer: Answer) -> list[Event]:
    """What an answer says, as events.

    >>> told(Answer("finished", 7, [0.5], [2.0], 0, None, [(0, "hello")]))
    [Values(job=7, values=[0.5], seconds=[2.0], printed=((0, 'hello'),)), Finished(job=7)]
    """
    job, number = answer.job, len(answer.values)
    if answer.kind == "began":
        return [Began(job)]
    events: list[Event] = []
    if number:
        printed = tuple((place, text) for place, text in answer.printed if place < number)
        events.append(Values(job, answer.values, answer.seconds, printed))
    if answer.kind == "finished":
        events.append(Finished(job))
    elif answer.trouble is not None:
        kind, what, detail = answer.trouble
        said = "".join(text for place, text in answer.printed if place == number)
        machine = kind == "machine"  # nobody's pull is to blame
        failure = Failure(kind, what, detail, said)
        events.append(Lost(job, what) if machine else Failed(job, failure))
    return events


def _check_values(values: list[float]) -> None:
    # The sum is quick; it may be infinite although all of them are finite.
    if not math.isfinite(sum(values)) and not all(map(math.isfinite, values)):
        raise Malformed("a value that is not finite")


def _check_printed(answer: Answer) -> None:
    most = len(answer.values) - (answer.kind != "failed")
    if any(not 0 <= place <= most for place, _ in answer.printed):
        raise Malformed("what was printed by a pull that it does not tell of")
