"""A journal answers only for its own work: arms, functions and files are known by content."""

import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paceline import Command, InvalidInput, RaceWarning, Result, race, resume
from paceline.cli import main
from paceline.engines.simulated import SimulatedEngine
from paceline.journal import read_records
from paceline.journal.records import RaceBegun, SessionBegun, Warned
from paceline.races import read_journal
from paceline.races.scripts import files_of
from tests.races.virtual import VirtualEngine

JOURNALS = Path(__file__).with_name("journals")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "race.jsonl"


def run(path: Path, evaluate: Any, arms: Any, **options: Any) -> Result:
    given: dict[str, Any] = {"bounds": (-9, 9), "max_pulls": 12, "paired": False} | options
    return race(evaluate, arms, engine=VirtualEngine(), journal=path, progress=False, **given)


def header(path: Path) -> RaceBegun:
    first = read_records(path)[0]
    assert isinstance(first, RaceBegun)
    return first


# Arms.


def test_long_arrays_are_told_apart_though_they_look_the_same(path: Path) -> None:
    def total(arm: Any) -> float:
        return float(arm.sum() % 3)

    arms = [np.arange(5000) + k for k in range(3)]
    others = [arm.copy() for arm in arms]
    others[1][2500] = 0
    assert repr(arms[1]) == repr(others[1])
    run(path, total, arms)
    run(path, total, [arm.copy() for arm in arms])
    with pytest.raises(InvalidInput, match=r"before the content of arm 1, .* changed"):
        run(path, total, others)


def test_two_lambdas_are_two_arms(path: Path) -> None:
    def call(arm: Any) -> float:
        return float(arm(1))

    def other(x: int) -> int:
        return x + 3

    run(path, call, [lambda x: x, lambda x: x + 1])
    run(path, call, [lambda x: x, lambda x: x + 1])
    with pytest.raises(InvalidInput, match=r'content of arm 1, "<lambda> #1" changed'):
        run(path, call, [lambda x: x, lambda x: x + 2])
    with pytest.raises(InvalidInput, match=r'arm 1 was "<lambda> #1" there and is "other" here'):
        run(path, call, [lambda x: x, other])


