"""The workers of local processes: what is heard of jobs, and which worker gets them."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from paceline import Command
from paceline.engines.base import Engine
from paceline.engines.events import Began, Failed, Finished, Loading, Lost, Values
from paceline.engines.jobs import Job, Run
from paceline.engines.local import LocalEngine
from paceline.engines.local.descriptors import is_hung_up
from paceline.engines.local.processors import Processors
from paceline.engines.local.workers import LocalWorkers
from paceline.machine import available_cores
from tests.engines.local.driving import (
    ends,
    failure,
    job,
    opened,
    run,
    seeds,
    until,
    values,
    workload,
)

needs_two = pytest.mark.skipif(available_cores().cores < 2, reason="needs two cores")


def dies(arm: float) -> float:
    os._exit(7)


def process(arm: float) -> float:
    return float(os.getpid())


def test_it_is_an_engine() -> None:
    engine: Engine = LocalEngine()
    assert engine.name == "local"
    assert engine.available().cores >= 1
    assert engine.abilities.kill
    assert engine.now() <= engine.now()


def test_a_fresh_worker_loads_and_begins_and_a_ready_one_just_answers() -> None:
    with opened(lambda arm: arm) as workers:
        workers.start(job(0, arm=1))
        assert workers.wait(None)[0] == Loading(0)
        first = until(workers, ends)
        assert first[0] == Began(0)
        workers.start(job(1, arm=1, pulls=3))
        second = workers.wait(None)
    for number, pulls, events in ((0, 1, first[1:]), (1, 3, second)):
        (given, finished) = events
        assert isinstance(given, Values)
        assert given.job == number
        assert given.values == [1.0] * pulls
        assert len(given.seconds) == pulls
        assert finished == Finished(number)


def test_the_runs_of_a_job_take_turns_and_get_their_seeds_and_cores() -> None:
    with opened(lambda arm, *, seed, cores: seed + cores / 10 + arm / 100, [1, 2]) as workers:
        events = run(workers, Job(0, (Run(0, 5, 3), Run(1, 0, 1)), 2))
    assert values(events) == [5.21, 100.22, 6.21, 7.21]
    assert [type(event) for event in events] == [Loading, Began, Values, Finished]


def test_a_job_that_takes_long_reports_in_between() -> None:
    def slow(arm: float) -> float:
        time.sleep(0.015)
        return arm

    with opened(slow) as workers:
        events = run(workers, job(0, arm=1, pulls=8))
    given = [event for event in events if isinstance(event, Values)]
    assert len(given) > 2
    assert values(given) == [1.0] * 8
    assert all(second >= 0.015 for event in given for second in event.seconds)


def test_the_first_failure_ends_a_job_and_the_values_before_it_count() -> None:
    def fails(arm: float, *, seed: int) -> float:
        print("seed", seed, flush=True)
        if seed == 2:
            raise ValueError("no such seed")
        return float("nan") if seed == 101 else arm

    with opened(fails) as workers:
        events = run(workers, job(0, pulls=5))
        assert values(events) == [0.0, 0.0]
        assert failure(events).kind == "exception"
        assert failure(events).message == "raised ValueError: no such seed"
        assert 'raise ValueError("no such seed")' in failure(events).detail
        assert "process" not in failure(events).detail  # our own lines
        events = run(workers, job(1, arm=1, pulls=5))
        assert values(events) == [1.0]
        assert failure(events).kind == "no number"
        assert failure(events).message == "gave nan"
        assert failure(events).printed == "seed 101\n"  # of this pull only


def test_a_worker_that_could_not_load_tries_again() -> None:
    class Shy:
        def __reduce__(self) -> Any:
            return (_no_entry, ())

        def __call__(self, arm: float) -> float:
            raise AssertionError("it is never loaded")

    with opened(Shy()) as workers:
        for number in range(2):
            events = run(workers, job(number))
            assert [type(event) for event in events] == [Loading, Failed]
            assert failure(events).message == "could not be loaded"
            assert "PermissionError: no entry" in failure(events).detail


def _no_entry() -> None:
    raise PermissionError("no entry")


def test_a_worker_that_dies_fails_its_pull() -> None:
    def leaves(arm: float) -> float:
        print("goodbye", flush=True)
        os._exit(7)

    with opened(leaves) as workers:
        found = failure(run(workers, job(0)))
        assert found.kind == "died"
        assert found.message == "the worker process ended with status 7"
        assert found.printed == "goodbye\n"
        assert not found.blames_one
        assert failure(run(workers, job(1))).kind == "died"  # another one was started


def test_a_job_that_was_given_to_a_dead_worker_is_not_to_blame() -> None:
    """It was idle when it died, and the driver has not heard of that yet."""
    with opened(process, cores=1) as workers:
        (pid,) = values(run(workers, job(0)))
        os.kill(int(pid), signal.SIGKILL)
        (worker,) = workers._workers.values()
        until_gone = time.monotonic() + 20
        while not is_hung_up(worker.channel):
            assert time.monotonic() < until_gone
            time.sleep(0.01)
        assert ends(run(workers, job(1))) == {1: Lost(1)}
        assert ends(run(workers, job(2))) == {2: Finished(2)}


def test_the_end_of_a_worker_may_be_heard_from_the_supervisor_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the driver was busy both came: the end of the channel, and the word that it ended."""
    with opened(dies) as workers:
        select = workers._selector.select
        # The supervisor's socket is the one without data; any order is allowed.
        monkeypatch.setattr(
            workers._selector,
            "select",
            lambda seconds: sorted(select(seconds), key=lambda event: event[0].data is not None),
        )
        workers.start(job(0))
        events = workers.wait(None)
        give_up = time.monotonic() + 20
        while not ends(events) and time.monotonic() < give_up:
            time.sleep(0.1)  # busy elsewhere
            events += workers.wait(1.0)
    assert failure(events).kind == "died"
    assert "status 7" in failure(events).message


