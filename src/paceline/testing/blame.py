"""The laws of engines about what pulls may be charged with."""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import pytest

from paceline.engines.base import Engine
from paceline.engines.events import Failed, Finished, Lost
from paceline.engines.jobs import Run
from paceline.errors import RaceFailed
from paceline.testing.driving import ARMS, Driver


class BlameLaws(ABC):
    """Engines tell what a pull has done from what was done to it."""

    has_processes: ClassVar[bool]

    @abstractmethod
    def open(self, evaluate: Callable[..., Any]) -> AbstractContextManager[Driver]:
        """Workers for this function."""

    @abstractmethod
    def engine(self) -> Engine:
        """The engine."""

    def others_are_done(self, driver: Driver) -> None:
        """After a death: later jobs go on; or the race stops, if it was said that it may."""
        replaces = self.engine().abilities.replaces
        try:
            ends = [driver.run(Run(1, number, 1)) for number in range(3)]
        except RaceFailed:
            if replaces:
                raise
            return
        for end in ends:
            lost = isinstance(end, Lost) or getattr(end, "failure", None) is not None
            assert isinstance(end, Finished) or (lost and not replaces), end

    def test_a_pull_whose_process_is_killed_is_not_charged_with_it_at_once(self) -> None:
        """Whoever runs out of memory is killed, but so may be anybody else: the race decides."""
        if not self.has_processes:
            pytest.skip("pulls run in the race's own process")

        def killed(arm: float) -> float:
            if arm == ARMS[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return arm

        with self.open(killed) as driver:
            last = driver.run(Run(0, 0, 1))
            assert isinstance(last, Failed | Lost)
            if isinstance(last, Failed):
                assert last.failure.kind == "killed"
            else:
                assert last.why, "nobody told it to end"
            self.others_are_done(driver)

    def test_what_a_pull_runs_out_of_is_told_from_what_it_does_wrong(self) -> None:
        """The machine may be short of memory, and have it again later."""

        def short(arm: float) -> float:
            raise MemoryError("no room") if arm == ARMS[0] else ValueError("no such setting")

        with self.open(short) as driver:
            kinds = []
            for arm in (0, 1):
                last = driver.run(Run(arm, 0, 1))
                assert isinstance(last, Failed)
                kinds.append(last.failure.kind)
            assert kinds == ["shortage", "exception"]

    def test_a_fresh_job_finds_nothing_that_other_arms_left(self) -> None:
        """So that an arm is not charged with what another one has broken."""
        if not self.has_processes or not self.engine().abilities.replaces:
            pytest.skip("its workers are not its own, or pulls run in the race's own process")

        def leaves(arm: float) -> float:
            before = os.environ.get("PACELINE_LEFT", "0")
            os.environ["PACELINE_LEFT"] = str(arm)
            return float(before)

        with self.open(leaves) as driver:
            for arm in (0, 1):
                driver.run(Run(arm, 0, 1))
            job = driver.start(Run(2, 0, 1), fresh=True)
            driver.finish(job)
            assert driver.values(job.number) == [0.0]
