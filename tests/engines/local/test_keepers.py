"""What pulls start is reaped and ended, whatever it does to hide, and whoever is killed or stopped.

Pulls write the numbers of the processes that they hide into a folder. Those have no environment,
and sessions of their own.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, race
from paceline.engines.events import Began, Failed, Finished, Lost
from paceline.engines.local.groups import Group
from paceline.engines.local.process.killing import KEEPER
from paceline.engines.local.workers import LocalWorkers
from tests.engines.local.driving import ends, failure, job, opened, run, until, values
from tests.races.processes import alive, below, children, dead_below, soon

SUPERVISOR_KILLED = "the process that starts the workers was killed"
KEEPER_KILLED = "the process that watches the worker was killed"


def hide(folder: str) -> None:
    """Leave a process behind that nothing leads to: it was forked twice and has no environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            script = f"touch {folder}/$$; exec sleep 1000"
            os.execve("/bin/sh", ["sh", "-c", script], {})
        os._exit(0)
    os.wait()


# A process whose main thread has ended while another one lives.
HEADLESS = (
    "import ctypes, os, pathlib, sys, threading, time;"
    "threading.Thread(target=time.sleep, args=(1000,)).start();"
    "pathlib.Path(sys.argv[1], str(os.getpid())).touch();"
    "ctypes.CDLL(None).pthread_exit(None)"
)


def found(folder: Path) -> list[int]:
    return [int(file.name) for file in folder.iterdir()]


def living(folder: Path) -> list[int]:
    return [pid for pid in found(folder) if alive(pid)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    ended = soon(lambda: not living(tmp_path))  # on a busy machine, some end after the closing
    for pid in living(tmp_path):
        os.kill(pid, signal.SIGKILL)
    assert ended


def supervisor(workers: LocalWorkers) -> int:
    return workers._supervision._process.pid


def hanging(folder: Path) -> Callable[[float], float]:
    """A pull that hides a process, and hangs unless the arm is 0."""
    place, hides = str(folder), hide

    def hangs(arm: float) -> float:
        hides(place)
        time.sleep(1000 * arm)
        return arm

    return hangs


@contextlib.contextmanager
def begun(evaluate: Any, folder: Path, *, share: bool = True) -> Iterator[LocalWorkers]:
    """Workers with a job under way that has hidden a process."""
    with opened(evaluate, share=share) as workers:
        workers.start(job(0, arm=1))
        until(workers, lambda events: Began(0) in events)
        assert soon(lambda: living(folder))
        yield workers


def keeper(workers: LocalWorkers) -> int:
    (only,) = below(supervisor(workers), KEEPER)
    return only


def test_orphans_are_reaped_while_the_race_goes_on() -> None:
    def daemonizes(arm: float) -> float:
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(0.001)
            os._exit(0)
        os.wait()
        return arm

    with opened(daemonizes) as workers:
        events = run(workers, job(0, pulls=200))
        assert len(values(events)) == 200
        assert soon(lambda: dead_below(supervisor(workers)) == 0), dead_below(supervisor(workers))


def test_what_a_command_leaves_outside_its_session_is_ended_with_it(folder: Path) -> None:
    script = f"(setsid setsid sh -c 'touch {folder}/$$; exec sleep 1000' &); sleep 0.3; echo 5"
    command = Command.parse(["sh", "-c", script.replace("$$", '$(exec sh -c "echo \\$PPID")')])
    with opened(command, [{}]) as workers:
        assert values(run(workers, job(0))) == [5.0]
        assert found(folder)
        assert living(folder) == []


def test_a_daemon_whose_main_thread_has_ended_is_ended(folder: Path) -> None:
    def starts(arm: float) -> float:
        subprocess.Popen([sys.executable, "-c", HEADLESS, str(folder)], start_new_session=True)
        time.sleep(1000)
        return arm

    with begun(starts, folder) as workers:
        (pid,) = found(folder)
        assert soon(lambda: Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] == "Z")
        workers.end(0)
        assert until(workers, ends) == [Lost(0)]
        assert living(folder) == []


