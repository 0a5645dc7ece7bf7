"""Journals of the first format, as an earlier paceline wrote them: read, and gone on with."""

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, PowerLaw, Result, race, resume
from paceline.journal import read_records
from paceline.journal.records import PullsReturned, RaceBegun, RaceEnded
from paceline.races import read_journal
from tests.races.virtual import pulls_of

JOURNALS = Path(__file__).with_name("journals")
NAMES = sorted(path.name for path in JOURNALS.glob("format-1-*.jsonl"))


def evaluate(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 1)


ARMS = [{"x": 1}, {"x": 2}, {"x": 3}]
SUM = "expr 10 \\* {x} + {seed} % 7"


def again(name: str, path: Path) -> Result:
    """The same call as the one that wrote it."""
    options: dict[str, Any] = {"cores": 2, "journal": path, "progress": False}
    if name == "format-1-command-capped.jsonl":
        command = Command.parse(["/bin/sh", "-c", SUM])
        return race(command, ARMS, bounds=(0, 60), max_pulls=18, **options)
    if name == "format-1-command-failures.jsonl":
        command = Command.parse(["/bin/sh", "-c", f"test {{x}} -lt 3 && {SUM}"])
        return race(
            command, ARMS, retries=1, confidence=0.95, scaling=PowerLaw(0.5), timeout="30s",
            max_pulls=400, **options,
        )  # fmt: skip
    goal: dict[str, Any] = {"deadline": 1.5} if "deadline" in name else {"confidence": 0.95}
    return race(evaluate, [0.0, 0.5, 1.0], seed=3, **goal, **options)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_they_are_of_the_first_format() -> None:
    assert len(NAMES) == 4
    for name in NAMES:
        header = read_records(JOURNALS / name)[0]
        assert isinstance(header, RaceBegun)
        assert header.format == 1
        assert b'"sum"' not in (JOURNALS / name).read_bytes()


def test_what_was_found_is_read(name: str) -> None:
    view = read_journal(JOURNALS / name)
    records = read_records(JOURNALS / name)
    assert isinstance(records[-1], RaceEnded)
    assert view.ending == records[-1]
    recorded = Counter(
        arm
        for record in records
        if isinstance(record, PullsReturned)
        for arm, _ in pulls_of(record.pulls)
    )
    assert {arm.index: arm.pulls for arm in view.standing.arms if arm.pulls} == recorded
    best = [arm.index for arm in view.standing.arms if arm.status == "best"]
    assert best == (list(view.ending.arms) if view.ending.decided else [])
    assert view.standing.cores == 2


def test_the_same_call_reads_an_ended_race_again_and_runs_nothing(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    shutil.copy(JOURNALS / name, path)
    before, ended = path.read_bytes(), read_records(path)[-1]
    assert isinstance(ended, RaceEnded)
    result = again(name, path)
    assert (result.decided, result.index) == (ended.decided, ended.index)
    if ended.decided:
        assert path.read_bytes() == before
    assert path.read_bytes().startswith(before)


def test_cut_off_anywhere_it_goes_on(name: str, tmp_path: Path) -> None:
    lines = (JOURNALS / name).read_bytes().splitlines(keepends=True)
    whole = read_records(JOURNALS / name)
    ended = whole[-1]
    assert isinstance(ended, RaceEnded)
    for cut in sorted({1, 2, len(lines) // 3, 2 * len(lines) // 3, len(lines) - 1}):
        path = tmp_path / f"{cut}-{name}"
        path.write_bytes(b"".join(lines[:cut]) + lines[cut][:9])
        result = again(name, path)
        assert path.read_bytes().startswith(b"".join(lines[:cut]))
        records = read_records(path)
        assert records[:cut] == whole[:cut]
        recorded = Counter(
            pull
            for record in records
            if isinstance(record, PullsReturned)
            for pull in pulls_of(record.pulls)
        )
        assert set(recorded.values()) <= {1}
        if "deadline" not in name:  # else there may be next to no time left
            assert (result.decided, result.index) == (ended.decided, ended.index)


def test_a_cap_is_raised_from_the_journal_alone(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    shutil.copy(JOURNALS / "format-1-command-capped.jsonl", path)
    result = resume(path, max_pulls=300, cores=1, progress=False)
    assert (result.decided, result.best) == (True, {"x": 3})
    assert result.cores == 1
