"""An executor keeps the laws of engines, whoever made it."""

import multiprocessing
from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress

import pytest
from loky import get_reusable_executor

from paceline.engines.base import Engine
from paceline.engines.executor import ExecutorEngine
from paceline.testing import EngineContract


class ExecutorContract(EngineContract):
    """An executor is made when it is first needed, and again if a test has broken it."""

    @pytest.fixture(autouse=True)
    def _executors(self) -> Iterator[None]:
        self.made: Executor | None = None
        yield
        if self.made is not None:
            with suppress(Exception):
                self.made.shutdown(wait=True, cancel_futures=True)

    @abstractmethod
    def executor(self) -> Executor:
        """A new executor of two workers."""

    def engine(self) -> Engine:
        if self.made is None:
            self.made = self.executor()
        return ExecutorEngine(self.made)


class TestThreads(ExecutorContract):
    has_processes = False

    def executor(self) -> Executor:
        return ThreadPoolExecutor(2)


class TestForkedProcesses(ExecutorContract):
    def executor(self) -> Executor:
        return ProcessPoolExecutor(2, multiprocessing.get_context("fork"))


@pytest.mark.engines
class TestSpawnedProcesses(ExecutorContract):
    def executor(self) -> Executor:
        return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


class TestLoky(ExecutorContract):
    def executor(self) -> Executor:
        executor: Executor = get_reusable_executor(max_workers=2, timeout=60)
        return executor
