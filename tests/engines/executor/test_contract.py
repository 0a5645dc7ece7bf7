"""An executor keeps the laws of engines, whoever made it."""

import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from loky import get_reusable_executor

from tests.engines.executor.contract import ExecutorContract


class TestThreads(ExecutorContract):
    has_processes = False

    @classmethod
    def executor(cls) -> Executor:
        return ThreadPoolExecutor(2)


class TestForkedProcesses(ExecutorContract):
    @classmethod
    def executor(cls) -> Executor:
        return ProcessPoolExecutor(2, multiprocessing.get_context("fork"))


@pytest.mark.engines
class TestSpawnedProcesses(ExecutorContract):
    @classmethod
    def executor(cls) -> Executor:
        return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


class TestLoky(ExecutorContract):
    @classmethod
    def executor(cls) -> Executor:
        executor: Executor = get_reusable_executor(max_workers=2, timeout=60)
        return executor
