"""The laws of engines. An engine's tests subclass `EngineContract` and make one."""

import math
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paceline import race
from paceline.commands import Command
from paceline.engines.base import Abilities, Engine
from paceline.engines.events import Failed, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput
from paceline.testing.blame import BlameLaws
from paceline.testing.driving import ARMS, Driver, answer, expected, seeds
from paceline.testing.prints import PrintLaws
from paceline.testing.trust import TrustLaws


class EngineContract(BlameLaws, PrintLaws, TrustLaws):
    """Every engine keeps these laws. Make one in `engine`.

    `patience` is how many seconds, on the engine's clock, a quick job may take. A pull that takes
    `long_seconds` is still under way when its job is ended.
    """

    patience: ClassVar[float] = 60.0
    long_seconds: ClassVar[float] = 600.0
    has_processes: ClassVar[bool] = True  # whether a pull may end its own process

    @abstractmethod
    def engine(self) -> Engine:
        """An engine of at least two cores."""

    @contextmanager
    def open(
        self, evaluate: Callable[..., Any] | Command, arms: Sequence[Any] = ARMS, cores: int = 2
    ) -> Iterator[Driver]:
        """Workers for this function."""
        engine = self.engine()
        workers = engine.open(Workload(evaluate, arms, seeds), cores)
        try:
            yield Driver(engine, workers, self.patience)
        finally:
            workers.close()

    def test_it_says_what_it_is_what_there_is_and_what_it_can_do(self) -> None:
        """A race is planned with this, before anything is started."""
        engine = self.engine()
        assert engine.name
        assert isinstance(engine.abilities, Abilities)
        assert engine.abilities.group >= 1
        assert engine.available().cores >= 1
        assert engine.available().source
        assert engine.now() <= engine.now()

    def test_values_come_in_turn_with_their_seeds_and_cores(self) -> None:
        """The runs of a job take turns, and a pull's number determines its seed."""
        with self.open(answer) as driver:
            job = driver.start(Run(0, 0, 1), cores=2)
            driver.finish(job)
            assert driver.heard[job.number][-1] == Finished(job.number)
            assert driver.values(job.number) == expected(job)
            if self.engine().abilities.group >= 6:
                job = driver.start(Run(2, 7, 3), Run(0, 1, 2), Run(1, 0, 1))
                driver.finish(job)
                assert driver.values(job.number) == expected(job)

    def test_jobs_run_side_by_side_and_each_has_one_end(self) -> None:
        """And a job that has ended has no more events."""
        with self.open(answer) as driver:
            for number in range(5):
                jobs = [driver.start(Run(arm, number, 1)) for arm in (0, 1)]
                driver.finish(*jobs)
                for job in jobs:
                    assert driver.heard[job.number][-1] == Finished(job.number)
                    assert driver.values(job.number) == expected(job)
            driver.listen(0.01)  # nothing more comes

    def test_the_largest_group_is_done(self) -> None:
        """As many pulls in a job as it says it can take."""
        most = self.engine().abilities.group
        with self.open(answer) as driver:
            job = driver.start(Run(1, 3, most))
            driver.finish(job)
            assert driver.values(job.number) == expected(job)

    def test_an_exception_fails_its_pull_and_what_came_before_counts(self) -> None:
        """The pull that failed is the first without a value."""

        def third_fails(arm: float, *, seed: int) -> float:
            if seed == seeds(0, 2, 1)[0]:
                raise ValueError("no such setting")
            return arm

        together = min(3, self.engine().abilities.group)
        with self.open(third_fails) as driver:
            last = driver.run(Run(0, 3 - together, together))
            assert isinstance(last, Failed)
            assert last.failure.kind == "exception"
            assert "ValueError: no such setting" in last.failure.message
            assert driver.values(last.job) == [ARMS[0]] * (together - 1)
            assert isinstance(driver.run(Run(0, 3, 1)), Finished), "others are still done"

    @pytest.mark.parametrize("odd", [math.nan, math.inf, "3.5", None, [1.0]])
    def test_what_is_no_finite_number_fails_its_pull(self, odd: Any) -> None:
        """It is never passed on as a value."""
        with self.open(lambda arm: odd if arm == ARMS[1] else arm) as driver:
            last = driver.run(Run(1, 0, 1))
            assert isinstance(last, Failed)
            assert last.failure.kind == "no number"
            assert isinstance(driver.run(Run(0, 0, 1)), Finished)

    def test_numbers_of_any_kind_become_floats(self) -> None:
        """Whatever `float` takes, except texts."""
        import numpy as np

        for value in (3, True, np.float32(3.0), np.int64(3)):
            with self.open(lambda _, value=value: value) as driver:
                last = driver.run(Run(0, 0, 1))
                assert isinstance(last, Finished)
                assert driver.values(last.job) == [float(value)]

    def test_a_job_that_is_ended_is_lost_and_others_go_on(self) -> None:
        """Its pulls are not to blame, and its cores can be given out again."""
        if not self.engine().abilities.kill:
            pytest.skip("it cannot end a job")
        seconds = self.long_seconds

        def long_for_one(arm: float) -> float:
            time.sleep(seconds if arm == ARMS[0] else 0.0)
            return arm

        with self.open(long_for_one) as driver:
            long, short = driver.start(Run(0, 0, 1)), driver.start(Run(1, 0, 1))
            driver.workers.end(long.number)
            driver.finish(long, short)
            assert driver.heard[long.number][-1] == Lost(long.number)
            assert driver.values(long.number) == []
            assert driver.values(short.number) == [ARMS[1]]
            assert isinstance(driver.run(Run(2, 0, 1), cores=2), Finished), "its cores are free"

    def test_a_job_that_is_ended_does_nothing_more(self, tmp_path: Path) -> None:
        """What was killed must be gone when `Lost` says so, with what it had started."""
        if not self.engine().abilities.kill or not self.has_processes:
            pytest.skip("it cannot end a job, or its pulls are no processes")
        path = tmp_path / "beats"

        def beat(_: float) -> float:
            if os.fork() == 0:  # a child beats, and outlives the pull unless it is ended too
                while True:
                    with path.open("a") as stream:
                        stream.write(".")
                    time.sleep(0.01)
            time.sleep(600.0)
            return 0.0

        with self.open(beat) as driver:
            job = driver.start(Run(0, 0, 1))
            until = time.monotonic() + self.patience
            while not path.exists() and time.monotonic() < until:
                driver.listen(0.05)
            assert path.exists(), "the pull has not begun"
            driver.workers.end(job.number)
            driver.finish(job)
            beats = path.stat().st_size
            time.sleep(0.2)
            assert path.stat().st_size == beats, "it is still running"

    def test_it_waits_as_long_as_it_is_told_to(self) -> None:
        """And not in a hurry: a race that has nothing to do must not keep a core busy."""
        seconds = self.long_seconds or 0.0

        def long(arm: float) -> float:
            time.sleep(seconds)
            return arm

        if not self.engine().abilities.kill:
            seconds = min(seconds, 2.0)
        engine = self.engine()
        workers = engine.open(Workload(long, ARMS, seeds), 2)
        try:
            workers.start(Job(0, (Run(0, 0, 1),), 1))
            for _ in range(4):  # until its worker has loaded, there is something to say
                began = engine.now()
                events = workers.wait(0.3)
                if not events:
                    assert engine.now() - began >= 0.25
                    return
            raise AssertionError(f"it has always something to say: {events}")
        finally:
            workers.close()

    def test_a_pull_that_ends_its_process_takes_nothing_else_along(self) -> None:
        """Later jobs are not affected."""
        if not self.has_processes:
            pytest.skip("pulls run in the race's own process")

        def suicide(arm: float) -> float:
            if arm == ARMS[0]:
                os._exit(3)
            return arm

        with self.open(suicide) as driver:
            last = driver.run(Run(0, 0, 1))
            assert isinstance(last, Failed | Lost)
            replaces = self.engine().abilities.replaces
            kinds = ("died",) if replaces else ("died", "killed")  # it may not know which
            assert not isinstance(last, Failed) or last.failure.kind in kinds
            self.others_are_done(driver)

    def test_to_wait_for_nothing_returns_at_once(self) -> None:
        """So that the race can look at the clock in between."""
        engine = self.engine()
        workers = engine.open(Workload(answer, ARMS, seeds), 2)
        try:
            began = engine.now()
            assert workers.wait(0) == []
            assert engine.now() - began < 5.0
        finally:
            workers.close()

    def test_it_can_be_closed_in_the_midst_of_a_job(self) -> None:
        """As when a race is over, or was interrupted."""
        seconds = min(self.long_seconds, 600.0 if self.engine().abilities.kill else 1.0)

        def long(arm: float) -> float:
            time.sleep(seconds)
            return arm

        with self.open(long) as driver:
            driver.start(Run(0, 0, 1))
            driver.listen(0)

    def test_it_serves_two_races_at_once(self) -> None:
        """Their jobs have the same numbers."""
        with self.open(answer, cores=1) as one, self.open(lambda arm: -arm, cores=1) as other:
            jobs = one.start(Run(0, 0, 1)), other.start(Run(0, 0, 1))
            one.finish(jobs[0])
            other.finish(jobs[1])
            assert one.values(jobs[0].number) == expected(jobs[0])
            assert other.values(jobs[1].number) == [-ARMS[0]]

    def test_commands_are_run_or_refused(self) -> None:
        """Each pull is a process of its own, and its output has the value."""
        command = Command.parse("sh -c 'exit_with={x}; echo $exit_with {seed}; exit $exit_with'")
        arms = [{"x": 0}, {"x": 3}]
        engine = self.engine()
        if not engine.abilities.commands:
            with pytest.raises(InvalidInput, match="runs functions, not commands"):
                race(Command.parse("echo {x}"), arms, engine=engine)
            return
        with self.open(command, arms) as driver:
            last = driver.run(Run(0, 4, 1))
            assert isinstance(last, Finished)
            assert driver.values(last.job) == [float(seeds(0, 4, 1)[0])]
            failed = driver.run(Run(1, 0, 1))
            assert isinstance(failed, Failed)
            assert (failed.failure.kind, failed.failure.message) == (
                "exit status",
                "ended with status 3",
            )

    def test_a_value_may_be_on_stderr(self) -> None:
        """And then nothing else is searched: neither stdout, nor what earlier pulls said there."""
        text = "echo 1; test {x} = 0 || echo {x}.5 {seed} >&2"
        command = Command.parse(text, shell=True, value=r"stderr:pattern:(\S+) \d+$")
        if not self.engine().abilities.commands:
            pytest.skip("this engine runs no commands")
        with self.open(command, [{"x": 0}, {"x": 3}]) as driver:
            for number in range(2):
                last = driver.run(Run(1, number, 1))
                assert isinstance(last, Finished)
                assert driver.values(last.job) == [3.5]
            silent = driver.run(Run(0, 0, 1))
            assert isinstance(silent, Failed)
            assert "is not in the stderr output, which is empty" in silent.failure.message

    def test_no_more_pulls_run_at_once_than_allowed(self) -> None:
        """Although there are cores for more."""

        def evaluate(arm: float, *, seed: int) -> float:
            time.sleep(0.02)
            return arm + seed % 100

        result = race(
            evaluate, ARMS, engine=self.engine(), cores=2, at_once=1, max_pulls=9, progress=False
        )
        done = [span for span in result.timeline if span.use == "counted"]
        assert done
        # By the clock of a worker, a pull may have taken a moment longer than by that of the race.
        assert all(before.end <= after.start + 0.005 for before, after in pairwise(done))

    def test_a_race_is_run_on_it(self) -> None:
        """By the public function."""

        def evaluate(arm: float, *, seed: int) -> float:
            return arm + seed % 100 / 10

        result = race(evaluate, ARMS, engine=self.engine(), cores=2, progress=False)
        assert (result.best, result.confidence, result.decided) == (30.0, 0.95, True)
