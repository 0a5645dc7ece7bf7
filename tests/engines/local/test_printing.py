"""What pulls print is told with them: who printed it, how much of it is kept, and what it costs."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from paceline import Command
from paceline.engines.events import Event, Failed, Finished, Lost, Values
from paceline.engines.jobs import Job, Run
from paceline.engines.local.outputs import Outputs
from paceline.engines.local.process import printing
from paceline.engines.local.process.printing import HEAD_BYTES, TAIL_BYTES
from tests.engines.local.driving import ends, failure, job, opened, run, until, values


def printed(events: Iterable[Event]) -> list[str]:
    """What each pull of a job has printed, in turn."""
    texts: list[str] = []
    for event in events:
        if isinstance(event, Values):
            said = dict(event.printed)
            texts += [said.get(place, "") for place in range(len(event.values))]
    return texts


def test_whatever_writes_to_the_standard_streams_is_told() -> None:
    def chatty(arm: float) -> float:
        print("to stdout")
        print("part", end="")
        print("to stderr", file=sys.stderr)
        logging.getLogger("mine").warning("logged")
        warnings.warn("careful", stacklevel=1)
        ctypes.CDLL(None).printf(b"from C\n")
        subprocess.run(["echo", "by a child"], check=True)
        os.write(1, b"raw \xff\n")
        return arm

    with opened(chatty) as workers:
        (text,) = printed(run(workers, job(0)))
    for part in ("to stdout\n", "part", "to stderr\n", "logged\n", "UserWarning: careful\n"):
        assert part in text
    assert text.endswith("raw \ufffd\n")
    assert "from C\n" in text
    assert "by a child\n" in text


def test_each_pull_of_a_group_has_its_own() -> None:
    def some(arm: float, *, seed: int) -> float:
        if seed % 2:
            print("seed", seed)
        return arm

    with opened(some) as workers:
        events = run(workers, Job(0, (Run(0, 0, 4), Run(1, 1, 2)), 1))
        assert printed(events) == ["", "seed 101\n", "seed 1\n", "", "", "seed 3\n"]
        assert printed(run(workers, job(1, pulls=3))) == ["", "seed 1\n", ""]


def test_what_has_no_end_of_line_is_of_its_pull_too() -> None:
    def dots(arm: float, *, seed: int) -> float:
        sys.stdout.write(f"{seed}.")
        ctypes.CDLL(None).printf(b"%d-", seed)
        return arm

    with opened(dots) as workers:
        for number in range(2):
            (text,) = printed(run(workers, Job(number, (Run(0, number, 1),), 1)))
            assert sorted(text.replace(".", "- ").split()) == [f"{number}-", f"{number}-"]


def test_silent_pulls_tell_nothing() -> None:
    with opened(lambda arm: arm) as workers:
        events = run(workers, job(0, pulls=100))
        assert all(event.printed == () for event in events if isinstance(event, Values))


def test_of_much_the_beginning_and_the_end_are_told() -> None:
    def prints(arm: float) -> float:
        print("begin" + "x" * 100_000 + "end")
        return arm

    with opened(prints) as workers:
        (text,) = printed(run(workers, job(0)))
    assert text.startswith("beginx")
    assert text.endswith("xend\n")
    left_out = 100_009 - HEAD_BYTES - TAIL_BYTES
    assert f"\n… {left_out:,} bytes left out …\n" in text
    assert len(text) < HEAD_BYTES + TAIL_BYTES + 50


@pytest.mark.parametrize("piece", ["\x1b[2J" * 5_000, "λ€🙂" * 3_000, '"\\\n' * 3_000, "x" * 9_000])
def test_a_group_that_prints_much_fits_into_its_messages(piece: str) -> None:
    def prints(arm: float, *, seed: int) -> float:
        print(piece)
        if seed == 40:
            raise ValueError(piece)
        return arm

    with opened(prints) as workers:
        events = run(workers, job(0, pulls=60))
        assert len(values(events)) == 40
        assert all(len(text) > 1_000 for text in printed(events))
        assert len(failure(events).printed) > 1_000
        assert failure(events).message.startswith("raised ValueError")


def test_what_a_pull_that_fails_had_printed_is_told_with_the_traceback() -> None:
    def fails(arm: float, *, seed: int) -> float:
        print("seed", seed)
        if seed == 2:
            raise ValueError("no such seed")
        return arm

    with opened(fails) as workers:
        events = run(workers, job(0, pulls=5))
    assert printed(events) == ["seed 0\n", "seed 1\n"]
    assert failure(events).printed == "seed 2\n"
    assert "seed 2" not in failure(events).detail


def leaves(arm: float) -> None:
    os._exit(7)


def crashes(arm: float) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs(arm: float) -> None:
    time.sleep(600)


@pytest.mark.parametrize("how", [leaves, crashes])
def test_a_worker_that_dies_leaves_what_its_pull_had_printed(how: Any) -> None:
    def dies(arm: float) -> float:
        print("before")
        if arm == 1.0:
            print("goodbye")
            how(arm)
        return arm

    with opened(dies, cores=1) as workers:
        run(workers, job(0))
        found = failure(run(workers, job(1, arm=1)))
    assert found.printed.startswith("before\ngoodbye\n")
    if how is crashes:  # Python says where it was
        assert "Fatal Python error: Segmentation fault" in found.printed
        assert "in crashes\n" in found.printed
        assert "paceline/engines" not in found.printed  # our own lines


def test_a_job_that_is_ended_tells_what_its_pull_had_printed(tmp_path: Path) -> None:
    sign = tmp_path / "printed"

    def slow(arm: float) -> float:
        print("still here")
        sign.touch()
        hangs(arm)
        return arm

    with opened(slow) as workers:
        workers.start(job(0))
        until(workers, lambda _: sign.exists())
        workers.end(0)
        (end,) = ends(until(workers, ends)).values()
    assert end == Lost(0, "", "still here\n")


class Loads:
    """What prints while it is loaded, and may then refuse."""

    def __init__(self, *, works: bool) -> None:
        self.works = works

    def __reduce__(self) -> Any:
        return _loaded, (self.works,)

    def __call__(self, arm: float) -> float:
        print("pulled")
        return arm


def _loaded(works: bool) -> Loads:
    print("loading")
    if not works:
        raise PermissionError("no entry")
    return Loads(works=works)


@pytest.mark.parametrize("share", [True, False])
def test_what_is_printed_while_the_function_is_loaded_is_told_if_that_fails(share: bool) -> None:
    with opened(Loads(works=False), share=share) as workers:
        for number in range(2):
            assert failure(run(workers, job(number))).printed == "loading\n"
    with opened(Loads(works=True), share=share) as workers:
        assert printed(run(workers, job(0, pulls=2))) == ["pulled\n"] * 2


def test_a_pull_may_close_or_replace_its_streams() -> None:
    def rude(arm: float) -> float:
        if arm == 0.0:
            if sys.stdout is not None:
                sys.stdout.close()
                os.close(1)
                os.close(2)
            sys.stdout = None
        return arm

    with opened(rude) as workers:
        for number in range(4):
            events = run(workers, job(number, arm=number % 2, pulls=2))
            assert ends(events) == {number: Finished(number)}


def test_what_a_thread_prints_between_two_jobs_is_of_no_pull(tmp_path: Path) -> None:
    sign, go = tmp_path / "printed", tmp_path / "go"

    def late(arm: float) -> float:
        if arm == 0.0 and os.fork() == 0:  # a child that outlives its pull
            while not go.exists():
                time.sleep(0.001)
            os.write(1, b"late\n")
            sign.touch()
            os._exit(0)
        return arm

    with opened(late, cores=1) as workers:
        run(workers, job(0))
        go.touch()
        until(workers, lambda _: sign.exists())
        assert printed(run(workers, job(1, arm=1))) == [""]


def test_commands_are_heard_on_both_streams_and_their_value_alone_is_nothing() -> None:
    command = Command.parse(
        "test {x} = 1 && echo step && echo slow >&2; test {x} = 2 && echo gone && exit 3; echo {x}",
        shell=True,
    )
    with opened(command, [{"x": 0}, {"x": 1}, {"x": 2}]) as workers:
        assert printed(run(workers, job(0))) == [""]
        assert printed(run(workers, job(1, arm=1))) == ["step\n1\nslow\n"]
        assert failure(run(workers, job(2, arm=2))).printed == "gone\n"
        assert printed(run(workers, job(3))) == [""]


def test_a_command_that_is_ended_tells_what_it_had_printed(tmp_path: Path) -> None:
    sign = tmp_path / "begun"
    command = Command.parse(f"echo begun; touch {sign}; sleep 600; echo {{x}}", shell=True)
    with opened(command, [{"x": 0}, {"x": 1}]) as workers:
        workers.start(job(0))
        until(workers, lambda _: sign.exists())
        workers.end(0)
        assert ends(until(workers, ends)) == {0: Lost(0, "", "begun\n")}


def test_a_pull_that_prints_without_end_fills_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1 << 22
    monkeypatch.setattr(printing, "_MOST_ON_DISK", most)

    def endless(arm: float) -> float:
        for _ in range(400):
            os.write(1, b"x" * (1 << 16))
            time.sleep(0.005)
        return arm

    with opened(endless, cores=1) as workers:
        workers.start(job(0))
        largest = 0
        events: list[Event] = []
        while not ends(events):
            events += workers.wait(0.05)
            (worker,) = workers._workers.values()
            largest = max(largest, 512 * os.fstat(worker.outputs.log.fileno()).st_blocks)
    (text,) = printed(events)
    assert f"… {400 * (1 << 16) - HEAD_BYTES - TAIL_BYTES:,} bytes left out …" in text
    assert text.startswith("xxx")
    assert largest < 400 * (1 << 16) * 0.8  # it all was, without the limit


def test_a_long_log_starts_anew_and_texts_stay_those_of_their_pulls() -> None:
    def long(arm: float, *, seed: int) -> float:
        print(seed, "x" * 700_000)
        return arm

    with opened(long, cores=1) as workers:
        for number in range(5):
            (text,) = printed(run(workers, Job(number, (Run(0, number, 1),), 1)))
            assert text.startswith(f"{number} xxx")
        (worker,) = workers._workers.values()
        assert os.fstat(worker.outputs.log.fileno()).st_size < 3_000_000


def test_the_rest_of_a_log_that_was_cut_off_begins_anew() -> None:
    files = Outputs.create(command=False)
    os.write(files.log.fileno(), b"one two")
    files.told(4)
    assert files.rest() == "two"
    files.log.truncate(3)
    assert files.rest() == "one"
    files.close()


def test_a_race_of_pulls_that_fail_in_many_ways_ends_all_the_same() -> None:
    def odd(arm: float, *, seed: int) -> float:
        print("\ud800 half a character, \0 and \x1b[2J")
        if seed % 3 == 2:
            os.write(2, bytes(range(256)) * 100)
            raise ValueError("\ud800")
        return arm

    with opened(odd) as workers:
        events = run(workers, job(0, pulls=5))
    (end,) = ends(events).values()
    assert isinstance(end, Failed)
    assert "half a character" in end.failure.printed
