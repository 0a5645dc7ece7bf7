"""Commands raced by their own time: how runs share the pool is asked for, and said."""

import json
from pathlib import Path

import pytest

import paceline
from paceline import Command, InvalidInput, races
from paceline.cli import main

TIMED = ["--value", "time", "--minimize"]
SLEEPS = ["race", "sleep 0.0{x}", "-L", "x", "1,6", *TIMED]


@pytest.mark.parametrize(
    ("more", "runs"),
    [
        ("--cores 2", "each run on 1 core, 2 at once"),
        ("--cores 8 --cores-per-pull 2", "each run on 2 cores, 4 at once"),
        ("--cores 8 --cores-per-pull 2 --at-once 3", "each run on 2 cores, 3 at once"),
        ("--cores 8 --at-once 1", "each run on 1 core, one at a time"),
    ],
)
def test_the_plan_says_how_runs_share_the_pool(
    more: str, runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SLEEPS, *more.split(), "-n"]) == 0
    out = capsys.readouterr().out
    assert f"runs            {runs}\n" in out
    assert ("may slow each other down" in out) == ("at once" in runs)


def test_the_result_says_it_as_well(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "race.jsonl"
    assert main([*SLEEPS, "--cores", "2", "-j", str(journal)]) == 0
    out = capfd.readouterr().out
    assert "runs     each run on 1 core, 2 at once\n" in out
    assert "--at-once 1, does one at a time" in out
    assert main([*SLEEPS, "--cores", "2", "--at-once", "1", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["notes"] == []
    assert main(["resume", str(journal), "-c", "0.99", "--at-once", "1"]) == 0
    assert "1 core, one at a time" in capfd.readouterr().out


def test_runs_that_are_one_at_a_time_do_not_overlap(tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = f"echo begin >> {said}; sleep 0.0{{x}}; echo end >> {said}"
    command = Command.parse(["sh", "-c", script], value="time")
    result = paceline.race(
        command,
        [{"x": 1}, {"x": 4}],
        direction="minimize",
        cores=4,
        cores_per_pull=1,
        at_once=1,
        progress=False,
    )
    assert (result.best, result.cores) == ({"x": 1}, 1)
    words = said.read_text().split()
    if words[-1] == "begin":  # a run that the verdict cut short
        words.pop()
    assert len(words) >= 2 * result.pulls
    assert words == ["begin", "end"] * (len(words) // 2)


def test_cores_in_a_timed_command_are_fixed_by_the_user(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    line = ["race", "sleep 0.{cores}{x}", "-L", "x", "1,6", *TIMED, "-n"]
    assert main(line) == 2
    assert "as in --cores-per-pull 1" in capsys.readouterr().err
    assert main([*line, "--cores-per-pull", "1"]) == 0
    file = tmp_path / "race.toml"
    file.write_text('command = "sleep 0.0{x}"\nvalue = "time"\n[arms]\nx = [1, 2]\n')
    for cores in ("1", "2"):  # on any machine alike
        assert main(["check", str(file), "--cores", cores]) == 2
    with pytest.raises(InvalidInput, match="say how many each run has, as cores_per_pull=1"):
        races.prepare(Command.parse("sleep {x}", value="time"), [{"x": 1}, {"x": 2}], cores=1)


def test_how_a_timed_command_scales_can_be_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """On several numbers of cores, one pull at a time, whatever a race would give each."""
    file = tmp_path / "race.toml"
    text = 'command = "sleep 0.0{cores}{x}"\nvalue = "time"\narms = [{x=1}, {x=2}]\n'
    file.write_text(text + "[race]\nat_once = 1\n")
    options = ["--cores", "4", "-r", "1", "--json", "--unit", "cores"]
    assert main(["profile", str(file), *options]) == 0
    assert set(json.loads(capfd.readouterr().out)["measured"]) == {"1", "2", "4"}
