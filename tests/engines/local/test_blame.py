"""Who is to blame for the end of a worker, and what is heard of it."""

import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline import Command
from paceline.engines.events import Began, Event, Failed, Failure, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.local import handle, replacing
from paceline.engines.local.blame import blame
from paceline.engines.local.process import running
from paceline.engines.local.process.evaluating import trouble
from paceline.engines.local.workers import LocalWorkers
from tests.engines.local.driving import ends, job, opened, run, until, values

LOADING = "the worker process was killed by signal 9 while it was loading"
NO_FORK = "a worker could not be started: [Errno 11] Resource temporarily unavailable"

# Status, why, had begun, had served other arms: the kind of failure, or what the machine did.
CASES: list[tuple[int, str, bool, bool, str]] = [
    (-signal.SIGSEGV, "exit", True, False, "died"),
    (-signal.SIGABRT, "exit", True, False, "died"),
    (-signal.SIGBUS, "exit", True, False, "died"),
    (-signal.SIGFPE, "exit", True, False, "died"),
    (-signal.SIGILL, "exit", True, False, "died"),
    (3, "exit", True, False, "died"),
    (0, "exit", True, False, "died"),
    (-signal.SIGSEGV, "exit", False, False, "died"),
    (1, "exit", False, False, "died"),
    (-signal.SIGSEGV, "exit", True, True, "died after others"),
    (3, "exit", True, True, "died after others"),
    (-signal.SIGKILL, "exit", True, False, "killed"),
    (-signal.SIGKILL, "exit", True, True, "killed"),
    (-signal.SIGTERM, "exit", True, False, "killed"),
    (-signal.SIGINT, "exit", True, False, "killed"),
    (-signal.SIGHUP, "exit", True, False, "killed"),
    (-signal.SIGKILL, "exit", False, False, LOADING),
    (1, "no fork", False, False, NO_FORK),
    (0, "keeper", True, True, "killed"),
    (
        0,
        "keeper",
        False,
        False,
        "the process that watches the worker was killed while it was loading",
    ),
    (0, "template", True, True, "the process from which the workers are forked was killed"),
    (0, "supervisor", True, False, "the process that starts the workers was killed"),
]


@pytest.mark.parametrize(("status", "why", "began", "used", "expected"), CASES)
def test_who_is_to_blame(status: int, why: str, began: bool, used: bool, expected: str) -> None:
    text = f"{NO_FORK}\n" if why == "no fork" else ""
    found = blame(status, why, text, began=began, used=used)
    assert (found.kind if isinstance(found, Failure) else found) == expected


def end(events: list[Event]) -> Finished | Failed | Lost:
    (found,) = ends(events).values()
    return found


def kind(events: list[Event]) -> str:
    found = end(events)
    return found.failure.kind if isinstance(found, Failed) else type(found).__name__


def test_a_worker_killed_from_outside_says_so() -> None:
    def killed(arm: float) -> float:
        os.kill(os.getpid(), signal.SIGKILL)
        return arm

    with opened(killed) as workers:
        found = end(run(workers, job(0)))
    assert isinstance(found, Failed)
    assert found.failure.kind == "killed"
    assert found.failure.message == "the worker process was killed by signal 9"


def crashes_later(arm: float) -> float:
    """The first arm leaves a thread behind that ends the process during a pull of the second."""
    if arm == 0.0:
        threading.Timer(0.3, os.abort).start()
    if arm == 1.0:
        time.sleep(2.0)
    return arm


def test_what_another_arm_left_in_the_worker_is_not_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replacing, "_GRACE_SECONDS", 0.0)  # the worker is kept
    with opened(crashes_later) as workers:
        run(workers, job(0, arm=0))
        assert kind(run(workers, job(1, arm=1))) == "died after others"
        assert kind(run(workers, Job(2, (Run(1, 0, 1),), 1, fresh=True))) == "Finished"


def test_what_an_arm_left_itself_is_charged() -> None:
    def later(arm: float) -> float:
        threading.Timer(0.3, os.abort).start()
        time.sleep(0.0 if arm == 0.0 else 2.0)
        return arm

    with opened(later, [0.0, 1.0]) as workers:
        assert kind(run(workers, job(0, arm=1))) == "died"


def test_a_fresh_worker_is_one_that_no_other_arm_was_in() -> None:
    def process(arm: float) -> float:
        return float(os.getpid())

    with opened(process, cores=2) as workers:
        (first,) = values(run(workers, job(0, arm=0)))
        (fresh,) = values(run(workers, Job(1, (Run(1, 0, 1),), 1, fresh=True)))
        assert fresh != first
        again = Job(2, (Run(1, 1, 1),), 1, fresh=True)
        assert values(run(workers, again)) == [fresh], "only its own arm has been there"
        assert values(run(workers, Job(3, (Run(0, 1, 1),), 1, fresh=True))) == [first]


