"""A deadline that is shorter than a pull: said before the race if it is known, or afterwards."""

import time
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import CorePool, InvalidInput, RaceWarning
from paceline.cli import main
from paceline.cli.exits import exit_code
from tests.races.virtual import VirtualEngine

SHORT = "the deadline of 2 s was reached before any pull gave a value (one had run for 2 s on"
THREE = CorePool(8, lambda cores: 6 / cores + 2.3)


def value_of(arm: Any) -> float:
    return float(arm)


def slow(seconds: float = 10.0) -> VirtualEngine:
    return VirtualEngine(2, duration=lambda rng, cores: seconds)


@pytest.mark.parametrize("policy", [None, "ssh", "sequential-halving", "uniform"])
def test_if_the_scaling_is_given_it_is_refused_and_says_what_would_do(policy: Any) -> None:
    options: dict[str, Any] = {"scaling": THREE, "cores": 8, "policy": policy}
    said = (
        r"deadline 2 s is shorter than one pull \(about 3.05 s on 8 cores\): raise it to 3.8 s at "
        "least, in which each of the 2 arms can be pulled once"
    )
    with pytest.raises(InvalidInput, match=said):
        paceline.races.prepare(value_of, [1, 2], deadline=2, **options)
    if policy is None:
        with pytest.raises(InvalidInput, match=said):
            paceline.races.prepare(value_of, [1, 2], deadline=2, confidence=0.9, **options)
        paceline.races.prepare(value_of, [1, 2], deadline=3.8, **options)


def test_if_no_value_came_in_time_the_verdict_says_why() -> None:
    result = paceline.race(value_of, [1, 2, 3], deadline=2, engine=slow(), progress=False)
    assert result.best is None
    assert (result.decided, result.pulls) == (False, 0)
    assert SHORT in result.verdict
    assert result.verdict.endswith("raise it to several times what a pull takes")
    assert exit_code(result) == 3


def test_control_with_time_for_some_pulls_nothing_is_said_of_it() -> None:
    result = paceline.race(value_of, [1, 2, 3], deadline=12, engine=slow(), progress=False)
    assert result.pulls
    assert "before any pull" not in result.verdict
    assert exit_code(result) == (0 if result.decided else 3)


def test_both_goals_missed_is_a_code_of_its_own() -> None:
    goals: dict[str, Any] = {"deadline": 2, "confidence": 0.9}
    result = paceline.race(value_of, [1, 2, 3], engine=slow(), progress=False, **goals)
    assert SHORT in result.verdict
    assert exit_code(result) == 5
    # With the best answer so far by the deadline there is a verdict; and a cap is a cap.
    answered = paceline.race(value_of, [1, 1, 3], engine=slow(0.05), progress=False, **goals)
    assert (answered.decided, exit_code(answered)) == (True, 0)
    capped = paceline.race(
        value_of, [1, 2, 3], engine=slow(0.1), progress=False, max_pulls=4, bounds=(0, 99), **goals
    )
    assert exit_code(capped) == (0 if capped.decided else 3)


def test_a_resume_that_leaves_less_than_a_pull_warns_at_once(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"

    def stop(standing: paceline.Standing) -> bool:
        raise KeyboardInterrupt

    options: dict[str, Any] = {"journal": path, "bounds": (0, 99), "confidence": 0.99}
    with pytest.raises(paceline.Interrupted) as first:
        paceline.race(value_of, [1, 2], engine=slow(), callbacks=[stop], **options)
    left = first.value.result.elapsed + 4
    with pytest.warns(RaceWarning, match=r"deadline leaves 4 s, which is shorter than one pull \("):
        result = paceline.race(value_of, [1, 2], engine=slow(), deadline=left, **options)
    assert result.pulls == first.value.result.pulls
    assert any("shorter than one pull" in text for text in result.warnings)
    more = paceline.race(value_of, [1, 2], engine=slow(), deadline=left + 200, **options)
    assert not any("shorter than one pull" in text for text in more.warnings)


@pytest.mark.parametrize(("goals", "code"), [(["-d", "1s"], 3), (["-d", "1s", "-c", "0.9"], 5)])
def test_the_command_line(goals: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    words = ["race", "sleep {x}", "-L", "x", "30,40", "--value", "time", "--minimize"]
    assert main([*words, "--cores", "2", *goals]) == code
    assert "reached before any pull gave a value" in capsys.readouterr().out
    assert time.monotonic() - began < 25
