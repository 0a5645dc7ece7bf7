"""The laws of engines about races: what is used, what comes back, and what is left behind."""

import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paceline import race
from paceline.core.pool import CorePool
from paceline.engines.base import Engine
from paceline.engines.events import Failed, Finished
from paceline.engines.jobs import Run
from paceline.engines.simulated import SimulatedEngine
from paceline.journal import read_records
from paceline.journal.records import PullsReturned
from paceline.testing.driving import ARMS, Driver


class TrustLaws(ABC):
    """A race on any engine ends as the same race does elsewhere, and leaves nothing behind."""

    patience: ClassVar[float]
    has_processes: ClassVar[bool]
    is_real: ClassVar[bool] = True  # whether its seconds are those of a clock on the wall

    @abstractmethod
    def engine(self) -> Engine:
        """An engine of at least two cores."""

    @abstractmethod
    def open(self, evaluate: Callable[..., Any]) -> AbstractContextManager[Driver]:
        """Workers for this function."""

    def test_an_error_that_cannot_be_sent_is_told_in_words(self) -> None:
        """Whatever the exception holds."""

        def fails(arm: float) -> float:
            class Odd(Exception):
                def __init__(self) -> None:
                    super().__init__("no such setting")
                    self.lock = lambda: arm

            raise Odd

        with self.open(fails) as driver:
            last = driver.run(Run(0, 0, 1))
            assert isinstance(last, Failed)
            assert last.failure.kind == "exception"
            assert "Odd: no such setting" in last.failure.message

    def test_garbage_fails_its_pull_and_nothing_else(self) -> None:
        """What is given back may be anything at all."""

        def garbage(arm: float) -> Any:
            class Bad:
                def __float__(self) -> float:
                    raise RuntimeError("no number")

                def __reduce__(self) -> tuple[object, ...]:
                    raise RuntimeError("not to be sent")

            return Bad() if arm == ARMS[0] else arm

        with self.open(garbage) as driver:
            assert isinstance(driver.run(Run(0, 0, 1)), Failed)
            assert isinstance(driver.run(Run(1, 0, 1)), Finished)

    def test_a_pull_may_print_a_lot(self) -> None:
        """It neither blocks nor gets into the values."""

        def chatty(arm: float) -> float:
            for _ in range(200):
                os.write(1, b"x" * 9_999 + b"\n")
            return arm

        if not self.has_processes:
            pytest.skip("it would print here")
        with self.open(chatty) as driver:
            last = driver.run(Run(1, 0, 1))
            assert isinstance(last, Finished)
            assert driver.values(last.job) == [ARMS[1]]

    def test_a_race_never_uses_more_cores_than_it_has(self, tmp_path: Path) -> None:
        """Every pull notes when it ran, and on how many cores."""
        if not self.is_real:
            pytest.skip("its pulls take no time")

        def noted(arm: float, *, seed: int, cores: int) -> float:
            began = time.time()
            time.sleep(0.02)
            name = tmp_path / f"{seed}-{arm}-{os.getpid()}-{began}"
            name.write_text(f"{began} {time.time()} {cores}")
            return arm + random.Random(seed).gauss(0.0, 10.0)

        engine = self.engine()
        race(noted, ARMS, engine=engine, cores=2, max_pulls=40, progress=False)
        spans = [tuple(map(float, path.read_text().split())) for path in tmp_path.iterdir()]
        assert len(spans) >= 3
        moments = sorted(
            [(began, cores) for began, _, cores in spans]
            + [(ended, -cores) for _, ended, cores in spans]
        )
        used = 0.0
        for _, change in moments:
            used += change
            assert used <= 2

    def test_a_race_has_the_values_and_the_verdict_that_it_has_anywhere(
        self, tmp_path: Path
    ) -> None:
        """Values depend on seeds, and the verdict on the values."""

        def evaluate(arm: float, *, seed: int) -> float:
            return arm + random.Random(seed).gauss(0.0, 20.0)

        answers, found = [], []
        for number, engine in enumerate((self.engine(), SimulatedEngine(2, lambda _: 1e-3))):
            path = tmp_path / f"{number}.jsonl"
            result = race(
                evaluate,
                ARMS,
                engine=engine,
                cores=2,
                cores_per_pull=engine.available().per_pull or 1,
                scaling=CorePool(2, lambda _: 1e-3),
                journal=path,
                progress=False,
            )
            answers.append((result.best, result.confidence))
            found.append(dict(_values(path)))
        assert answers[0] == answers[1]
        shared = found[0].keys() & found[1].keys()
        assert len(shared) >= 8
        assert all(found[0][pull] == found[1][pull] for pull in shared)

    def test_closing_leaves_no_process_behind(self, tmp_path: Path) -> None:
        """Neither a pull that runs nor what it has started."""
        engine = self.engine()
        if not engine.abilities.kill or not self.has_processes or not self.is_real:
            pytest.skip("it cannot end a pull")
        path = tmp_path / "beats"

        def beat(_: float) -> float:
            if os.fork() == 0:
                while True:
                    with path.open("a") as stream:
                        stream.write(".")
                    time.sleep(0.01)
            time.sleep(600.0)
            return 0.0

        with self.open(beat) as driver:
            driver.start(Run(0, 0, 1))
            until = time.monotonic() + self.patience
            while not path.exists() and time.monotonic() < until:
                driver.listen(0.05)
            assert path.exists(), "the pull has not begun"
        until, before = time.monotonic() + 10.0, -1
        while (now := path.stat().st_size) != before and time.monotonic() < until:
            before = now
            time.sleep(0.3)
        assert now == before, "it is still running"


def _values(path: Path) -> Iterator[tuple[tuple[int, int], float]]:
    """The value of each pull in a journal; none has two."""
    pulls: list[tuple[tuple[int, int], float]] = []
    for record in read_records(path):
        if isinstance(record, PullsReturned):
            numbers = [(run.arm, run.first + k) for run in record.pulls for k in range(run.pulls)]
            pulls += zip(numbers, record.values, strict=True)
    for pull, same in groupby(sorted(pulls), key=lambda one: one[0]):
        ((_, value),) = same
        yield pull, value
