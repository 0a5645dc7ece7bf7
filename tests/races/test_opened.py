"""`paceline.open`: a race from its journal is what the race itself returned."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paceline
from tests.races.test_damage import write
from tests.races.virtual import VirtualEngine


def noisy(arm: dict[str, Any], *, seed: int) -> float:
    return float(arm["x"]) + float(np.random.default_rng(seed).normal(0.0, 0.3))


ARMS: list[dict[str, Any]] = [{"x": float(x), "name": f"arm {x}"} for x in range(6)]


@pytest.mark.parametrize("goal", [{"confidence": 0.95}, {"deadline": "2s"}])
def test_a_journal_tells_what_the_race_returned(tmp_path: Path, goal: dict[str, Any]) -> None:
    result = paceline.race(noisy, ARMS, journal=tmp_path / "j", progress=False, cores=2, **goal)
    opened = paceline.open(tmp_path / "j")
    assert opened.best == result.best
    assert opened.to_json() == result.to_json()
    assert opened.story.milestones == result.story.milestones
    for name in ("arm", "number", "seed", "value", "seconds", "cores", "at"):
        mine, theirs = getattr(opened.values, name), getattr(result.values, name)
        assert np.array_equal(mine, theirs), name
    seeds = {(pull.arm, pull.number): pull.seed for pull in opened.values}
    again = [noisy(ARMS[arm], seed=seed) for (arm, _), seed in seeds.items()]
    assert again == opened.values.value.tolist()


def test_who_fell_and_when_is_recorded_once_also_after_a_resume(tmp_path: Path) -> None:
    journal, rounds = tmp_path / "j", []

    def stop(standing: paceline.Standing) -> bool:
        rounds.append(sum(arm.status == "out" for arm in standing.arms))
        return rounds[-1] > 0

    given: dict[str, Any] = {"journal": journal, "progress": False, "confidence": 0.99}
    given |= {"paired": False}  # or the noise would be the same for all
    close = [{"x": x} for x in (0.0, 0.0, 2.0, 2.05)]
    paceline.race(noisy, close, callbacks=[stop], **given)
    assert 0 < rounds[-1] < 3
    result = paceline.race(noisy, close, **given)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    fell = [arm for line in lines if line["kind"] == "field" for arm in line.get("out", ())]
    assert sorted(fell) == sorted(arm.index for arm in result.arms if arm.status == "out")
    assert not any(line.get("back") for line in lines if line["kind"] == "field")
    falls = result.story.milestones.falls
    assert sorted(falls) == sorted(fell)
    assert falls[0] <= falls[2] <= result.elapsed


def test_a_race_that_has_not_ended_says_who_leads(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    paceline.race(noisy, ARMS, journal=journal, progress=False, confidence=0.95)
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"ending"' not in line))
    opened = paceline.open(journal)
    assert not opened.story.outcome.ended
    assert opened.verdict.startswith("not finished; ")
    assert opened.best == ARMS[5]


@pytest.mark.parametrize("engine", ["executor", "simulated"])
def test_a_race_on_an_engine_that_has_no_name_is_opened(tmp_path: Path, engine: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        given: Any = pool if engine == "executor" else VirtualEngine()
        options: dict[str, Any] = {"journal": tmp_path / "j", "progress": False, "cores": 2}
        result = paceline.race(noisy, ARMS, engine=given, max_pulls=20, **options)
    opened = paceline.open(tmp_path / "j")
    assert opened.to_json() == result.to_json()
    assert opened.story.recipe.options["engine"] == engine


def test_a_round_that_a_late_value_completed_is_not_counted(tmp_path: Path) -> None:
    journal, engine = tmp_path / "j", VirtualEngine()
    options: dict[str, Any] = {"journal": journal, "progress": False, "cores": 4, "deadline": 30}
    result = paceline.race(noisy, ARMS, engine=engine, **options)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    last = max(place for place, one in enumerate(records) if one["kind"] == "round")
    late = [
        {name: value for name, value in one.items() if name != "sum"}
        for place, one in enumerate(records)
        if place != last
    ]
    write(journal, late, sealed=True)  # as if the deadline came before the policy heard of it
    assert paceline.open(journal).rounds == result.rounds - 1
