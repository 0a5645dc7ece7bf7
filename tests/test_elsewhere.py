"""paceline on macOS and Windows, as far as Linux can show it: without what is missing there."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import InvalidInput
from paceline.journal import Journal, is_locked
from paceline.journal import system as journal_system

ELSEWHERE = Path(__file__).with_name("elsewhere.py")


Run = Callable[[str], str]  # takes a script, and returns what it prints


@pytest.fixture(params=["mac", "windows"])
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(tmp_path: Path, system: str) -> Run:
    return partial(_run, tmp_path, system)


def _run(folder: Path, system: str, code: str) -> str:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ELSEWHERE), system, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_missing_is_missing(run: Run, system: str) -> None:
    """A control: else the tests below would show nothing."""
    code = """
        import importlib.util, os, signal, socket
        from pathlib import Path
        try:
            import fcntl
            print(hasattr(fcntl, "F_ADD_SEALS"))
        except ImportError as error:
            print(error)
        print(hasattr(os, "fork"), hasattr(socket, "AF_UNIX"), hasattr(signal, "SIGKILL"))
        print(hasattr(os, "sched_getaffinity"), hasattr(socket, "SOCK_SEQPACKET"))
        try:
            Path("/proc/meminfo").read_text()
        except OSError:
            print("no proc")
    """
    first, second = "False", "True True True"
    if system == "windows":
        first, second = "No module named 'fcntl'", "False False False"
    assert run(code).splitlines() == [first, second, "False False", "no proc"]


def test_a_race_on_an_executor_is_written_resumed_and_shown(run: Run) -> None:
    code = """
        import random
        from concurrent.futures import ThreadPoolExecutor
        import paceline
        from paceline.cli import main

        def evaluate(arm, *, seed):
            return arm + random.Random(seed).gauss(0, 2)

        def race(**more):
            with ThreadPoolExecutor(3) as executor:
                return paceline.race(
                    evaluate, [0.0, 1.0, 2.0], engine=executor, journal="race.jsonl", **more
                )

        first = race(max_pulls=9)
        print(first.decided, first.pulls)
        second = race()
        print(second.decided, second.best, second.confidence, second.cores)
        print(race().notes)
        print(main(["show", "race.jsonl"]))
    """
    lines = run(code).splitlines()
    assert lines[0] == "False 9"
    assert lines[1] == "True 2.0 0.95 3"
    assert "nothing was run" in lines[2]
    assert any("2.0" in line and "best" in line for line in lines[3:-1])
    assert lines[-1] == "0"


def test_commands_are_run_by_an_executor(run: Run) -> None:
    code = """
        from concurrent.futures import ThreadPoolExecutor
        import paceline
        with ThreadPoolExecutor(2) as executor:
            command = paceline.Command.parse("echo {x}.5 {seed}", value="pattern:^(.*?) ")
            result = paceline.race(
                command, [{"x": 1}, {"x": 4}], engine=executor, max_pulls=8, bounds=(0, 5)
            )
        print([record.mean for record in result.arms])
    """
    assert run(code).strip() == "[1.5, 4.5]"


def test_virtual_time_and_plans_need_nothing(run: Run) -> None:
    code = """
        import paceline
        from paceline.cli import main
        print(paceline.simulate([0.9, 0.5, 0.4], policy="apr", confidence=0.9).index[0])
        print(main(["simulate", "0.9,0.5"]))
        print(main(["plan", "--arms", "64", "--scaling", "power:0.5", "--deadline", "500"]))
    """
    lines = run(code).splitlines()
    assert lines[0] == "0"
    assert lines.count("0") == 3


def test_local_processes_are_refused_and_the_way_is_named(run: Run) -> None:
    code = """
        import paceline
        for how in ({}, {"engine": "local"}):
            try:
                paceline.race(abs, [1, 2], **how)
            except paceline.InvalidInput as error:
                print(error)
    """
    one, other = run(code).splitlines()
    assert one == other
    assert one.startswith("the engine 'local' needs Linux (there is no ")
    assert "engine=concurrent.futures.ProcessPoolExecutor()" in one


class Locking:
    """What `msvcrt` of Windows does, for files of this process."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, file: int, how: int, count: int) -> None:
        place = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
        assert place[1] > 1 << 30, "what is locked cannot be read there"
        if how == self.LK_UNLCK:
            del self.locked[place]
        elif place in self.locked:
            raise PermissionError(13, "Permission denied")
        else:
            self.locked[place] = file


def test_journals_are_locked_as_windows_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_system, "fcntl", None)
    monkeypatch.setattr(journal_system, "msvcrt", Locking())
    path = tmp_path / "race.jsonl"

    def nothing(_: Any) -> list[Any]:
        return []

    with Journal.open(path, nothing):
        assert is_locked(path)
        with pytest.raises(InvalidInput, match="another process is writing"):
            Journal.open(path, nothing)
