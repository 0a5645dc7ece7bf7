"""Ctrl-C in the middle of a race: the best so far is at hand, with and without a journal."""

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import Interrupted
from paceline.cli import main
from paceline.engines.workload import Workload
from tests.races.virtual import VirtualEngine, VirtualWorkers


def noisy(arm: Any, *, seed: int) -> float:
    return float(arm["x"] + random.Random(seed).gauss(0, 1))


ARMS = [{"x": 0.0}, {"x": 0.1}, {"x": 9.0}]


def after(rounds: int) -> Any:
    def callback(standing: paceline.Standing) -> None:
        if standing.rounds >= rounds:
            raise KeyboardInterrupt

    return callback


class Interrupts(VirtualEngine):
    """Is interrupted while its workers start."""

    def open(self, workload: Workload, cores: int) -> VirtualWorkers:
        raise KeyboardInterrupt


def interrupted(**options: Any) -> Interrupted:
    given: dict[str, Any] = {"engine": VirtualEngine(), "progress": False} | options
    with pytest.raises(Interrupted) as found:
        paceline.race(noisy, ARMS, **given)
    return found.value


def test_the_best_so_far_is_in_the_error() -> None:
    error = interrupted(callbacks=[after(2)], tolerance=0.001, confidence=0.999999, top=2)
    result = error.result
    assert result.best == {"x": 9.0}
    assert (result.decided, result.confidence) == (False, None)
    assert result.rounds == 2
    assert result.pulls == sum(arm.pulls for arm in result.arms) > 0
    assert "it was interrupted after" in result.verdict
    assert "x=9.0 and x=0.1 lead" in str(error) or "x=9.0 and x=0.0 lead" in str(error)
    assert "Without a journal it cannot be resumed" in str(error)
    assert result.to_frame()["label"][0] == "x=9.0"


def test_with_a_journal_it_goes_on_from_there(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    first = interrupted(callbacks=[after(1)], journal=path)
    assert first.result.journal == str(path)
    assert f"{first.result.pulls} pulls are recorded in {path}; x=9.0 leads. To resume" in str(
        first
    )
    view = paceline.races.read_journal(path)
    assert view.standing.pulls == first.result.pulls
    assert view.ending is None
    result = paceline.race(noisy, ARMS, engine=VirtualEngine(), journal=path, progress=False)
    assert result.decided
    assert result.pulls > first.result.pulls


def test_before_any_value_the_result_says_so(tmp_path: Path) -> None:
    error = interrupted(engine=Interrupts())
    assert error.result.best is None
    assert (error.result.index, error.result.pulls) == (-1, 0)
    assert "before any pull gave a value" in error.result.verdict
    assert "leads" not in str(error)


def test_while_the_workers_of_a_resume_start_the_values_are_there(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    first = interrupted(callbacks=[after(1)], journal=path)
    second = interrupted(engine=Interrupts(), journal=path)
    assert second.result.pulls == first.result.pulls
    assert second.result.best == {"x": 9.0}


def test_a_real_interrupt_in_a_script_without_a_journal() -> None:
    script = (
        "import paceline, time, os, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job of a shell ignores it
        "def slow(arm):\n    time.sleep(0.05)\n    return arm\n"
        "def stop(standing):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(5)\n"
        "try:\n"
        "    paceline.race(slow, [1, 2], bounds=(0, 99), cores=2, callbacks=[stop])\n"
        "except paceline.Interrupted as error:\n"
        "    print(error.result.best, error.result.pulls > 0, error.result.decided)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "2 True False\n", done.stderr


# The command line.

COMMAND = ["race", "sh -c 'sleep 0.1; echo {x}'", "-L", "x", "1,2,3", "-d", "60s", "--cores", "2"]


@pytest.mark.parametrize("option", ["", "--quiet", "--json"])
def test_the_command_line_prints_the_best_so_far_and_exits_with_130(
    option: str, tmp_path: Path
) -> None:
    journal = tmp_path / "race.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "paceline", *COMMAND, "-j", journal, *filter(None, [option])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not (journal.exists() and journal.read_text().count('"results"') >= 6):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    if option == "--quiet":
        assert out == "x=3\n"
    elif option == "--json":
        assert '"verdict": "undecided between' in out
    else:
        assert out.lstrip().startswith("arm")
        assert "it was interrupted after" in out
    assert "pulls are recorded in" in err
    assert "To resume: paceline resume" in err


def test_without_a_value_nothing_but_the_message_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = interrupted(engine=Interrupts())

    def race(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("paceline.races.race", race)
    assert main(COMMAND) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"paceline: {error}\n"
    assert main([*COMMAND, "--json"]) == 130
    assert '"best": null' in capsys.readouterr().out
