"""Races whose pulls crash, hang, print garbage, leak children and eat cores."""

import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, race
from tests.races.processes import MARK, all_die_with_the_driver, gone, marked

# Three of ten attempts go wrong, in one of seven ways; which, the seed and the attempt decide.
FAULTY = """
import os, random, subprocess, sys, time

def evaluate(arm, *, seed):
    attempt = count(seed)
    rng = random.Random(seed * 10 + attempt)
    fault = rng.choice(FAULTS) if rng.random() < 0.3 else None
    if fault == "raise":
        raise RuntimeError("on purpose")
    if fault == "crash":
        os.abort()
    if fault == "killed":
        os.kill(os.getpid(), 9)
    if fault == "hang":
        time.sleep(1000)
    if fault == "garbage":
        print("garbage", flush=True)
        return "garbage"
    if fault == "spin":
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        while True:
            pass
    if fault == "leak":
        subprocess.Popen(["sh", "-c", "(setsid sleep 1000 &) ; sleep 1000"])
        os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "setsid setsid sleep 1000 &")
        time.sleep(1000)
    return arm + random.Random(seed).gauss(0, 0.05)

FAULTS = ["raise", "crash", "killed", "hang", "garbage", "spin", "leak"]

def count(seed):
    # How often this pull was tried before: each try leaves a file behind.
    folder = os.environ["PACELINE_TEST_FOLDER"]
    for attempt in range(100):
        try:
            os.close(os.open(f"{folder}/{seed}.{attempt}", os.O_CREAT | os.O_EXCL))
            return attempt
        except FileExistsError:
            continue
"""


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    folder = tmp_path / "attempts"
    folder.mkdir()
    monkeypatch.setenv("PACELINE_TEST_FOLDER", str(folder))
    yield name
    assert gone(name), f"left behind: {marked(name)}"


def functions() -> Any:
    space: dict[str, Any] = {}
    exec(FAULTY, space)
    return space["evaluate"]


def test_a_third_of_the_pulls_go_wrong_and_the_race_ends_in_time(mark: str) -> None:
    began = time.monotonic()
    result = race(
        functions(), [0.0, 0.5, 1.0, 0.2], deadline=12, timeout=0.5, retries=9, progress=False
    )
    assert time.monotonic() - began < 12 + 1
    assert result.elapsed < 13
    assert result.best == 1.0
    text = "\n".join(result.failures)
    for sign in ("RuntimeError: on purpose", "signal", "took longer than 0.5 s", "'garbage'"):
        assert sign in text
    assert gone(mark)


def test_a_command_that_goes_wrong_in_all_ways(mark: str, tmp_path: Path) -> None:
    script = tmp_path / "sim.py"
    program = FAULTY + (
        "\nx, seed = float(sys.argv[1]), int(sys.argv[2])"
        "\nvalue = evaluate(x, seed=seed)"
        '\nsubprocess.Popen(["sleep", "1000"])'  # every one leaks a child, the good ones too
        "\nprint('value', value)\n"
    )
    script.write_text(program)
    command = Command.parse([sys.executable, "-S", str(script), "{x}", "{seed}"])
    arms = [{"x": x} for x in (0.0, 1.0, 0.5)]
    began = time.monotonic()
    result = race(command, arms, deadline=12, timeout=1.0, retries=9, progress=False)
    assert time.monotonic() - began < 12 + 1
    assert result.best == {"x": 1.0}
    text = "\n".join(result.failures)
    assert "took longer than 1 s" in text
    assert "gave no number" in text
    (warning,) = (text for text in result.warnings if "lost" in text)
    assert "was ended by signal 9" in warning, "it may have come from outside: nobody is charged"
    assert "ended with status 1" in text
    assert gone(mark)


def test_a_timeout_spares_the_time_it_takes_to_load_the_function(mark: str) -> None:
    class Slow:
        def __reduce__(self) -> Any:
            return (_load_slowly, ())

        def __call__(self, arm: int) -> float:
            raise AssertionError("it is replaced when it is loaded")

    result = race(Slow(), [1, 2], deadline=4, timeout=0.3, progress=False)
    assert result.failures == ()
    assert result.best == 2


def _load_slowly() -> Any:
    time.sleep(0.6)
    return float


def test_the_driver_dies_and_nothing_is_left(mark: str, tmp_path: Path) -> None:
    script = (
        "import paceline, subprocess, time\n"
        "def hang(arm):\n"
        "    subprocess.Popen(['sh', '-c', 'setsid sleep 1000 & sleep 1000'])\n"
        "    time.sleep(1000)\n"
        "paceline.race(hang, [1, 2, 3], deadline=100, cores=3, progress=False)\n"
    )
    # Driver, supervisor, worker, shell, two sleepers.
    assert all_die_with_the_driver(script, mark, processes=6)