def test_a_job_that_is_ended_is_lost_and_no_other() -> None:
    def waits(arm: float) -> float:
        time.sleep(1000 * arm)
        return arm

    with opened(waits) as workers:
        workers.start(job(0, arm=1))
        until(workers, lambda events: Began(0) in events)
        workers.end(0)
        workers.end(0)
        workers.end(17)  # unknown, or over: nothing happens
        workers.start(job(1))
        events = until(workers, lambda events: len(ends(events)) == 2)
        assert ends(events) == {0: Lost(0), 1: Finished(1)}
        workers.end(1)
        assert ends(run(workers, job(2))) == {2: Finished(2)}


def test_a_job_may_be_ended_before_its_worker_has_begun() -> None:
    with opened(lambda arm: time.sleep(1000)) as workers:
        workers.start(job(0))
        workers.end(0)
        events = until(workers, ends)
    assert events == [Loading(0), Lost(0)]


def test_what_a_job_did_before_it_was_ended_does_not_count() -> None:
    with opened(lambda arm: arm) as workers:
        run(workers, job(0))
        workers.start(job(1))
        time.sleep(0.2)  # it is done, and nobody has heard of it
        workers.end(1)
        assert until(workers, ends) == [Lost(1)]


def test_idle_workers_are_used_again_the_last_one_first_and_for_their_cores_only() -> None:
    with opened(process, cores=4) as workers:
        run(workers, job(0), job(1))
        (last,) = values(run(workers, job(2)))
        assert values(run(workers, job(3))) == [last]
        (wide,) = values(run(workers, job(4, cores=2)))
        assert wide != last
        assert values(run(workers, job(5, cores=2))) == [wide]
        assert values(run(workers, job(6))) == [last]


def test_of_too_many_idle_workers_the_one_that_rested_longest_is_ended() -> None:
    with opened(process, cores=2) as workers:
        run(workers, job(0), job(1))
        (last,) = values(run(workers, job(2)))
        run(workers, job(3, cores=2))
        until(workers, lambda _: len(workers._workers) == 2)
        assert values(run(workers, job(4))) == [last]


@needs_two
def test_a_worker_stays_on_its_processors_and_jobs_at_once_have_others() -> None:
    def where(arm: float) -> float:
        time.sleep(0.05)
        (processor,) = os.sched_getaffinity(0)
        return float(processor)

    processors = available_cores().cpu_ids[:2]
    with LocalWorkers(workload(where), Processors(processors, 2), 2) as workers:
        events = run(workers, job(0), job(1))
        assert sorted(values(events)) == sorted(float(one) for one in processors)
        (last,) = values(run(workers, job(2)))
        assert values(run(workers, job(3))) == [last]


def test_commands_are_run_and_their_values_read(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "x, seed = float(sys.argv[1]), int(sys.argv[2])\n"
        "print('on', os.environ['OMP_NUM_THREADS'], os.environ['LEVEL'], file=sys.stderr)\n"
        "if x < 0: sys.exit(3)\n"
        "print('nothing' if x == 0 else x + seed)\n"
    )
    (tmp_path / "simulate.py").write_text(script)
    command = Command.parse(
        [sys.executable, "-S", "simulate.py", "{x}", "{seed}"],
        cwd=str(tmp_path),
        environment={"LEVEL": "{x}"},
    )
    with opened(command, [{"x": 0.5}, {"x": -1}, {"x": 0}], cores=2) as workers:
        events = run(workers, Job(0, (Run(0, 7, 1),), 2))
        assert [type(event) for event in events] == [Loading, Began, Values, Finished]
        assert values(events) == [7.5]
        found = failure(run(workers, Job(1, (Run(1, 0, 1),), 2)))
        assert (found.kind, found.message) == ("exit status", "ended with status 3")
        assert found.printed == "on 2 -1\n"
        found = failure(run(workers, Job(2, (Run(2, 0, 1),), 2)))
        assert found.kind == "no number"
        assert found.message.startswith("gave no number: there is no number in the output")
        assert found.printed == "nothing\non 2 0\n"


def test_a_command_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    with opened(Command.parse(["./nothing", "{x}"], cwd=str(tmp_path)), [{"x": 1}]) as workers:
        found = failure(run(workers, job(0)))
    assert found.kind == "no start"
    assert "could not be started" in found.message


def test_the_value_of_a_command_may_be_in_a_file_which_may_not_be_stale(tmp_path: Path) -> None:
    command = Command.parse(
        "test {x} = 1 && echo {x} > out-{seed}; true",
        shell=True,
        cwd=str(tmp_path),
        value="file:out-{seed}",
    )
    with opened(command, [{"x": 1}, {"x": 2}]) as workers:
        assert values(run(workers, job(0))) == [1.0]
        stale = tmp_path / f"out-{seeds(1, 0, 1)[0]}"
        stale.write_text("5")
        found = failure(run(workers, job(1, arm=1)))
    assert found.message == f"wrote no file {stale}: No such file or directory"