@pytest.mark.parametrize("how", ["blocked", "ignored"])
def test_signals_that_the_caller_blocks_or_ignores_reach_the_workers(how: str) -> None:
    numbers = (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1)

    def hindered(arm: float) -> float:
        if arm:
            os._exit(7)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        ignored = [one for one in numbers if signal.getsignal(one) != signal.SIG_DFL]
        return float(len(blocked) + len(ignored))

    before = [signal.getsignal(number) for number in numbers]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, numbers if how == "blocked" else ())
    try:
        if how == "ignored":
            for number in numbers:
                signal.signal(number, signal.SIG_IGN)
        with opened(hindered) as workers:
            assert values(run(workers, job(0))) == [0.0]
            assert failure(run(workers, job(1, arm=1))).message.endswith("status 7")
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def test_a_supervisor_that_is_stopped_goes_on_when_it_is_needed(folder: Path) -> None:
    with begun(hanging(folder), folder) as workers:
        os.kill(supervisor(workers), signal.SIGSTOP)
        workers.end(0)
        assert until(workers, ends) == [Lost(0)]
        assert living(folder) == []
        os.kill(supervisor(workers), signal.SIGSTOP)
        began = time.monotonic()
    assert time.monotonic() - began < 3


def test_closing_does_not_wait_for_a_supervisor_that_is_stopped_again_and_again(
    folder: Path,
) -> None:
    closed = threading.Event()

    def stop(pid: int) -> None:
        while not closed.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            time.sleep(0.0005)

    with begun(hanging(folder), folder) as workers:
        stopper = threading.Thread(target=stop, args=(supervisor(workers),))
        stopper.start()
        began = time.monotonic()
    seconds = time.monotonic() - began
    closed.set()
    stopper.join()
    assert seconds < 3
    assert soon(lambda: not living(folder))


