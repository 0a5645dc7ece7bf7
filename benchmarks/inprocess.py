"""An engine in this process: pulls are evaluated at once, one after the other, on one core.

Real races of quick functions without worker processes, for tests and benchmarks that need many.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import cloudpickle

from paceline.engines.crew import Job, Report
from paceline.engines.work import Work
from paceline.machine import AvailableCores


class InProcess:
    """A host whose pulls run where it is: `engine=InProcess()`."""

    def available(self) -> AvailableCores:
        return AvailableCores(1, "in this process", (0,))

    def crew(self, work: Work, cores: int) -> "InProcessCrew":
        return InProcessCrew(work)

    def clock(self) -> float:
        return time.monotonic()


class InProcessCrew:
    """Has done a job as soon as it is given it."""

    largest_job = 128

    def __init__(self, work: Work) -> None:
        evaluate, arms, takes_seed, takes_cores = cloudpickle.loads(work.blob)
        fixed = {"cores": 1} if takes_cores else {}
        self._call: Callable[[int, Any], float] = (
            (lambda arm, seed: evaluate(arms[arm], seed=seed, **fixed))
            if takes_seed
            else (lambda arm, _: evaluate(arms[arm], **fixed))
        )
        self._work = work
        self._reports: deque[Report] = deque()

    def start(self, job: Job) -> bool:
        _, runs = self._work.order(job.runs, job.cores)
        values = [
            float(self._call(arm, seeds[turn]))
            for turn in range(max(len(seeds) for _, seeds in runs))
            for arm, seeds in runs  # they take turns
            if turn < len(seeds)
        ]
        # What it really took says nothing here, and would make every race another.
        seconds = [1e-4] * len(values)
        self._reports.append(Report(job.number, values, seconds, None, finished=True))
        return True

    def kill(self, job: int) -> None:
        raise AssertionError("a job that has ended is not killed")

    def wait(self, seconds: float | None) -> list[Report]:
        reports, self._reports = list(self._reports), deque()
        return reports

    def close(self) -> None:
        pass
