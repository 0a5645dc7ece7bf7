"""The laws of engines about what pulls print."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import pytest

from paceline.commands import Command
from paceline.engines.base import Engine
from paceline.engines.events import Failed, Finished
from paceline.engines.jobs import Run
from paceline.testing.driving import ARMS, Driver, seeds

_MUCH = 20_000_000  # bytes
_MOST_TOLD = 10_000  # characters


class PrintLaws(ABC):
    """What pulls print is told with them, if an engine says that it does so."""

    has_processes: ClassVar[bool]

    @abstractmethod
    def open(
        self, evaluate: Callable[..., Any] | Command, arms: Sequence[Any] = ARMS
    ) -> AbstractContextManager[Driver]:
        """Workers for this function or command."""

    @abstractmethod
    def engine(self) -> Engine:
        """The engine."""

    def _needs_prints(self) -> None:
        if not self.engine().abilities.prints:
            pytest.skip("it does not tell what pulls print")

    def test_what_a_pull_prints_is_told_with_its_value(self) -> None:
        """By Python, and past it; and nothing of silent pulls."""
        self._needs_prints()

        def chatty(arm: float, *, seed: int) -> float:
            if arm != ARMS[1]:
                print("seed", seed)
                os.write(2, b"to stderr\n")
            return arm

        with self.open(chatty) as driver:
            for arm in (0, 1, 2):
                number = driver.run(Run(arm, 4, 1)).job
                said = f"seed {seeds(arm, 4, 1)[0]}\nto stderr\n"
                assert driver.printed(number) == ({} if arm == 1 else {0: said})

    def test_each_pull_of_a_job_is_told_what_it_printed(self) -> None:
        """Its place among the values of the job says which one it is."""
        self._needs_prints()
        together = min(4, self.engine().abilities.group)

        def some(arm: float, *, seed: int) -> float:
            print("seed", seed)
            return arm

        with self.open(some) as driver:
            end = driver.run(Run(0, 3, together))
            expected = [f"seed {seed}\n" for seed in seeds(0, 3, together)]
            assert driver.printed(end.job) == dict(enumerate(expected))

    def test_a_failure_tells_what_its_pull_printed(self) -> None:
        """And not what others did."""
        self._needs_prints()

        def fails(arm: float) -> float:
            print("arm", arm)
            if arm == ARMS[1]:
                raise ValueError("no such setting")
            return arm

        with self.open(fails) as driver:
            driver.run(Run(0, 0, 1))
            end = driver.run(Run(1, 0, 1))
            assert isinstance(end, Failed)
            assert end.failure.printed == f"arm {ARMS[1]}\n"

    def test_who_dies_leaves_what_it_had_printed(self) -> None:
        """What a pull says last is what helps."""
        self._needs_prints()
        if not self.has_processes or not self.engine().abilities.replaces:
            pytest.skip("its pulls are no processes of its own")

        def dies(_: float) -> float:
            print("goodbye")
            os._exit(3)

        with self.open(dies) as driver:
            end = driver.run(Run(0, 0, 1))
            assert isinstance(end, Failed)
            assert "goodbye\n" in end.failure.printed

    def test_a_pull_that_prints_much_is_not_held_up_and_little_of_it_is_told(self) -> None:
        """Nobody need read what it prints for it to go on."""
        self._needs_prints()

        def prints_much(arm: float) -> float:
            print("begin")
            for _ in range(_MUCH // 100_000):
                os.write(1, b"." * 99_999 + b"\n")
            print("end")
            return arm

        with self.open(prints_much) as driver:
            end = driver.run(Run(0, 0, 1))
            assert isinstance(end, Finished)
            (text,) = driver.printed(end.job).values()
            assert len(text) < _MOST_TOLD
            assert text.startswith("begin\n")
            assert text.endswith("\nend\n")

    def test_what_a_command_prints_is_told_and_its_value_alone_is_nothing(self) -> None:
        """On stdout and on stderr, whether it gives a value or fails."""
        if not self.engine().abilities.commands:
            pytest.skip("it runs functions only")
        self._needs_prints()
        command = Command.parse(
            "test {x} = 0 || echo step >&2; test {x} != 2 || exit 3; echo {x}", shell=True
        )
        with self.open(command, [{"x": 0}, {"x": 1}, {"x": 2}]) as driver:
            for arm, expected in ((0, {}), (1, {0: "step\n"})):
                assert driver.printed(driver.run(Run(arm, 0, 1)).job) == expected
            end = driver.run(Run(2, 0, 1))
            assert isinstance(end, Failed)
            assert end.failure.printed == "step\n"
