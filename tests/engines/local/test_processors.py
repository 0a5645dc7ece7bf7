"""Processors: those of another race are left alone if there are enough."""

import os
import socket
import uuid
from pathlib import Path

import pytest

from paceline.engines.local import processors as module
from paceline.engines.local.processors import Processors


@pytest.fixture(autouse=True)
def claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_NAME", f"\0{uuid.uuid4().hex}-{{}}")  # no other race is seen


def test_two_races_have_different_ones_and_share_only_what_they_must() -> None:
    first = Processors(range(4), 2)
    second = Processors(range(4), 2)
    third = Processors(range(4), 3)
    assert first.take(2) == [0, 1]
    assert second.take(2) == [2, 3]
    assert third.take(3) == [0, 1, 2]
    first.close()
    fourth = Processors(range(4), 2)
    assert fourth.take(2) == [0, 1]
    for processors in (second, third, fourth):
        processors.close()


def test_a_worker_keeps_its_own_if_they_are_free() -> None:
    processors = Processors(range(4), 4)
    assert processors.take(2, before=[2, 3]) == [2, 3]
    assert processors.take(2, before=[3, 0]) == [0, 1]
    processors.release([0, 1])
    assert processors.are_free([1])
    assert not processors.are_free([1, 2])
    assert processors.take(1, before=[1]) == [1]
    processors.close()


def test_nothing_is_pinned_if_there_are_too_few_or_claims_are_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Processors(range(4), 5).take(1) == []
    assert Processors(range(4), 5).are_free([0])
    monkeypatch.setattr(module, "_NAME", "/nowhere/at/all/{}")
    assert Processors(range(4), 3).take(3) == [0, 1, 2]


def test_somebody_else_who_has_all_names_changes_nothing() -> None:
    squatters = []
    for processor in range(4):
        squatter = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        squatter.bind(module._NAME.format(processor))
        squatters.append(squatter)
    processors = Processors(range(4), 3)
    assert processors.take(3) == [0, 1, 2]
    processors.close()
    for squatter in squatters:
        squatter.close()


def test_claims_need_no_file_with_a_name_that_others_could_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, a link or a folder of somebody else, made before, would be opened."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for key in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(key, str(tmp_path))
    (tmp_path / f"paceline-{os.getuid()}").mkdir()
    os.mkfifo(tmp_path / f"paceline-{os.getuid()}" / "processor-0")
    before = sorted(tmp_path.rglob("*"))
    processors = Processors(range(2), 1)
    assert processors.take(1) == [0]
    processors.close()
    assert sorted(tmp_path.rglob("*")) == before
