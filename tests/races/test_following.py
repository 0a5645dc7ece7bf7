"""A journal that grows while it is read: each look costs what is new, and says the same."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import InvalidInput
from paceline.journal.meaning import Meaning
from paceline.journal.records import Record
from paceline.pools.ledger import Ledger
from paceline.races import Follower, JournalView, read_journal
from tests.races.test_damage import SORTS, make


def told(view: JournalView) -> str:
    """All but the warnings: those of a race under way may be settled later."""
    standing = replace(view.standing, warnings=(), outlook="")
    return repr((standing, view.ending, view.chosen, view.core_seconds))


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("step", [1, 7])
def test_whoever_follows_sees_what_whoever_comes_anew_sees(
    name: str, step: int, tmp_path: Path
) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "race.jsonl"
    make(name, whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    follower = Follower(path)
    for end in [*range(1, len(lines), step), len(lines)]:
        path.write_bytes(b"".join(lines[:end]))
        assert told(follower.view()) == told(read_journal(path)), end


def test_a_look_costs_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "race.jsonl"
    make("format-1-function-deadline.jsonl", whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    taken: list[Record] = []
    begun: list[object] = []
    take, begin = Meaning.take, Ledger.begin

    def note(self: Meaning, record: Record) -> None:
        taken.append(record)
        take(self, record)

    def start(self: Ledger, racing: Any) -> None:
        begun.append(racing)
        begin(self, racing)

    monkeypatch.setattr(Meaning, "take", note)
    monkeypatch.setattr(Ledger, "begin", start)
    path.write_bytes(b"".join(lines[:50]))
    follower = Follower(path)
    follower.view()
    followed = 0
    for end in range(51, len(lines) - 2):
        taken.clear()
        begun.clear()
        path.write_bytes(b"".join(lines[:end]))
        follower.view()
        assert len(taken) == 1
        followed += not begun  # else the policy was started again
    assert followed > 30


def test_a_file_that_became_shorter_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    make("both", path)
    follower = Follower(path)
    follower.view()
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InvalidInput, match="cut off or replaced since it was read"):
        follower.view()
