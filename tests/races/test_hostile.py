"""Races with one hostile arm: they end, in time, and only that arm has failed."""

import time
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, race
from paceline.journal import read_records
from tests.races.hostile import COMMANDS, FUNCTIONS, Hostile, Pull, shell_command


def check(expected: Hostile, evaluate: Any, arms: list[Any], journal: Path) -> None:
    began = time.monotonic()
    result = race(
        evaluate,
        arms,
        deadline=20,
        confidence=0.95,
        timeout=1.0,
        retries=1,
        cores=1,
        journal=journal,
        progress=False,
    )
    assert time.monotonic() - began < 25
    assert result.best == arms[-1]
    failing = {index for index, arm in enumerate(result.arms) if arm.status == "failed"}
    assert failing == (set() if expected.works else {0})
    if expected.hangs:
        assert "took longer than 1 s" in "\n".join(result.failures)
    for text in result.failures:
        assert expected.says in text
    assert read_records(journal)  # it can be read again


@pytest.mark.parametrize(
    "name",
    [
        "exits_with_3",
        "gives_what_cannot_be_written",
        "raises_half_a_character",
        "sends_junk",
        "sends_nothing",
        "sends_a_pickle",
        "replaces_clocks",
        "leaves_a_thread_that_kills",
    ],
)
def test_a_function(name: str, tmp_path: Path) -> None:
    check(FUNCTIONS[name], Pull(name), [0.0, 1.5, 3.0], tmp_path / "race.jsonl")


@pytest.mark.parametrize("name", ["pipe", "zeros", "large file", "pattern"])
def test_a_command(name: str, tmp_path: Path) -> None:
    hostile = COMMANDS[name]
    command = Command.parse(shell_command(name), shell=True, cwd=str(tmp_path), value=hostile.value)
    arms = [{"x": 0}, {"x": 2}, {"x": 9}]
    check(hostile, command, arms, tmp_path / "race.jsonl")
