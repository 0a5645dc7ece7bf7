from pathlib import Path
from typing import Any

import pytest

from paceline import APR
from paceline.cli import main
from tests.cli.made_up import result

RACE = """
command = "echo {x} {seed}"
[arms]
x = [1, 2]
[race]
deadline = "10m"
policy = "apr:beta=1.5"
confidence = 0.9
journal = "j.jsonl"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "race.toml"
    path.write_text(RACE)
    return path


def test_the_file_is_raced_and_options_go_before_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def race(command: Any, arms: Any, progress: Any, **keywords: Any) -> Any:
        assert arms == ({"x": 1}, {"x": 2})
        asked.append(keywords)
        return result()

    monkeypatch.setattr("paceline.races.race", race)
    monkeypatch.chdir(file.parent.parent)
    assert main(["run", str(file)]) == 0
    words = "-c 0.8 -d 5m --cores 4 -j here.jsonl --seed 3 --max-pulls 99"
    assert main(["run", str(file), *words.split()]) == 0
    policy = APR(beta=1.5)
    assert asked[0] == {
        "deadline": "10m",
        "policy": policy,
        "confidence": 0.9,
        "journal": str(file.parent / "j.jsonl"),
    }
    assert asked[1] == {
        "deadline": "5m",
        "policy": policy,
        "confidence": 0.8,
        "journal": str(file.parent.parent / "here.jsonl"),
        "cores": 4,
        "seed": 3,
        "max_pulls": 99,
    }


def test_a_dry_run_runs_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(file), "--dry-run", "-c", "0.7"]) == 0
    assert "a confidence of 0.7 or the deadline of 10 min" in capsys.readouterr().out
    assert not (file.parent / "j.jsonl").exists()


def test_bad_files_exit_with_2(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(RACE.replace("apr:", "arp:"))
    assert main(["run", str(file)]) == 2
    assert f"{file}, line 7: unknown policy 'arp': did you mean 'apr'?" in capsys.readouterr().err
    assert main(["run", "nowhere.toml"]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_real_race_from_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "race.toml"
    file.write_text(
        """
        command = "awk -v x={x} -v s={seed} 'BEGIN {{ srand(s); print x + rand() }}'"
        arms = [{x = 0}, {x = 5}]
        [race]
        bounds = [0, 6]
        direction = "minimize"
        """
    )
    assert main(["run", str(file), "--quiet"]) == 0
    assert capfd.readouterr() == ("x=0\n", "")
