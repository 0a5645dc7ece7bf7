"""Plans from journals, and pilots, which are the beginning of a race."""

import random
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import InvalidInput
from paceline.cli import main

ARMS = [0.0, 0.6, 1.0]
RACE: dict[str, Any] = {"cores": 2, "confidence": 0.95}


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 1)


def coin(arm: float, *, seed: int) -> float:
    return float(random.Random(seed).random() < arm)


def test_a_pilot_counts(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    plan = paceline.plan(evaluate, ARMS, pilot=0.3, journal=journal, replications=20, **RACE)
    seen = paceline.open(journal)
    assert seen.pulls >= 2 * len(ARMS)
    assert f"{seen.pulls} values of 3 arms" in plan.basis
    assert plan.cores == 2
    assert plan.seconds.median > 0
    result = paceline.race(evaluate, ARMS, journal=journal, **RACE)
    assert result.decided
    assert result.pulls >= seen.pulls
    again = paceline.open(journal).values
    assert (again.value[: seen.pulls] == seen.values.value).all()


def test_the_journal_of_a_race_that_has_ended_says_how_long_it_took(tmp_path: Path) -> None:
    """All of its values are known, so every simulated race ends where it did."""
    journal = tmp_path / "race.jsonl"
    result = paceline.race(evaluate, ARMS, journal=journal, **RACE)
    plan = paceline.plan(journal=journal, replications=10)
    assert result.decided
    assert plan.best.success in (0.0, 1.0)
    assert plan.seconds.low == plan.seconds.high
    assert "of it have been run" in plan.notes[0]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("goal", [{"confidence": 0.9}, {"deadline": 30}])
def test_all_goals_and_zeros_and_ones(tmp_path: Path, direction: str, goal: dict[str, Any]) -> None:
    journal = tmp_path / "race.jsonl"
    plan = paceline.plan(
        coin, [0.1, 0.5, 0.9], pilot=0.2, journal=journal, cores=2, direction=direction,
        replications=10, **goal,
    )  # fmt: skip
    assert plan.goal == (goal.get("confidence"), goal.get("deadline"))
    assert plan.best.success > 0.5
    other = paceline.plan(journal=journal, confidence=0.8, cores=[1, 4], replications=10)
    assert [one.cores for one in other.forecasts] == [1, 4]
    assert other.policy == "racing"


def test_assumptions_go_with_the_times_of_a_journal(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    paceline.race(evaluate, ARMS, journal=journal, max_pulls=60, **RACE)
    near = paceline.plan(journal=journal, gap=0.1, sigma=1.0, replications=10)
    far = paceline.plan(journal=journal, gap=1.0, sigma=1.0, replications=10)
    assert near.arms == 3
    assert near.seconds.median > 10 * far.seconds.median


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"journal='race.jsonl'"):
        paceline.plan(evaluate, ARMS, pilot=1)
    with pytest.raises(InvalidInput, match="give evaluate and its arms"):
        paceline.plan(arms=3, pilot=1, journal=tmp_path / "a.jsonl")
    with pytest.raises(InvalidInput, match="leave scaling= and pull= out"):
        paceline.plan(evaluate, ARMS, pilot=1, journal=tmp_path / "a.jsonl", pull=3)
    with pytest.raises(InvalidInput, match="nowhere"):
        paceline.plan(journal=tmp_path / "nowhere.jsonl")


FILE = """
command = "python3 -c 'import random; print({x} + random.Random({seed}).gauss(0, 1))'"
[arms]
x = [0, 2, 4]
[race]
confidence = 0.9
cores = 2
"""


def test_a_pilot_of_a_race_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("race.toml").write_text(FILE)
    assert main(["plan", "race.toml", "--pilot", "0.3s", "--races", "10"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "to go on from there: paceline run race.toml --journal race.jsonl" in out
    assert main(["plan", "race.jsonl", "--cores", "1,2", "--races", "10", "--json"]) == 0
    capsys.readouterr()
    assert main(["run", "race.toml", "--journal", "race.jsonl", "-q"]) == 0
    assert main(["plan", "race.toml", "--pilot", "0.3s", "--scaling", "power:0.5"]) == 2
    assert main(["plan", "--pilot", "0.3s", "--arms", "3"]) == 2
    assert "give its file" in capsys.readouterr().err
