"""The laws of engines, for executors."""

from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import suppress

import pytest

from paceline.engines.base import Engine
from paceline.engines.executor import ExecutorEngine
from paceline.testing import EngineContract


class ExecutorContract(EngineContract):
    """Each test has an executor of its own, made when it is first needed: some tests break it."""

    @pytest.fixture(autouse=True)
    def _executors(self) -> Iterator[None]:
        self.made: Executor | None = None
        yield
        if self.made is not None:
            with suppress(Exception):
                self.stop()

    @abstractmethod
    def executor(self) -> Executor:
        """A new executor of two workers."""

    def stop(self) -> None:
        assert self.made is not None
        self.made.shutdown(wait=True, cancel_futures=True)

    def make(self) -> Executor:
        if self.made is None:
            self.made = self.executor()
        return self.made

    def engine(self) -> Engine:
        return ExecutorEngine(self.make())