@pytest.mark.parametrize("share", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_a_supervisor_that_is_killed_leaves_nothing_that_hides(
    folder: Path, grouped: bool, share: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not grouped:
        monkeypatch.setattr(Group, "create", lambda: None)
    with begun(hanging(folder), folder, share=share) as workers:
        os.kill(supervisor(workers), signal.SIGKILL)
        assert until(workers, ends) == [Lost(0, SUPERVISOR_KILLED)]
        assert soon(lambda: not living(folder))
        assert ends(run(workers, job(1))) == {1: Finished(1)}


@pytest.mark.parametrize("share", [True, False])
def test_a_keeper_that_is_killed_leaves_nothing_and_fails_its_pull_only(
    folder: Path, share: bool
) -> None:
    with begun(hanging(folder), folder, share=share) as workers:
        watching = keeper(workers)
        workers.start(job(1))
        assert Finished(1) in until(workers, ends)
        os.kill(watching, signal.SIGKILL)
        message = failure(until(workers, ends)).message
        assert message == KEEPER_KILLED
        assert ends(run(workers, job(2))) == {2: Finished(2)}
        assert soon(lambda: len(found(folder)) == 3)
        assert len(living(folder)) == 2  # what the other worker has hidden lives as long as it does


def traced() -> None:
    import ctypes

    ctypes.CDLL(None).ptrace(0, 0, 0, 0)  # PTRACE_TRACEME
    os.kill(os.getpid(), signal.SIGUSR1)


@pytest.mark.parametrize(
    "attack",
    [
        lambda: os.kill(os.getppid(), signal.SIGKILL),
        lambda: os.kill(os.getppid(), signal.SIGTERM),
        lambda: os.killpg(os.getpgid(os.getppid()), signal.SIGKILL),
        traced,
    ],
    ids=["kill parent", "end parent", "kill group", "traced"],
)
def test_a_pull_that_attacks_what_watches_over_it_fails_alone(attack: Callable[[], None]) -> None:
    def attacks(arm: float) -> float:
        if arm == 2.0:
            time.sleep(1.0)
        if arm == 1.0:
            attack()
            time.sleep(1000)
        return arm

    with opened(attacks, [0.0, 1.0, 2.0]) as workers:
        before = supervisor(workers)
        workers.start(job(0, arm=2))
        for number in range(1, 4):
            workers.start(job(number, arm=1))
        events = until(workers, lambda events: len(ends(events)) == 4)
        assert isinstance(ends(events).pop(0), Finished)
        for number in range(1, 4):
            end = ends(events)[number]
            assert isinstance(end, Failed)
            assert end.failure.kind in ("died", "killed")
        assert supervisor(workers) == before
        assert dead_below(before) == 0


def test_a_pull_that_stops_what_watches_over_it_can_still_be_ended(folder: Path) -> None:
    hangs = hanging(folder)

    def stops(arm: float) -> float:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        os.kill(os.getppid(), signal.SIGSTOP)
        return hangs(arm)

    with begun(stops, folder) as workers:
        workers.end(0)
        assert until(workers, ends) == [Lost(0)]
        assert living(folder) == []


def test_commands_that_attack_their_parent() -> None:
    arms = [{"do": "kill -9 $PPID; sleep 1000"}, {"do": "kill -STOP $PPID"}, {"do": "true"}]
    command = Command.parse(["sh", "-c", "{do}; echo 5"])
    with opened(command, arms) as workers:
        before = supervisor(workers)
        assert failure(run(workers, job(0, arm=0))).message.endswith("killed by signal 9")
        assert values(run(workers, job(1, arm=1))) == [5.0]  # the stopped worker is woken
        assert values(run(workers, job(2, arm=2))) == [5.0]
        assert supervisor(workers) == before


def test_a_race_goes_on_without_an_arm_whose_pulls_kill_their_parents() -> None:
    def kills(arm: float) -> float:
        if arm == 1.0:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
        time.sleep(0.01)
        return arm

    result = race(kills, [0.0, 0.5, 1.0], confidence=0.9, sigma=0.1, retries=1, progress=False)
    assert result.best == 0.5
    assert KEEPER_KILLED in "\n".join(result.failures)


SCRIPT = """
import os, sys, time
from paceline.engines.jobs import Job, Run
from paceline.engines.local import LocalEngine
from paceline.engines.workload import Workload
from tests.engines.local.test_keepers import hide
def hangs(arm):
    hide(sys.argv[1])
    time.sleep(1000)
workers = LocalEngine().open(Workload(hangs, [1, 2], lambda *run: [0] * run[2]), 2)
for arm in (0, 1):
    workers.start(Job(arm, (Run(arm, 0, 1),), 1))
if "forks" in sys.argv:
    if (child := os.fork()) == 0:
        time.sleep(1000)
    print(child)
print(workers._supervision._process.pid, flush=True)
while True: workers.wait(None)
""".replace("sys.argv[1]", "{folder!r}")


@pytest.mark.parametrize(
    ("forks", "stops", "kills"),
    [(True, False, False), (False, False, True), (False, True, False), (True, True, False)],
    ids=["driver forked", "supervisor killed too", "supervisor stopped", "forked and stopped"],
)
def test_when_the_driver_is_killed(folder: Path, forks: bool, stops: bool, kills: bool) -> None:
    script = SCRIPT.format(folder=str(folder))
    argv = [sys.executable, "-c", script, *["forks"] * forks]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        child = int(driver.stdout.readline()) if forks else 0
        above = int(driver.stdout.readline())
        try:
            assert soon(lambda: len(living(folder)) == 2)
            watching = children(above)
            if stops:
                os.kill(above, signal.SIGSTOP)
            if kills:
                os.kill(above, signal.SIGKILL)
            driver.kill()
            assert soon(lambda: not living(folder))
            assert soon(lambda: not any(map(alive, [above, *watching])))
        finally:
            if child:
                os.kill(child, signal.SIGKILL)


def test_a_driver_that_has_forked_closes_at_once(folder: Path) -> None:
    with begun(hanging(folder), folder):
        if (child := os.fork()) == 0:
            time.sleep(1000)
        began = time.monotonic()
    seconds = time.monotonic() - began
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert seconds < 3
    assert soon(lambda: not living(folder))


def test_what_a_driver_forks_does_not_end_the_workers(folder: Path) -> None:
    with opened(lambda arm: arm) as workers:
        run(workers, job(0))
        if (child := os.fork()) == 0:
            workers.close()
            os._exit(0)
        os.waitpid(child, 0)
        before = supervisor(workers)
        assert ends(run(workers, job(1))) == {1: Finished(1)}
        assert supervisor(workers) == before


def test_where_there_is_no_pidfd(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Group, "create", lambda: None)
    monkeypatch.delattr(os, "pidfd_open")
    with begun(hanging(folder), folder) as workers:
        os.kill(supervisor(workers), signal.SIGKILL)
        assert until(workers, ends) == [Lost(0, SUPERVISOR_KILLED)]
        assert soon(lambda: not living(folder))