def test_sets_are_the_same_in_every_process(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import paceline\n"
        "from paceline.engines.simulated import SimulatedEngine\n"
        "def evaluate(arm):\n"
        "    return float(len(arm))\n"
        "words = [{'a', 'b', 'zebra'}, {'cat', 'dog', 'emu', 'fox'}]\n"
        f"r = paceline.race(evaluate, words, journal={str(path)!r}, bounds=(0, 9), max_pulls=6,\n"
        "    progress=False, engine=SimulatedEngine(2))\n"
        "print(r.notes)\n"
    )
    out = ""
    for seed in ("1", "2", "3"):
        done = subprocess.run(
            [sys.executable, str(script)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        out = done.stdout
    assert "nothing was run" in out


def test_the_message_names_arms_by_label_and_number_and_shows_no_hash(path: Path) -> None:
    def rate(arm: Any) -> float:
        return float(arm["rate"])

    run(path, rate, [{"rate": 1}, {"rate": 2}])
    hashes = header(path).problem["arms"]
    with pytest.raises(InvalidInput) as found:
        run(path, rate, [{"rate": 1}, {"rate": 3}])
    assert 'arm 1 was "rate=2" there and is "rate=3" here' in str(found.value)
    assert not any(one in str(found.value) for one in hashes)
    with pytest.raises(InvalidInput, match="that one has 2 arms, this one has 3"):
        run(path, rate, [{"rate": 1}, {"rate": 2}, {"rate": 3}])


def test_an_arm_that_cannot_be_told_apart_is_warned_of_once(path: Path) -> None:
    class Model:
        def __init__(self, level: float) -> None:
            self.level, self.lock = level, threading.Lock()

        def __repr__(self) -> str:
            return f"Model {self.level}"

    def level(arm: Any) -> float:
        return float(arm.level)

    with pytest.warns(RaceWarning, match=r'arm 0, "Model 1.0", holds a lock'):
        result = run(path, level, [Model(1.0), Model(2.0)])
    assert any("holds a lock" in text for text in result.warnings)
    again = run(path, level, [Model(1.0), Model(2.0)], max_pulls=400)  # no second warning
    assert any("holds a lock" in text for text in again.warnings)
    with pytest.raises(InvalidInput, match="arm 1 was"):
        run(path, level, [Model(1.0), Model(3.0)])


# Functions.

SCRIPT = """
import sys
import paceline
from paceline.engines.simulated import SimulatedEngine

SCALE = 2

def helper(x):
    return x * SCALE

def evaluate(arm, *, seed):
    # a comment
    print("arm", arm)
    return helper(arm) + seed % 3

options = {"accept_changes": True} if "accept" in sys.argv else {}
result = paceline.race(
    evaluate, [1, 2, 3], journal=sys.argv[1], bounds=(0, 60), max_pulls=int(sys.argv[2]),
    paired=False, progress=False, engine=SimulatedEngine(2), **options,
)
print(result.pulls, *result.warnings, sep="|")
"""


def play(folder: Path, text: str, *words: str) -> "subprocess.CompletedProcess[str]":
    script = folder / "script.py"
    script.write_text(text)
    return subprocess.run(
        [sys.executable, str(script), str(folder / "race.jsonl"), *words],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("# a comment", "# another comment", ""),
        ('print("arm", arm)', 'print("now at", arm)', ""),
        ("def evaluate(arm", '"""Some words."""\n\ndef evaluate(arm', ""),
        ("seed % 3", "seed % 5", "the function evaluate (its code)"),
        ("x * SCALE", "x + SCALE", "the function evaluate (helper)"),
        ("SCALE = 2", "SCALE = 3", "the function evaluate (helper)"),
    ],
)
def test_a_script_that_has_changed(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert SCRIPT.count(old) == 1
    assert play(tmp_path, SCRIPT, "12").returncode == 0
    changed = SCRIPT.replace(old, new)
    done = play(tmp_path, changed, "30")
    if not named:
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("30|")
        return
    assert done.returncode == 1
    assert f"before {named} changed" in done.stderr
    assert "accept_changes=True" in done.stderr
    # Knowingly: with a warning, which is recorded; from then on it is the changed one that counts.
    done = play(tmp_path, changed, "30", "accept")
    assert done.returncode == 0, done.stderr
    assert f"resumed after {named} changed" in done.stdout
    assert "RaceWarning" in done.stderr
    records = read_records(tmp_path / "race.jsonl")
    warned = [one.about for one in records if isinstance(one, Warned)]
    assert warned.count("changed") == 1
    assert play(tmp_path, changed, "40").returncode == 0
    assert f"before {named} changed" in play(tmp_path, SCRIPT, "50").stderr


def test_a_function_of_another_version_of_python_is_not_alarmed_about(path: Path) -> None:
    space: dict[str, Any] = {}
    exec("def evaluate(arm):\n    return arm", space)
    run(path, space["evaluate"], [1, 2])
    lines = path.read_text().splitlines(keepends=True)
    assert f'"its code":"cpython-3.{sys.version_info.minor}:' in lines[0]
    assert run(path, space["evaluate"], [1, 2], max_pulls=20).pulls == 20
    exec("def evaluate(arm):\n    return arm + 1", space)
    with pytest.raises(InvalidInput, match=r"the function evaluate \(its code\) changed"):
        run(path, space["evaluate"], [1, 2], max_pulls=30)


def test_arms_of_other_labels_are_never_accepted(path: Path) -> None:
    run(path, abs, [1, 2])
    with pytest.raises(InvalidInput, match="arm 1 was"):
        run(path, abs, [1, 3], accept_changes=True)


# Commands.


def test_a_changed_script_is_noticed_and_may_be_accepted(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "sim.sh"
    script.write_text("expr $1 '*' 10 + $2 % 7\n")
    command = Command.parse("sh sim.sh {x} {seed}", cwd=str(tmp_path))
    arms = [{"x": 1}, {"x": 2}]
    options: dict[str, Any] = {"bounds": (0, 60), "max_pulls": 10, "journal": path}
    race(command, arms, progress=False, **options)
    assert header(path).problem["fingerprint"]["files"].keys() == {"sim.sh"}
    assert main(["resume", str(path), "--max-pulls", "12", "-q"]) == 3
    script.write_text("expr $1 '*' 11 + $2 % 7\n")
    capsys.readouterr()
    assert main(["resume", str(path), "--max-pulls", "14", "-q"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "before the file sim.sh changed" in said
    assert "--accept-changes" in said
    with pytest.raises(InvalidInput, match=r"the file sim\.sh changed"):
        race(command, arms, progress=False, **options)
    with pytest.raises(InvalidInput, match=r"the file sim\.sh changed"):
        resume(path, max_pulls=14)
    assert main(["resume", str(path), "--max-pulls", "14", "-q", "--accept-changes"]) == 3
    assert main(["resume", str(path), "--max-pulls", "16", "-q"]) == 3
    assert "resumed after the file sim.sh changed" in capsys.readouterr().err
    script.unlink()
    with pytest.raises(InvalidInput, match=r"the file sim\.sh changed"):
        resume(path, max_pulls=18)


def test_the_files_of_a_command_are_its_scripts_not_what_it_writes(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.toml", "out.txt", "log.json", "tool"):
        (tmp_path / name).write_text("1")
    (tmp_path / "tool").chmod(0o755)
    folder = str(tmp_path)
    command = Command.parse("python3 {name} --config c.toml -o out.txt", cwd=folder)
    found = files_of(command, [{"name": "a.py"}, {"name": "b.py"}, {"name": "none.py"}])
    assert found.keys() == {"a.py", "b.py", "c.toml"}
    command = Command.parse("./tool {x} | tee log.json; python3 'a.py'", shell=True, cwd=folder)
    assert files_of(command, [{"x": 1}]).keys() == {"./tool", "a.py"}
    several = Command.parse(["/bin/sh", "-c", "{command}"], cwd=folder)
    arms = [{"command": "./tool 1"}, {"command": "python3 b.py 'x"}]  # the shell will complain
    assert files_of(several, arms).keys() == {"./tool", "b.py"}


def test_a_large_file_counts_by_its_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.races.scripts._MOST_BYTES", 3)
    (tmp_path / "a.py").write_text("1234")
    command = Command.parse("python3 a.py {x}", cwd=str(tmp_path))
    assert files_of(command, [{"x": 1}])["a.py"].startswith("4 bytes of ")


def test_the_command_of_another_race_is_shown(path: Path) -> None:
    arms = [{"x": 1}, {"x": 2}]
    options: dict[str, Any] = {"bounds": (0, 9), "max_pulls": 4, "journal": path}
    race(Command.parse("echo {x}"), arms, progress=False, **options)
    with pytest.raises(InvalidInput, match=r"words=\['echo', '\{x\}'\], this one has words="):
        race(Command.parse("echo -n {x}"), arms, progress=False, **options)
    with pytest.raises(InvalidInput, match=r"evaluate='echo \{x\}', this one has evaluate='func"):
        race(abs, arms, progress=False, **options)


# Journals that were written before there were fingerprints.


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 1)


def test_a_journal_without_fingerprints_is_resumed(path: Path) -> None:
    options: dict[str, Any] = {"seed": 3, "confidence": 0.95, "cores": 2, "progress": False}
    shutil.copy(JOURNALS / "format-2-function-ended.jsonl", path)
    before = path.read_bytes()
    assert "fingerprint" not in header(path).problem
    ended = race(evaluate, [0.0, 0.5, 1.0], journal=path, **options)
    assert (ended.best, ended.confidence, path.read_bytes()) == (1.0, 0.95, before)
    assert ended.notes == ("nothing was run: the race had ended",)  # it does not say when
    shutil.copy(JOURNALS / "format-2-function-capped.jsonl", path)
    done = race(evaluate, [0.0, 0.5, 1.0], journal=path, **options)
    assert (done.best, done.decided) == (1.0, True)
    assert done.notes == ("resumed with max_pulls=None, was 30",)
    with pytest.raises(InvalidInput, match=r'arm 2 was "1.0" there and is "2.0" here'):
        race(evaluate, [0.0, 0.5, 2.0], journal=path, **options)


def test_a_command_s_journal_without_fingerprints_is_resumed(path: Path) -> None:
    shutil.copy(JOURNALS / "format-2-command-capped.jsonl", path)
    assert read_journal(path).resumes_alone
    result = resume(path, max_pulls=400, progress=False)
    assert (result.decided, result.best) == (True, {"x": 3})


def test_a_fingerprint_of_another_scheme_says_nothing_beyond_labels(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.races.identity.SCHEME", 99)
    run(path, abs, [1, 2])
    monkeypatch.undo()
    assert run(path, abs, [1, 2], max_pulls=20).pulls == 20
    with pytest.raises(InvalidInput, match="arm 1 was"):
        run(path, abs, [1, 3], max_pulls=30)


def test_a_race_without_a_journal_takes_no_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("paceline.races.identity.fingerprints", never)
    engine = SimulatedEngine(2)
    assert race(abs, [1, 2], bounds=(0, 9), max_pulls=4, engine=engine, progress=False).pulls == 4


def test_accepted_work_is_in_the_session_s_record(path: Path) -> None:
    run(path, lambda arm: arm, [1, 2])
    with pytest.warns(RaceWarning, match=r"the function .*<lambda> \(its code\)"):
        run(path, lambda arm: arm + 1, [1, 2], max_pulls=20, accept_changes=True)
    sessions = [one for one in read_records(path) if isinstance(one, SessionBegun)]
    assert [one.work is None for one in sessions] == [True, False]