def test_no_file_descriptors_for_another_worker_is_nobodys_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with opened(lambda arm: arm) as workers:
        create = handle.Handle.create

        def none_left(*_: Any, **__: Any) -> Any:
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(handle.Handle, "create", none_left)
        lost = end(run(workers, job(0)))
        assert isinstance(lost, Lost)
        assert lost.why == "a worker could not be started: [Errno 24] Too many open files"
        monkeypatch.setattr(handle.Handle, "create", create)
        assert kind(run(workers, job(1))) == "Finished"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EAGAIN, "Resource temporarily unavailable"),
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("can't start new thread"),
    ],
)
def test_what_a_pull_ran_out_of_is_called_a_shortage(error: Exception) -> None:
    assert trouble(error)[0] == "shortage"
    found = trouble(error, "could not be loaded")
    assert found[0] == "machine", "no pull has begun"
    assert found[1].startswith("could not be loaded: ")
    assert trouble(FileNotFoundError(errno.ENOENT, "no such file"))[0] == "exception"
    assert trouble(RuntimeError("diverged"))[0] == "exception"


def test_a_function_that_cannot_be_loaded_for_want_of_memory_is_nobodys_fault() -> None:
    class Large:
        def __reduce__(self) -> Any:
            return (_too_large, ())

        def __call__(self, arm: float) -> float:
            raise AssertionError("it is never loaded")

    with opened(Large()) as workers:
        assert end(run(workers, job(0))) == Lost(0, "could not be loaded: too large")


def _too_large() -> None:
    raise MemoryError("too large")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EAGAIN, "machine"),
        (errno.ENOMEM, "machine"),
        (errno.EMFILE, "machine"),
        (errno.ENFILE, "machine"),
        (errno.ENOSPC, "machine"),
        (errno.ENOENT, "no start"),
        (errno.EACCES, "no start"),
        (errno.ENOEXEC, "no start"),
        (errno.E2BIG, "no start"),
    ],
)
def test_a_command_that_cannot_be_started(
    number: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", fails)
    found = running.run(["./simulate"], {}, None, 1, 2)
    assert not isinstance(found, float)
    assert found[0] == expected
    assert os.strerror(number) in found[1]


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        ("kill -9 $$", ("killed", "was ended by signal 9")),
        ("kill -15 $$", ("killed", "was ended by signal 15")),
        ("sh -c 'kill -9 $$'; exit $?", ("killed", "ended with status 137")),
        ("kill -6 $$", ("exit status", "was ended by signal 6")),
        ("exit 3", ("exit status", "ended with status 3")),
    ],
)
def test_how_a_command_ended(does: str, expected: tuple[str, str]) -> None:
    with opened(Command.parse(f"x={{x}}; {does}", shell=True), [{"x": 1}]) as workers:
        found = end(run(workers, job(0)))
    assert isinstance(found, Failed)
    assert (found.failure.kind, found.failure.message) == expected


# Workers that are killed while nobody listens.


def worker_process(workers: LocalWorkers) -> int:
    (pid,) = values(run(workers, job(0, arm=0)))
    return int(pid)


def process_id(arm: float) -> float:
    return float(os.getpid())


def dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_for(enough: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 20
    while not enough():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_an_idle_worker_that_is_killed_is_replaced() -> None:
    with opened(process_id) as workers:
        pid = worker_process(workers)
        os.kill(pid, signal.SIGKILL)
        until(workers, lambda _: not workers._workers)
        assert values(run(workers, job(1))) != [float(pid)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_is_dead_when_it_is_sent_a_job_loses_it(number: int) -> None:
    """Its death is not yet known. What kills it then cannot be the pull."""
    with opened(process_id) as workers:
        pid = worker_process(workers)
        os.kill(pid, number)
        wait_for(lambda: dead(pid))
        events = run(workers, job(1, arm=1))
        assert kind(events) == "Lost"
        assert values(events) == []
        assert kind(run(workers, job(2, arm=1))) == "Finished"


def test_a_worker_that_is_killed_while_it_loads_has_lost_its_job(tmp_path: Path) -> None:
    started = tmp_path / "started"

    class Slow:
        def __reduce__(self) -> Any:
            return (_load_slowly, (str(started),))

        def __call__(self, arm: float) -> float:
            raise AssertionError("it is replaced when it is loaded")

    with opened(Slow(), share=False) as workers:
        workers.start(job(0))
        wait_for(lambda: started.exists() and started.read_text().endswith("\n"))
        os.kill(int(started.read_text()), signal.SIGKILL)
        events = until(workers, ends)
        assert Began(0) not in events
        assert end(events) == Lost(0, LOADING)
        started.unlink()
        started.write_text("quick")
        assert kind(run(workers, job(1))) == "Finished"


def _load_slowly(path: str) -> Any:
    if not os.path.exists(path):
        with open(path, "w") as stream:
            stream.write(f"{os.getpid()}\n")
        time.sleep(600)
    return float
