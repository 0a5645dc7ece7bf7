"""Races that failures stopped, or took arms from: mended, and resumed as often as one likes."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paceline import race
from paceline.errors import RaceFailed
from paceline.journal import read_records
from paceline.journal.records import ArmOut, PullsReturned
from paceline.result import Result
from tests.races.virtual import VirtualEngine, pulls_of

ARMS = [0.0, 1.0, 0.5]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.1)


def run(journal: Path, broken: tuple[int, ...] = (), **options: Any) -> Result:
    """A session of the race, in which every pull of some arms fails."""
    engine = VirtualEngine(fatal=lambda arm, pull: arm in broken)
    given = {"confidence": 0.9, "retries": 1, "cores": 4} | options
    return race(noisy, ARMS, engine=engine, journal=journal, progress=False, **given)


def each_pull_once(journal: Path) -> bool:
    records = [one for one in read_records(journal) if isinstance(one, PullsReturned)]
    pulls = [pull for one in records for pull in pulls_of(one.pulls)]
    return len(pulls) == len(set(pulls))


def paceline(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "paceline", *words], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.parametrize("on_failure", ["drop-arm", "stop"])
def test_all_arms_failed_are_mended_and_the_race_is_resumed_twice(
    tmp_path: Path, on_failure: str
) -> None:
    command = "test -e mended && x={x} && s={seed} && echo $x.$((s % 10))"
    flags = ["--shell", "-L", "x", "0,1,2", "--cores", "2", "--confidence", "0.9"]
    flags += ["--on-failure", on_failure, "--journal", "race.jsonl"]
    failed = paceline("race", command, *flags, cwd=tmp_path)
    assert failed.returncode == 4, failed.stderr
    again = paceline("resume", "race.jsonl", cwd=tmp_path)
    assert again.returncode == 4, "it is not mended yet"
    (tmp_path / "mended").touch()
    for _ in range(3):
        done = paceline("resume", "race.jsonl", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "x=2 has the highest mean, with probability at least 0.9" in done.stdout
    assert each_pull_once(tmp_path / "race.jsonl")


def test_a_race_that_stopped_may_be_resumed_without_stopping(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    with pytest.raises(RaceFailed, match="on_failure='stop'"):
        run(journal, broken=(2,), on_failure="stop")
    mended = run(journal, on_failure="drop-arm")
    assert (mended.best, mended.decided) == (1.0, True)
    assert [arm.status for arm in mended.arms] == ["out", "best", "out"]
    again = run(journal, on_failure="drop-arm")
    assert again.verdict == mended.verdict
    assert each_pull_once(journal)


def test_a_race_that_stopped_may_be_resumed_unmended_without_stopping(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    with pytest.raises(RaceFailed, match="on_failure='stop'"):
        run(journal, broken=(1,), on_failure="stop")
    for _ in range(3):
        result = run(journal, broken=(1,), on_failure="drop-arm")
        assert result.best == 0.5
        assert [arm.status for arm in result.arms] == ["out", "failed", "best"]
    assert each_pull_once(journal)


def test_arms_that_fail_again_after_a_resume_are_out_again(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    for session in range(4):
        with pytest.raises(RaceFailed, match="all 3 arms failed"):
            run(journal, broken=(0, 1, 2))
        out = [one.arm for one in read_records(journal) if isinstance(one, ArmOut)]
        assert sorted(out) == sorted([0, 1, 2] * (session + 1)), "forgiven, and out again"
    one_left = run(journal, broken=(0, 1))
    assert one_left.best == 0.5
    assert [arm.status for arm in one_left.arms] == ["failed", "failed", "best"]
    still = run(journal)
    assert still.verdict == one_left.verdict, "it has its verdict: nobody is forgiven any more"


def test_nobody_without_a_value_is_named_with_a_confidence(tmp_path: Path) -> None:
    """However the sessions went before."""
    journal = tmp_path / "race.jsonl"
    for broken in ((0, 1, 2), (0, 1, 2), (0,), ()):
        try:
            result = run(journal, broken=broken)
        except RaceFailed:
            continue
        assert result.arms[result.index].pulls > 0
        assert result.best == 1.0


@pytest.mark.parametrize("broken", [(1,), (1, 2), (0, 1, 2)])
def test_failures_in_a_race_for_the_two_best(tmp_path: Path, broken: tuple[int, ...]) -> None:
    journal = tmp_path / "race.jsonl"
    arms = [0.0, 1.0, 0.5, 0.8]

    def session(broken: tuple[int, ...]) -> Result:
        engine = VirtualEngine(fatal=lambda arm, pull: arm in broken)
        options: dict[str, Any] = {"confidence": 0.9, "retries": 0, "cores": 4, "top": 2}
        return race(noisy, arms, engine=engine, journal=journal, progress=False, **options)

    left = [arm for arm in (1, 3, 2, 0) if arm not in broken]
    for _ in range(2):
        result = session(broken)
        assert sorted(result.chosen) == sorted(left[:2])
        assert result.arms[result.index].pulls > 0
    assert {arm.index for arm in result.arms if arm.status == "failed"} == set(broken)


@pytest.mark.parametrize(("cores", "then"), [(2, 1), (1, 2), (4, 3), (3, 8)])
def test_a_race_may_be_resumed_on_fewer_and_on_more_cores(
    tmp_path: Path, cores: int, then: int
) -> None:
    journal = tmp_path / "race.jsonl"
    cut = run(journal, cores=cores, max_pulls=9, confidence=0.99)
    assert not cut.decided
    result = run(journal, cores=then, max_pulls=400, confidence=0.99)
    assert (result.best, result.decided) == (1.0, True)
    again = run(journal, cores=cores, max_pulls=400, confidence=0.99)
    assert again.verdict == result.verdict
    assert each_pull_once(journal)


def test_a_race_of_commands_may_be_resumed_on_fewer_cores(tmp_path: Path) -> None:
    command = "x={x}; s={seed}; echo $((x * 3 + s % 100))"
    flags = ["--shell", "-L", "x", "0,1,2", "--confidence", "0.99", "--journal", "race.jsonl"]
    cut = paceline("race", command, *flags, "--cores", "2", "--max-pulls", "20", cwd=tmp_path)
    assert cut.returncode == 3, cut.stderr
    more = ["--cores", "1", "--max-pulls", "60"]
    done = paceline("resume", "race.jsonl", *more, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert each_pull_once(tmp_path / "race.jsonl")


def test_an_arm_that_is_out_stays_out_when_the_cap_is_raised(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    first = run(journal, broken=(0,), max_pulls=6, confidence=0.999)
    assert first.arms[0].status == "failed"
    assert not first.decided
    on = run(journal, max_pulls=500, confidence=0.999)
    assert on.arms[0].status == "failed", "it failed, and the race went on without it"
    assert (on.best, on.decided) == (1.0, True)
    assert each_pull_once(journal)
