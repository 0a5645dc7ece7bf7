"""Executors as engines: what they cannot do is said, and so is what befalls them."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline.engines.events import Event, Failed, Finished, Lost
from paceline.engines.executor import ExecutorEngine, ExecutorWorkers
from paceline.engines.jobs import Job, Run
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, RaceFailed
from paceline.journal import read_records
from paceline.journal.records import PullsLost
from paceline.races import prepare, read_journal
from paceline.testing.driving import seeds


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 2.0)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as executor:
        yield executor


class Unsized(Executor):
    """An executor that does not tell how many calls it runs at once, and does them at once."""

    def __init__(self, answer: Callable[["Future[Any]"], None] | None = None) -> None:
        self.answer = answer
        self.calls = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.calls += 1
        future: Future[Any] = Future()
        if self.answer is not None and self.calls == 2:
            self.answer(future)
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def opened(executor: Executor, evaluate: Any, arms: Any = (1.0, 2.0)) -> ExecutorWorkers:
    return ExecutorEngine(executor, cores=2).open(Workload(evaluate, arms, seeds), 2)


def ended(workers: ExecutorWorkers, *jobs: Job) -> list[Event]:
    """What happens until all of these jobs are over."""
    for job in jobs:
        workers.start(job)
    events: list[Event] = []
    until = time.monotonic() + 60
    while sum(isinstance(event, Finished | Failed | Lost) for event in events) < len(jobs):
        assert time.monotonic() < until
        events += workers.wait(1.0)
    return events


# What it says before a race, and what it refuses.


def test_the_plan_says_what_it_cannot_do(threads: ThreadPoolExecutor) -> None:
    facts = dict(prepare(noisy, [0.0, 1.0], engine=threads).describe())
    assert facts["engine"] == (
        "executor: runs functions and commands, cores are counted, not kept apart; cannot end a "
        "pull (no timeout, no backups); a worker that dies may stop the race"
    )
    assert facts["pool"] == "2 cores (a ThreadPoolExecutor)"
    assert facts["cores per pull"] == "1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 3.0}, "cannot end a pull that takes too long: leave timeout out"),
        ({"cores_per_pull": 2}, "every pull has 1 here"),
        ({"cores": 3}, r"cores=3, but there are 2 cores"),
        ({"memory_per_pull": "1GB"}, "memory_per_pull"),
    ],
)
def test_what_it_cannot_do_is_refused(
    threads: ThreadPoolExecutor, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        prepare(noisy, [0.0, 1.0], engine=threads, **options)


def test_an_executor_of_unknown_size_needs_cores() -> None:
    with pytest.raises(InvalidInput, match=r"ExecutorEngine\(executor, cores=8\)"):
        paceline.race(noisy, [0.0, 1.0], engine=Unsized())
    engine = ExecutorEngine(Unsized(), cores=6, cores_per_pull=3)
    result = paceline.race(noisy, [0.0, 9.0], engine=engine, progress=False)
    assert (result.best, result.cores) == (9.0, 6)


def test_a_race_of_commands_is_resumed_on_another_engine(
    threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    command = paceline.Command.parse("echo {x} {seed}", value="pattern:^(.*?) ")
    journal = tmp_path / "race.jsonl"
    arms = [{"x": 1}, {"x": 2}]
    given: dict[str, Any] = {"bounds": (0, 5), "progress": False}
    paceline.race(command, arms, engine=threads, max_pulls=4, journal=journal, **given)
    assert not read_journal(journal).resumes_alone
    with pytest.raises(InvalidInput, match="give the executor as engine="):
        paceline.resume(journal, max_pulls=8)
    result = paceline.resume(journal, max_pulls=8, engine=threads, progress=False)
    assert result.pulls == 8


@pytest.mark.parametrize(
    "wrong",
    [
        {"cores": 0},
        {"cores_per_pull": 0},
        {"cores": 2, "cores_per_pull": 3},
        {"group": 0},
        {"ask": 3},
    ],
)
def test_wrong_arguments_are_refused(threads: ThreadPoolExecutor, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ExecutorEngine(threads, **wrong)


def test_the_cores_of_its_workers_count(threads: ThreadPoolExecutor) -> None:
    here = ExecutorEngine(threads, cores_per_pull=4).available()
    assert (here.cores, here.per_pull) == (8, 4)


def test_it_asks_for_cores_as_it_is_told(threads: ThreadPoolExecutor) -> None:
    asked: set[int] = set()

    def ask(executor: Executor, function: Any, *given: Any, cores: int) -> "Future[Any]":
        asked.add(cores)
        return executor.submit(function, *given)

    def scales(arm: float, *, seed: int, cores: int) -> float:
        time.sleep(0.02 / cores)
        return noisy(arm, seed=seed)

    engine = ExecutorEngine(threads, cores=4, ask=ask)
    paceline.race(scales, [0.0, 0.5], engine=engine, max_pulls=20, progress=False)
    assert len(asked) > 1
    assert max(asked) <= 4


# What travels.


class Traveller:
    """An arm that is big, and notes in which processes it was unpickled."""

    def __init__(self, folder: Path) -> None:
        self.state = (folder, os.urandom(100_000))

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        with (self.state[0] / str(os.getpid())).open("a") as stream:
            stream.write(".")


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_workload_is_loaded_once_in_a_process(
    processes: ProcessPoolExecutor, tmp_path: Path, size: int
) -> None:
    arms = [Traveller(tmp_path), Traveller(tmp_path)]
    for arm in arms:
        arm.state = (tmp_path, arm.state[1][:size])
    workers = opened(processes, lambda arm, *, seed: float(len(arm.state[1])), arms)
    for number in range(20):
        ended(workers, *(Job(2 * number + k, (Run(k, number, 1),), 1) for k in (0, 1)))
    workers.close()
    notes = [path.read_text() for path in tmp_path.iterdir()]
    assert 1 <= len(notes) <= 2
    assert all(note == ".." for note in notes), "once for each arm"


def test_nothing_is_pickled_for_threads(threads: ThreadPoolExecutor) -> None:
    lock, here = threading.Lock(), os.getpid()

    def locked(arm: Any) -> float:
        with lock:
            return float(os.getpid() == here and arm[0] is lock)

    result = paceline.race(
        locked, [(lock, 0), (lock, 1)], engine=threads, max_pulls=8, progress=False
    )
    assert all(record.mean == 1.0 for record in result.arms)


def test_what_cannot_be_sent_is_refused(processes: ProcessPoolExecutor) -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidInput, match="cannot be sent to a worker process"):
        paceline.race(lambda arm: float(lock.locked()), [0, 1], engine=processes)


class _NotAnException(BaseException):
    pass


@pytest.mark.parametrize("pool", ["threads", "processes"])
@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (_NotAnException("odd"), "exception"),
        (KeyboardInterrupt(), "killed"),
        (SystemExit(3), "exit status"),
    ],
)
def test_whatever_is_raised_fails_its_pull(
    pool: str, raised: BaseException, kind: str, request: pytest.FixtureRequest
) -> None:
    def raises(arm: float, *, seed: int) -> float:
        if seed == seeds(0, 1, 1)[0]:
            raise raised
        return arm

    workers = opened(request.getfixturevalue(pool), raises)
    values, failed = ended(workers, Job(0, (Run(0, 0, 2),), 1))
    assert getattr(values, "values", None) == [1.0], "what came before counts"
    assert isinstance(failed, Failed)
    assert failed.failure.kind == kind


# What befalls an executor.


def test_a_broken_pool_stops_the_race_and_a_new_one_goes_on(tmp_path: Path) -> None:
    journal, trigger = tmp_path / "race.jsonl", tmp_path / "trigger"
    trigger.touch()

    def evaluate(arm: float, *, seed: int) -> float:
        if arm == 1.0 and seed % 7 == 3 and trigger.exists():
            trigger.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return noisy(arm, seed=seed)

    arms = [0.0, 1.0, 1.5]
    with (
        ProcessPoolExecutor(2) as executor,
        pytest.raises(RaceFailed, match="the executor broke, with pull") as failed,
    ):
        paceline.race(evaluate, arms, engine=executor, journal=journal, progress=False)
    assert "make a new executor" in str(failed.value)
    assert f"are in {journal}" in str(failed.value)
    records = read_records(journal)
    assert any(isinstance(one, PullsLost) and one.what == "killed" for one in records)
    with ProcessPoolExecutor(2) as executor:
        result = paceline.race(evaluate, arms, engine=executor, journal=journal, progress=False)
    with ThreadPoolExecutor(1) as threads:
        undisturbed = paceline.race(evaluate, arms, engine=threads, progress=False)
    assert (result.best, result.confidence) == (undisturbed.best, undisturbed.confidence)
    assert not result.failures, "no arm is charged with it"


def test_an_executor_that_was_shut_down_stops_the_race() -> None:
    executor = ThreadPoolExecutor(2)
    executor.shutdown()
    began = time.monotonic()
    with pytest.raises(RaceFailed, match=r"takes no work .*after shutdown"):
        paceline.race(noisy, [0.0, 1.0], engine=executor, progress=False)
    assert time.monotonic() - began < 10


def _cancelled(future: "Future[Any]") -> None:
    assert future.cancel()


def _odd(future: "Future[Any]") -> None:
    future.set_result({"values": 3})


def _lost(future: "Future[Any]") -> None:
    future.set_exception(ConnectionError("the worker is gone"))


@pytest.mark.parametrize("answer", [_cancelled, _odd, _lost])
def test_a_job_without_an_answer_is_done_again(answer: Callable[["Future[Any]"], None]) -> None:
    engine = ExecutorEngine(Unsized(answer), cores=1)
    result = paceline.race(noisy, [0.0, 4.0], engine=engine, progress=False)
    assert result.best == 4.0
    assert not result.failures
    assert any("lost, and not because of" in text for text in result.warnings)


def test_pulls_that_cannot_be_ended_are_counted(
    threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    go_on, journal = threading.Event(), tmp_path / "race.jsonl"

    def long(arm: float) -> float:
        go_on.wait(60)
        return arm

    began = time.monotonic()
    try:
        result = paceline.race(
            long, [0.0, 1.0], deadline=0.5, engine=threads, journal=journal, progress=False
        )
        assert time.monotonic() - began < 10, "it waits for nobody"
    finally:
        go_on.set()
    said = (
        "2 pulls were still running when the race was over, and go on: the engine 'executor' "
        "cannot end them"
    )
    assert said in result.warnings
    assert said in read_journal(journal).standing.warnings
    assert threads.submit(max, 1, 2).result(10) == 2, "the executor is the user's"


def test_closing_cancels_what_has_not_begun(threads: ThreadPoolExecutor) -> None:
    go_on = threading.Event()
    began: list[float] = []

    def long(arm: float) -> float:
        began.append(arm)
        go_on.wait(60)
        return arm

    workers = opened(threads, long)
    for number in range(6):
        workers.start(Job(number, (Run(0, number, 1),), 1))
    workers.wait(0.2)
    closing = time.monotonic()
    workers.close()
    assert time.monotonic() - closing < 1.0
    go_on.set()
    threads.submit(max, 1, 2).result(10)
    assert len(began) == 2, "the other four never ran"


def test_a_pull_that_always_interrupts_is_soon_out_and_not_for_want_of_memory(
    threads: ThreadPoolExecutor,
) -> None:
    def interrupts(arm: float, *, seed: int) -> float:
        if arm == 1.0:
            raise KeyboardInterrupt
        return noisy(arm, seed=seed)

    result = paceline.race(
        interrupts, [0.0, 1.0, 5.0], engine=threads, retries=0, max_pulls=300, progress=False
    )
    assert result.arms[1].failure == (
        "was interrupted, each of 3 times (does it raise KeyboardInterrupt?)"
    )
    assert result.best == 5.0


def test_devices_are_refused_with_those_who_have_some(threads: ThreadPoolExecutor) -> None:
    with pytest.raises(InvalidInput, match=r"'executor' has no devices .*'local', 'ray', 'slurm'"):
        paceline.race(noisy, [0.0, 1.0], engine=threads, unit="gpus")


def test_what_functions_print_in_threads_is_the_programs_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def chatty(arm: float) -> float:
        print("arm", arm)
        return arm

    with ThreadPoolExecutor(2) as executor:
        result = paceline.race(chatty, [1.0, 2.0], max_pulls=6, engine=executor, progress=False)
    assert "arm 2.0\n" in capsys.readouterr().out
    assert not result.printed


def prints(arm: float) -> float:
    print("arm", arm)
    return arm


def test_processes_print_for_the_program_again_when_their_job_is_over(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as executor:
        executor.submit(print, "before", flush=True).result()
        result = paceline.race(prints, [1.0, 2.0], max_pulls=6, engine=executor, progress=False)
        executor.submit(print, "after", flush=True).result()
    assert {one.text for one in result.printed} == {"arm 1.0\n", "arm 2.0\n"}
    assert capfd.readouterr().out == "before\nafter\n"
