"""The laws of engines, for executors."""

from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import suppress
from typing import ClassVar

import pytest

from paceline.engines.base import Engine
from paceline.engines.executor import ExecutorEngine
from paceline.testing import EngineContract

_DEADLY = ("is_killed", "ends_its_process")  # in the names of tests after which it may be broken


class ExecutorContract(EngineContract):
    """The tests of a class share an executor, which takes long to start; some tests break it."""

    made: ClassVar[Executor | None] = None

    @pytest.fixture(autouse=True)
    def _broken(self, request: pytest.FixtureRequest) -> Iterator[None]:
        yield
        if any(words in request.node.name for words in _DEADLY):
            self.stop()

    @classmethod
    def teardown_class(cls) -> None:
        """After the last test."""
        cls.stop()

    @classmethod
    @abstractmethod
    def executor(cls) -> Executor:
        """A new executor of two workers."""

    @classmethod
    def end(cls, executor: Executor) -> None:
        """Shut it down."""
        executor.shutdown(wait=True, cancel_futures=True)

    @classmethod
    def stop(cls) -> None:
        """Have the next test make another one."""
        executor, cls.made = cls.made, None
        if executor is not None:
            with suppress(Exception):
                cls.end(executor)

    @classmethod
    def make(cls) -> Executor:
        """The executor of this class."""
        if cls.made is None:
            cls.made = cls.executor()
        return cls.made

    def engine(self) -> Engine:
        return ExecutorEngine(self.make())
