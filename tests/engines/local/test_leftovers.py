"""Nothing is left behind, whoever is killed and whatever a pull has forked."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator

import pytest

from paceline.engines.events import Began, Finished, Lost
from paceline.engines.local.process.killing import TEMPLATE
from paceline.engines.local.workers import LocalWorkers
from paceline.errors import RaceFailed
from tests.engines.local.driving import ends, job, opened, run, until, values
from tests.races.processes import MARK, all_die_with_the_driver, below, gone, marked

SUPERVISOR_KILLED = "the process that starts the workers was killed"


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    yield name
    assert gone(name), f"left behind: {marked(name)}"


def forks(arm: float) -> float:
    """Leave children behind in sessions of their own, and hang unless the arm is 0."""
    subprocess.Popen(["sh", "-c", "(setsid sleep 1000 &) ; sleep 1000"])
    os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "setsid setsid sleep 1000 &")
    time.sleep(1000 * arm)
    return arm


def supervisor(workers: LocalWorkers) -> int:
    return workers._supervision._process.pid


def ours(workers: LocalWorkers) -> list[int]:
    """The processes that are there without a worker."""
    process = supervisor(workers)
    return sorted([process, *below(process, TEMPLATE)])


def begun(workers: LocalWorkers, number: int, mark: str) -> None:
    """Start a job, and wait until its children are there too."""
    workers.start(job(number, arm=1))
    until(workers, lambda events: Began(number) in events)
    give_up = time.monotonic() + 20
    while len(marked(mark)) < 6:  # supervisor, worker, shell, three sleepers
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_when_a_job_is_ended(mark: str) -> None:
    with opened(forks) as workers:
        begun(workers, 0, mark)
        workers.end(0)
        assert until(workers, ends) == [Lost(0)]
        assert sorted(marked(mark)) == ours(workers)


def test_when_the_workers_are_closed(mark: str) -> None:
    with opened(forks) as workers:
        begun(workers, 0, mark)
    assert marked(mark) == []


def test_when_a_worker_dies(mark: str) -> None:
    def dies(arm: float) -> float:
        forks(0.0)
        os._exit(3)

    with opened(dies) as workers:
        run(workers, job(0))
        assert sorted(marked(mark)) == ours(workers)


def test_when_the_supervisor_is_killed_and_another_one_takes_over(mark: str) -> None:
    with opened(forks) as workers:
        begun(workers, 0, mark)
        before = marked(mark)
        os.kill(supervisor(workers), signal.SIGKILL)
        assert until(workers, ends) == [Lost(0, SUPERVISOR_KILLED)]
        assert not set(before) & set(marked(mark))
        events = run(workers, job(1, arm=0))
        assert ends(events) == {1: Finished(1)}
        assert values(events) == [0.0]


def test_when_the_supervisor_is_killed_and_nobody_hears_of_it(mark: str) -> None:
    with opened(forks) as workers:
        begun(workers, 0, mark)
        os.kill(supervisor(workers), signal.SIGKILL)
    assert marked(mark) == []


def test_a_supervisor_that_dies_again_and_again_stops_the_race(mark: str) -> None:
    with opened(lambda arm: arm) as workers:
        for number in range(20):
            workers.start(job(number))
            os.kill(supervisor(workers), signal.SIGKILL)
            assert Lost(number, SUPERVISOR_KILLED) in until(workers, ends)
        os.kill(supervisor(workers), signal.SIGKILL)
        with pytest.raises(RaceFailed, match="died 21 times"):
            workers.wait(20)


def test_when_the_driver_is_killed(mark: str) -> None:
    script = (
        "import subprocess, time\n"
        "from paceline.engines.jobs import Job, Run\n"
        "from paceline.engines.local import LocalEngine\n"
        "from paceline.engines.workload import Workload\n"
        "def hang(arm):\n"
        "    subprocess.Popen(['sh', '-c', 'setsid sleep 1000 & sleep 1000'])\n"
        "    time.sleep(1000)\n"
        "workers = LocalEngine().open(Workload(hang, [1, 2], lambda *run: [0] * run[2]), 2)\n"
        "workers.start(Job(0, (Run(0, 0, 1),), 1))\n"
        "while True: workers.wait(None)\n"
    )
    # Driver, supervisor, worker, shell, two sleepers.
    assert all_die_with_the_driver(script, mark, processes=6)


def test_a_child_of_a_pull_that_returns_says_nothing(mark: str) -> None:
    def doubles(arm: float) -> float:
        os.fork()
        return arm

    with opened(doubles) as workers:
        for number in range(5):
            events = run(workers, job(number))
            assert values(events) == [0.0]
            assert workers.wait(0.05) == []
