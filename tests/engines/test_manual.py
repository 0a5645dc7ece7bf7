"""The engine of ask and tell keeps the laws of engines, if somebody does its pulls."""

import threading
import time
from typing import ClassVar

from paceline.engines.base import Engine
from paceline.engines.events import Failure
from paceline.engines.jobs import Job
from paceline.engines.manual import ManualEngine, ManualWorkers
from paceline.engines.pulling import pull
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores
from paceline.testing import EngineContract


class Hands(ManualWorkers):
    """Workers that have their pulls done at once, each in a thread."""

    def __init__(self, workload: Workload) -> None:
        super().__init__()
        self.workload = workload

    def start(self, job: Job) -> None:
        super().start(job)
        threading.Thread(target=self._do, args=(job,), daemon=True).start()

    def _do(self, job: Job) -> None:
        (run,) = job.runs
        began = time.perf_counter()
        value = pull(self.workload, run.arm, run.first, job.cores)
        seconds = None if isinstance(value, Failure) else time.perf_counter() - began
        self.answer(job.number, value, seconds)


class HandsEngine(ManualEngine):
    def available(self) -> AvailableCores:
        return AvailableCores(4, "hands", ())

    def open(self, workload: Workload, cores: int) -> ManualWorkers:
        return Hands(workload)


class TestManual(EngineContract):
    has_processes: ClassVar[bool] = False
    long_seconds: ClassVar[float] = 2.0

    def engine(self) -> Engine:
        return HandsEngine()
