"""Values that the user had ruled out: an arm that is out for them may be the best."""

import random
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import RaceFailed, RaceWarning, Result
from paceline.cli import main
from paceline.cli.exits import exit_code
from paceline.pools.attempts import Attempts
from paceline.races.concerns import DECLARED
from paceline.races.declared import contradictions
from tests.races.virtual import VirtualEngine

ADVICE = "Start a new race (and a new journal) with bounds= that hold every value, or without any"


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.05)


def run(evaluate: Any, arms: Any, **options: Any) -> Result:
    given: dict[str, Any] = {"engine": VirtualEngine(), "bounds": (0, 1)} | options
    return paceline.race(evaluate, arms, **given)


def test_an_arm_beyond_the_bounds_leaves_the_race_undecided() -> None:
    with pytest.warns(RaceWarning, match=r"bounds=\(0, 1\) does not hold, so nothing is guar"):
        result = run(noisy, [0.3, 0.7, 5.0])
    assert (result.decided, result.confidence) == (False, None)
    assert result.best == 0.7
    assert result.still_in == (1, 2)
    assert [arm.status for arm in result.arms] == ["out", "in", "failed"]
    assert result.verdict.startswith('undecided between "0.7" and "5.0": "5.0" gave 4.')
    assert 'outside bounds=(0, 1), so it was left out, and may be the best; "0.7" leads' in str(
        result
    )
    (text,) = result.warnings
    assert text.endswith(ADVICE)
    assert exit_code(result) == 4


def test_control_within_the_bounds_all_is_well() -> None:
    result = run(noisy, [0.3, 0.5, 0.7])
    assert (result.decided, result.confidence, exit_code(result)) == (True, 0.95, 0)
    assert result.warnings == ()


@pytest.mark.parametrize(
    "goal", [{"deadline": 60}, {"deadline": 60, "confidence": 0.9}, {"max_pulls": 12}]
)
def test_whatever_ends_the_race(goal: dict[str, Any]) -> None:
    with pytest.warns(RaceWarning, match="does not hold"):
        result = run(noisy, [0.3, 0.7, 5.0], **goal)
    assert not result.decided
    assert result.still_in[-1] == 2
    assert "may be the best" in result.verdict
    assert exit_code(result) == 4


def test_several_arms_and_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    arms = [0.3, 0.7, 5.0, -3.0, 6.0, 7.0]
    with pytest.warns(RaceWarning, match="does not hold"):
        result = run(noisy, arms, journal=path)
    assert "so they were left out" in result.verdict
    assert "and 1 more" in result.verdict
    again = run(noisy, arms, journal=path)
    assert (again.verdict, again.warnings) == (result.verdict, result.warnings)
    assert "nothing was run" in again.notes[0]
    assert exit_code(again) == 4
    view = paceline.races.read_journal(path)
    assert view.ending is not None
    assert view.ending.verdict == result.verdict
    assert view.standing.warnings == result.warnings


def test_declared_zeros_and_ones() -> None:
    def half(arm: int, *, seed: int) -> float:
        return 0.5 if arm == 1 else float(random.Random(seed).random() < 0.9 - arm * 0.2)

    with pytest.warns(RaceWarning, match=r"noise='bernoulli' does not hold.*with noise='auto'"):
        result = run(half, [0, 1, 2], bounds=None, noise="bernoulli")
    assert 'between "0" and "1": "1" gave 0.5, outside noise=' in result.verdict
    assert exit_code(result) == 4


def test_a_value_that_is_only_just_outside_is_written_in_full() -> None:
    with pytest.warns(RaceWarning, match=r'"1" gave 1\.0000001'):
        run(lambda arm, seed: 1.0000001 if arm else random.Random(seed).random(), [0, 1])


def test_a_value_that_a_retry_replaced_takes_the_confidence_away() -> None:
    tries: dict[tuple[float, int], int] = {}

    def once(arm: float, *, seed: int) -> float:
        tries[arm, seed] = tries.get((arm, seed), 0) + 1
        return 9.0 if arm == 0.7 and tries[arm, seed] == 1 else noisy(arm, seed=seed)

    with pytest.warns(RaceWarning, match=r'does not hold, so nothing is guaranteed: "0.7" gave 9'):
        result = run(once, [0.3, 0.7])
    assert (result.decided, result.confidence, result.best) == (True, None, 0.7)
    assert 'so far ("0.7" gave 9, outside bounds=(0, 1)); nothing is guaranteed' in result.verdict


def test_if_all_arms_fail_for_it_the_error_says_what_to_do() -> None:
    with pytest.warns(RaceWarning), pytest.raises(RaceFailed, match="bounds= that hold every"):
        run(noisy, [5.0, 6.0])
    with pytest.warns(RaceWarning), pytest.raises(RaceFailed, match="bounds= that hold every"):
        run(noisy, [0.5, 6.0], on_failure="stop")


def test_what_was_printed_comes_after_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["race", "echo junk {x}; echo {x}.5", "--shell", "-L", "x", "2,3", "--cores", "2"]
    main([*words, "--noise", "bernoulli", "--quiet", "--max-pulls", "60"])
    said = capsys.readouterr().err.strip().split("\n")[-3:]
    assert said[0].startswith("paceline: stopped by failures: all 2 arms failed")
    assert "outside the declared values. noise='bernoulli' does not hold" in said[0]
    assert said[0].endswith("with bounds=, or with noise='auto'")
    assert said[1] in ("junk 2", "junk 3")


def test_other_failures_leave_the_verdict_alone() -> None:
    engine = VirtualEngine(fatal=lambda arm, pull: arm == 2)
    result = run(noisy, [0.3, 0.7, 0.9], engine=engine)
    assert result.arms[2].status == "failed"
    assert (result.decided, result.confidence, exit_code(result)) == (True, 0.95, 0)
    assert contradictions(paceline.races.prepare(noisy, [1, 2]).settings, Attempts()) == ""
    assert DECLARED not in result.warnings


def test_show_does_not_say_that_a_higher_limit_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = str(tmp_path / "race.jsonl")
    words = ["race", "echo {x}", "-L", "x", "0.1,0.5,3", "--bounds", "0,1", "-j", journal]
    assert main([*words, "--cores", "2", "--quiet"]) == 4
    assert main(["show", journal]) == 0
    out = capsys.readouterr().out
    assert "ended undecided, and no limit would decide it: see the warning" in out
    assert "WARNING: bounds=(0, 1) does not hold" in out


def test_the_command_line_says_so_and_exits_with_4(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["race", "echo {x}", "-L", "x", "0.1,0.5,3", "--bounds", "0,1", "--max-pulls", "60"]
    assert main([*words, "--cores", "2"]) == 4
    out = capsys.readouterr().out
    assert "x=3 gave 3, outside bounds=(0, 1), so it was left out, and may be the best" in out
    assert (
        f"WARNING: bounds=(0, 1) does not hold, so nothing is guaranteed: x=3 gave 3. {ADVICE}"
        in out
    )
    assert main([*words, "--cores", "2", "--quiet"]) == 4
