"""The pulls of a job, done in this process: for engines whose workers belong to another library."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from paceline.engines.events import Event, Failed, Failure, Finished, Values
from paceline.engines.jobs import Run, in_turn
from paceline.engines.pulling import pull
from paceline.engines.workload import Workload


class Answer(NamedTuple):
    """The values of the first pulls of a job and their seconds; and why the next gave none."""

    values: list[float]
    seconds: list[float]
    failure: Failure | None = None

    def events(self, job: int) -> list[Event]:
        """What happened to the job, as events.

        >>> Answer([0.5], [2.0]).events(7)
        [Values(job=7, values=[0.5], seconds=[2.0]), Finished(job=7)]
        """
        last: Event = Finished(job) if self.failure is None else Failed(job, self.failure)
        return [Values(job, self.values, self.seconds), last] if self.values else [last]


def work(workload: Workload, runs: Sequence[Run], cores: int) -> Answer:
    """Do the pulls of these runs in turn, until one fails.

    >>> workload = Workload(lambda arm: 1 / arm, [2, 0], lambda arm, first, pulls: [0] * pulls)
    >>> answer = work(workload, [Run(0, 0, 1), Run(1, 0, 1)], cores=1)
    >>> answer.values, answer.failure.message
    ([0.5], 'raised ZeroDivisionError: division by zero')
    """
    values: list[float] = []
    seconds: list[float] = []
    for arm, number in in_turn(runs):
        began = time.perf_counter()
        value = pull(workload, arm, number, cores)
        if isinstance(value, Failure):
            return Answer(values, seconds, value)
        values.append(value)
        seconds.append(time.perf_counter() - began)
    return Answer(values, seconds)
