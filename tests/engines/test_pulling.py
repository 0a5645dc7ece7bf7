"""One pull in this very process: the same answers as those of a local worker."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from paceline import Command
from paceline.engines.events import Failed, Failure
from paceline.engines.pulling import pull
from tests.engines.local.driving import ends, job, opened, run, values, workload
from tests.races.processes import MARK, gone


def bad_index(arm: float) -> float:
    return [1.0][int(arm) + 1]


def gives(value: Any) -> Any:
    return lambda arm: value


SHELL = {
    "value": "echo {x}.5 > /dev/stdout",
    "cores": "echo $OMP_NUM_THREADS",
    "no number": "echo hello; echo no luck >&2",
    "status": "echo no luck >&2; exit 4",
    "signal": "kill -9 $$",
}
EVALUATE = {
    "bool": gives(True),
    "int": gives(3),
    "nan": gives(float("nan")),
    "text": gives("high"),
    "nothing": gives(None),
    "list": gives([1.0, 2.0]),
    "exception": bad_index,
    "seed": lambda arm, *, seed, cores: seed + cores / 10,
} | {name: Command.parse(f"true {{x}}; {text}", shell=True) for name, text in SHELL.items()}


@pytest.mark.parametrize("name", EVALUATE)
def test_it_says_what_a_local_worker_says(name: str) -> None:
    evaluate = EVALUATE[name]
    arms = [{"x": 1}, {"x": 2}] if isinstance(evaluate, Command) else [0.0, 1.0]
    with opened(evaluate, arms, cores=2) as workers:
        events = run(workers, job(0, arm=1, cores=2))
        (end,) = ends(events).values()
        theirs = end.failure if isinstance(end, Failed) else values(events)[0]
    ours = pull(workload(evaluate, arms), arm=1, number=0, cores=2)
    assert ours == theirs


def test_the_environment_is_that_of_the_pull(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    script = "import os; print(os.environ['MKL_NUM_THREADS'] + os.environ['OMP_NUM_THREADS'])"
    words = [sys.executable, "-S", "-c", script, "{x}"]
    told = Command.parse(words)
    assert pull(workload(told, [{"x": 1}]), 0, 0, cores=3) == 33.0
    own = Command.parse(words, environment={"OMP_NUM_THREADS": "5"})
    assert pull(workload(own, [{"x": 1}]), 0, 0, cores=3) == 35.0
    assert os.environ["OMP_NUM_THREADS"] == "64"


def test_a_stale_file_is_no_value(tmp_path: Path) -> None:
    (tmp_path / "out-0").write_text("5")
    command = Command.parse(["true", "{x}"], cwd=str(tmp_path), value="file:out-{seed}")
    failure = pull(workload(command, [{"x": 1}]), 0, 0, cores=1)
    assert isinstance(failure, Failure)
    assert failure.message.startswith("wrote no file")


def test_a_program_that_is_not_there_cannot_be_started() -> None:
    failure = pull(workload(Command.parse("/nowhere/sim {x}"), [{"x": 1}]), 0, 0, cores=1)
    assert isinstance(failure, Failure)
    assert failure.kind == "no start"


def test_a_function_that_exits_does_not_end_this_process() -> None:
    failure = pull(workload(lambda arm: sys.exit("enough")), 0, 0, cores=1)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message) == ("exception", "raised SystemExit: enough")


def test_what_a_command_leaves_in_its_session_is_killed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        mark = uuid.uuid4().hex
        monkeypatch.setenv(MARK, mark)
        command = Command.parse("sleep 1000 > /dev/null 2>&1 & echo {x}", shell=True)
        began = time.monotonic()
        assert pull(workload(command, [{"x": 1}]), 0, 0, cores=1) == 1.0
        assert time.monotonic() - began < 10
        assert gone(mark)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
