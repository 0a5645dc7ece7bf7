"""Races to a confidence and a deadline at once, as users start them."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paceline import Racing, Standing, Timed, race
from paceline.core.evidence.base import Evidence
from paceline.journal import read_records
from paceline.journal.records import RaceBegun, RoundEnded
from paceline.policies.timed import TimedPacer
from paceline.races import read_journal
from tests.races.virtual import VirtualEngine

CORES = 16
# The first is best, but so noisy that it is cut now and then; of the others, one is far ahead.
ARMS = [0.1, 0.0, *(-0.2 - 0.001 * np.arange(14)).round(3).tolist()]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(f"{seed} {arm}").gauss(0, 2.0 if arm > 0 else 0.1)


def engine(seed: int = 0) -> VirtualEngine:
    return VirtualEngine(cores=CORES, seed=seed)


def go(path: Path | None, **more: Any) -> Any:
    options: dict[str, Any] = {"confidence": 0.95, "deadline": 14, "seed": 4, "paired": False}
    options["journal"] = path
    return race(noisy, ARMS, engine=engine(), progress=False, **(options | more))


def recorded_policy(path: Path) -> str:
    header = read_records(path)[0]
    assert isinstance(header, RaceBegun)
    return str(header.problem["policy"]["name"])


class Stop(Exception):
    """Stands for whatever ends a session."""


def stopping(seconds: float) -> Any:
    def callback(standing: Standing) -> bool:
        if standing.elapsed >= seconds:
            raise Stop
        return False

    return callback


def test_both_goals_are_raced_by_timed_and_one_as_before(tmp_path: Path) -> None:
    found: dict[str, str] = {}
    for goals in ({}, {"confidence": None}, {"deadline": None}):
        path = tmp_path / f"{len(found)}.jsonl"
        go(path, max_pulls=300, **goals)
        found[str(goals)] = recorded_policy(path)
    assert list(found.values()) == ["timed", "staged", "racing"]


def test_a_resume_is_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if arms were set aside, and came back in mid-round, before the race was interrupted."""
    back: list[int] = []
    bring_back = TimedPacer._bring_back

    def spy(pacer: TimedPacer) -> None:
        bring_back(pacer)
        back.append(pacer.alive.size)

    monkeypatch.setattr(TimedPacer, "_bring_back", spy)
    aside: list[int] = []
    set_aside = Evidence.set_aside

    def spy_aside(evidence: Evidence, arms: Any) -> Evidence:
        aside.append(arms.size)
        return set_aside(evidence, arms)

    monkeypatch.setattr(Evidence, "set_aside", spy_aside)
    for seconds in (2.0, 6.0, 9.0, 11.0):
        path = tmp_path / f"{seconds}.jsonl"
        with pytest.raises(Stop):
            go(path, callbacks=[stopping(seconds)])
        done = go(path)
        assert done.decided
        before = path.read_bytes()
        again, read = go(path), read_journal(path).standing
        assert path.read_bytes() == before
        assert (again.verdict, again.confidence) == (done.verdict, done.confidence)
        for one in (again, read):
            assert [arm.pulls for arm in one.arms] == [arm.pulls for arm in done.arms]
            assert [arm.status for arm in one.arms] == [arm.status for arm in done.arms]
    assert aside
    assert back


def test_rounds_are_recorded_once_though_arms_come_back_in_mid_round(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    done = go(path)
    ended = [one for one in read_records(path) if isinstance(one, RoundEnded)]
    assert done.rounds - 1 <= len(ended) <= done.rounds + 1


def test_a_journal_of_both_goals_by_racing_stays_one(tmp_path: Path) -> None:
    """As earlier versions wrote it: `racing` was then the default for both goals."""
    path = tmp_path / "race.jsonl"
    with pytest.raises(Stop):
        go(path, policy="racing", callbacks=[stopping(5.0)])
    done = go(path)
    assert recorded_policy(path) == "racing"
    again = go(path, policy=Racing())
    assert again.verdict == done.verdict


@pytest.mark.parametrize(("first", "then"), [(None, 10), (10, None), (10, 14)])
def test_a_deadline_may_come_and_go_the_policy_stays(
    tmp_path: Path, first: float | None, then: float | None
) -> None:
    path = tmp_path / "race.jsonl"
    with pytest.raises(Stop):
        go(path, deadline=first, callbacks=[stopping(4.0)])
    name = recorded_policy(path)
    assert name == ("racing" if first is None else "timed")
    assert go(path, deadline=then, max_pulls=300).pulls > 10
    assert recorded_policy(path) == name


@pytest.mark.parametrize("paired", [False, True])
def test_it_states_what_it_can_and_keeps_the_deadline(paired: bool) -> None:
    easy = race(
        noisy, [0.0, -2.0, -3.0], confidence=0.95, deadline=200, paired=paired, engine=engine(),
        progress=False,
    )  # fmt: skip
    assert easy.confidence == 0.95
    assert "with probability at least 0.95" in easy.verdict
    hard = race(
        noisy, [0.0, -0.01, -0.02], confidence=0.95, deadline=20, paired=paired, engine=engine(),
        policy=Timed(), progress=False,
    )  # fmt: skip
    assert hard.decided
    assert hard.confidence is None or hard.confidence < 0.95
    assert "so far" in hard.verdict
    assert hard.elapsed <= 21.0
