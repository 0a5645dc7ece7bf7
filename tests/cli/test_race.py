import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from paceline import Result
from paceline.cli import main
from paceline.commands import Value
from paceline.core.pool import CorePool
from paceline.errors import Interrupted, RaceFailed
from tests.cli.made_up import result
from tests.display.test_screen import on_terminal

TEMPLATE = "echo {x} {seed}"
# A number around {x}; awk starts in a millisecond.
NOISY = "awk -v x={x} -v s={seed} 'BEGIN {{ srand(s); print x + rand() }}'"


class Calls(list[tuple[Any, Any, dict[str, Any]]]):
    """The races that were asked for; each gives `answer`, or raises it."""

    answer: Result | BaseException = result()

    def __call__(self, command: Any, arms: Any, **keywords: Any) -> Result:
        keywords.pop("progress")
        self.append((command, arms, keywords))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def races(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls()
    monkeypatch.setattr("paceline.races.race", calls)
    return calls


def test_a_template_and_lists_become_a_command_and_arms(races: Calls, tmp_path: Path) -> None:
    options = ["-L", "mode", "a,b", "--value", "json:score", "--cwd", str(tmp_path), "--shell"]
    assert main(["race", "echo {x} {mode} {seed}", "-L", "x", "1,2", *options]) == 0
    ((command, arms, keywords),) = races
    assert command.words == ("echo {x} {mode} {seed}",)
    assert command.shell
    assert command.value == Value("json", "score")
    assert command.cwd == str(tmp_path)
    assert arms[:2] == ({"x": "1", "mode": "a"}, {"x": "1", "mode": "b"})
    assert len(arms) == 4
    assert keywords == {}  # the defaults are those of paceline.race


def test_every_option_reaches_the_race(races: Calls) -> None:
    words = (
        "-c 0.9 -d 10m --minimize --top 2 --tolerance 0.1 --noise bounded --bounds -1,1.5 "
        "--sigma 2 --paired --cores 8 --cores-per-pull 1-4 -p apr:beta=1.5 -s power:0.5 -j j.jsonl "
        "--seed 7 --retries 0 --timeout 90s --on-failure stop --max-pulls 500 --env A=b=c"
    )
    assert main(["race", TEMPLATE, "-L", "x", "-1,3", *words.split()]) == 0
    ((command, arms, keywords),) = races
    assert command.environment == {"A": "b=c"}
    assert command.cwd == os.getcwd()
    assert arms == ({"x": "-1"}, {"x": "3"})
    assert keywords == {
        "confidence": 0.9,
        "deadline": "10m",
        "direction": "minimize",
        "top": 2,
        "tolerance": 0.1,
        "noise": "bounded",
        "bounds": (-1.0, 1.5),
        "sigma": 2.0,
        "paired": True,
        "cores": 8,
        "cores_per_pull": (1, 4),
        "policy": "apr:beta=1.5",
        "scaling": "power:0.5",
        "journal": "j.jsonl",
        "seed": 7,
        "retries": 0,
        "timeout": "90s",
        "on_failure": "stop",
        "max_pulls": 500,
    }


def test_several_commands_are_arms(races: Calls) -> None:
    assert main(["race", "gzip -c {a,b}", "zstd", "--value", "time", "--minimize"]) == 0
    ((command, arms, keywords),) = races
    filled = command.fill(arms[0], seed=3, cores=1)
    assert filled.argv == ("/bin/sh", "-c", "gzip -c {a,b}")
    assert filled.environment == {"PACELINE_SEED": "3"}
    # A time depends on the cores, so they are the same for all.
    assert keywords == {"direction": "minimize", "cores_per_pull": 1}


def test_the_answer_is_on_stdout(races: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    races.answer = result(
        scaling=CorePool(16, lambda cores: 1.0 / cores),
        failures=("pull 0 of arm x=3 ended with status 1",) * 3 + ("pull 1 of arm x=1 was killed",),
        journal="race.jsonl",
    )
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        "arm   mean     interval  pulls  status\n"
        "x=2  0.710  0.61 … 0.81      8  best\n"
        "x=1  0.310  0.21 … 0.41      8  out\n"
        "x=3      –            –      0  failed\n"
        "\n"
        "x=2 has the highest mean, with probability at least 0.95\n"
        "WARNING: 4 attempts failed; 1 of 3 arms is out because of them:\n"
        "  arm x=3 ended with status 1 (3 times)\n"
        "  arm x=1 was killed\n"
        "noise    assumed: values between 0 and 1\n"
        "work     16 pulls in 3 rounds and 12 s\n"
        "cores    16: counted 50 %, idle 50 %\n"
        "journal  race.jsonl\n"
    )
    assert captured.err == ""


def test_failures_of_one_cause_are_one_and_fit_the_window(
    races: Calls, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = "pull 0 of arm x=3 was killed by signal 9, each of {} times (out of memory?)"
    races.answer = result(failures=tuple(killed.format(times) for times in (3, 4, 5)))
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 0
    assert (
        "WARNING: 3 attempts failed; 1 of 3 arms is out because of them:\n"
        "  arm x=3 was killed by signal 9, each time (out of memory?) (3 times)\n"
        "noise "
    ) in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("WARNING: 3 attempts failed; 1 of 3 arms")
    assert lines[start + 1] == "is out because of them:"


def test_quiet_prints_the_best_arm(races: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    races.answer = result(chosen=(1, 0), failures=("pull 0 of arm x=3 ended with status 1",))
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3", "-q"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "x=2\nx=1\n"
    assert captured.err.startswith("WARNING: 1 attempt failed")


def test_undecided_exits_with_3(races: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    races.answer = result(decided=False, verdict="undecided between x=2 and x=1", still_in=(0, 1))
    for option in ("--quiet", "--json"):
        assert main(["race", TEMPLATE, "-L", "x", "1,2,3", option]) == 3
    captured = capsys.readouterr()
    assert captured.err == "paceline: undecided between x=2 and x=1\n"
    assert captured.out.startswith("x=2\n{")


def test_failures_exit_with_4(races: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    races.answer = RaceFailed("all 3 arms failed")
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 4
    assert capsys.readouterr().err == "paceline: stopped by failures: all 3 arms failed\n"


def test_an_interrupt_exits_with_130(races: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    races.answer = Interrupted("interrupted. To resume: paceline resume j")
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 130
    assert capsys.readouterr().err == "paceline: interrupted. To resume: paceline resume j\n"


def test_sigterm_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def terminated(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)  # which the signal cuts short

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("paceline.races.race", terminated)
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3"]) == 130
    assert capsys.readouterr().err == "paceline: interrupted\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_standings_are_exported(
    races: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"standings.{kind}" for kind in ("csv", "json", "md")]
    options = [word for file in files for word in ("--export", str(file))]
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3", *options]) == 0
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert [row["label"] for row in rows] == ["x=2", "x=1", "x=3"]
    assert (rows[0]["mean"], rows[2]["mean"]) == ("0.71", "")
    assert json.loads(files[1].read_text())["best"] == "x=2"
    lines = files[2].read_text().splitlines()
    assert lines[0].startswith("| index | label | mean |")
    assert len(lines) == 5
    files[0].unlink()
    files[0].symlink_to(tmp_path / "gone" / "file")
    assert main(["race", TEMPLATE, "-L", "x", "1,2,3", "--export", str(files[0])]) == 0
    captured = capsys.readouterr()
    assert "cannot write" in captured.err
    assert "x=2 has the highest mean" in captured.out  # the verdict is worth more than the file


def test_values_and_times_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values, times, again = (tmp_path / name for name in ("v.csv", "h.json", "again.json"))
    journal = tmp_path / "race.jsonl"
    options = ["--value", "time", "--minimize", "--max-pulls", "6", "-j", str(journal)]
    files = ["--export-values", str(values), "--export-hyperfine", str(times)]
    main(["race", "sh -c true {x}", "-L", "x", "1,2", *options, *files])
    rows = list(csv.DictReader(values.read_text().splitlines()))
    found = json.loads(times.read_text())["results"]
    assert [one["parameters"] for one in found] == [{"x": "1"}, {"x": "2"}]
    for place, one in enumerate(found):
        mine = [(int(r["number"]), float(r["value"])) for r in rows if r["x"] == str(place + 1)]
        assert one["times"] == [value for _, value in sorted(mine)]
    main(["resume", str(journal), "--export-hyperfine", str(again), "-q"])
    assert json.loads(again.read_text())["results"] == found
    assert "cannot write" not in capsys.readouterr().err


def test_a_dry_run_runs_nothing(
    races: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace"
    command = f"touch {trace} {{x}}"
    assert main(["race", command, "-L", "x", "1,2,3", "--dry-run", "-c", "0.9"]) == 0
    out = capsys.readouterr().out
    assert "a confidence of 0.9" in out
    assert f"touch {trace} 1" in out
    assert not races
    assert not trace.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([TEMPLATE], "a race needs more than one command"),
        (["true", "false", "-L", "x", "1,2"], "2 commands and -L"),
        (["echo {seed}", "echo 1"], "write $PACELINE_SEED"),
        (["echo 1", "echo 1"], "arms 0 and 1 are the same"),
        ([TEMPLATE, "-L", "x", "1,2", "-L", "x", "3"], "-L x is given twice"),
        ([TEMPLATE, "-L", "x", "1"], "at least two arms"),
        ([TEMPLATE, "-L", "y", "1,2"], "unknown placeholder 'x'"),
        ([TEMPLATE, "-L", "x", "1,,2"], "empty value"),
        (["no-such-program {x}", "-L", "x", "1,2"], "cannot find the program"),
        ([TEMPLATE, "-L", "x", "1,2", "--env", "A"], "write NAME=VALUE"),
        ([TEMPLATE, "-L", "x", "1,2", "--value", "jsn:a"], "did you mean 'json'"),
        ([TEMPLATE, "-L", "x", "1,2", "--value", "time"], "say --minimize"),
        ([TEMPLATE, "-L", "x", "1,2", "--cwd", "/nowhere"], "does not exist"),
        ([TEMPLATE, "-L", "x", "1,2", "--export", "a.xls"], ".csv, .json or .md"),
        ([TEMPLATE, "-L", "x", "1,2", "--export-values", "a.md"], ".csv or .json"),
        ([TEMPLATE, "-L", "x", "1,2", "--export-hyperfine", "a.json"], "give --value time"),
        ([TEMPLATE, "-L", "x", "1,2", "--export", "/nowhere/a.md"], "no folder /nowhere"),
        ([TEMPLATE, "-L", "x", "1,2", "-p", "arp"], "did you mean 'apr'"),
        ([TEMPLATE, "-L", "x", "1,2", "-s", "powr:1"], "did you mean 'power'"),
        ([TEMPLATE, "-L", "x", "1,2", "-c", "1.5"], "confidence"),
        ([TEMPLATE, "-L", "x", "1,2", "-d", "soon"], "deadline must be"),
        ([TEMPLATE, "-L", "x", "1,2", "--max-pulls", "1"], "less than one pull"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_to_do(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("paceline: error: ")
    assert says in captured.err


@pytest.mark.parametrize(
    "words", ["--bounds 1", "--cores-per-pull 4-", "--cores-per-pull x", "-c high", "--noise odd"]
)
def test_words_that_are_no_numbers_exit_with_2(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["race", TEMPLATE, "-L", "x", "1,2", *words.split()])
    assert "(all that it takes: paceline race --help)" in capsys.readouterr().err


# Real races of tiny commands.


def test_a_real_race(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--bounds", "0,6", "-j", str(tmp_path / "j"), "--json"]
    assert main(["race", NOISY, "-L", "x", "0,5", *options]) == 0
    captured = capfd.readouterr()
    found = json.loads(captured.out)
    assert (found["best"], found["decided"], found["confidence"]) == ("x=5", True, 0.95)
    lines = captured.err.splitlines()
    assert lines[-1].startswith("round ")
    assert "x=5 leads with 5." in lines[-1]
    assert captured.err.replace("\n", "").isprintable()


def test_a_real_race_of_commands_with_seeds(capfd: pytest.CaptureFixture[str]) -> None:
    commands = ["echo 0.$PACELINE_SEED", "echo 7.$PACELINE_SEED"]
    assert main(["race", *commands, "--bounds", "0,8", "-q"]) == 0
    captured = capfd.readouterr()
    assert "echo 7.$PACELINE_SEED" in captured.out
    assert captured.err == ""


def test_a_real_race_that_is_undecided_or_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["race", NOISY, "-L", "x", "0,0.01", "--max-pulls", "20"]) == 3
    assert "undecided between" in capfd.readouterr().out
    options = ["--retries", "0", "--on-failure", "stop"]
    assert main(["race", "sh -c 'exit {x}'", "-L", "x", "3,4", *options]) == 4
    assert "ended with status" in capfd.readouterr().err


def test_a_terminal_is_left_with_the_answer_only() -> None:
    options = ["-L", "x", "1..40", "--deadline", "2s", "--bounds", "0,50"]
    command = [sys.executable, "-m", "paceline", "race", NOISY, *options]
    shown = on_terminal(command, columns=60, rows=12)
    assert "s left · " in shown
    assert "/40 arms in" in shown
    left = shown[shown.rindex("\x1b[2K") :]
    assert "arms in" not in left
    assert "… and 21 more: 21 out" in left
    assert "mean so far" in left
    lines = left.replace("\x1b[2K", "").splitlines()
    assert max(len(line) for line in lines) <= 60


def test_terminated_it_says_how_to_go_on(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    options = ["-L", "x", "0,0.001", "-j", str(journal)]
    command = [sys.executable, "-m", "paceline", "race", NOISY, *options]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    give_up = time.monotonic() + 30
    while not (journal.exists() and '"results"' in journal.read_text()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    child.terminate()
    out, error = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "it was interrupted after" in out  # and the best so far
    assert f"paceline resume {journal}" in error
