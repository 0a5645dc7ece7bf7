from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from paceline import Result, Standing
from tests.cli.made_up import ARMS, result, standing


@pytest.mark.parametrize("snapshot", [ARMS[0], standing(ARMS), result()])
def test_what_screens_and_callbacks_are_given_cannot_be_changed(snapshot: Any) -> None:
    for field in fields(snapshot):
        assert not isinstance(getattr(snapshot, field.name), list | set)
        with pytest.raises(FrozenInstanceError):
            setattr(snapshot, field.name, None)


def test_a_result_answers_for_its_last_standing() -> None:
    ended = result(rounds=5, warnings=("the values never vary",))
    for name in ("arms", "elapsed", "pulls", "rounds", "cores", "minimize", "warnings"):
        assert getattr(ended, name) == getattr(ended.standing, name)
    assert ended.ranked() == ended.standing.ranked()
    assert (ended.rounds, ended.warnings) == (5, ("the values never vary",))
    assert not {field.name for field in fields(Result)} & {field.name for field in fields(Standing)}


def test_the_keys_of_the_json_are_a_promise() -> None:
    assert list(result().to_json()) == [
        "best",
        "index",
        "decided",
        "verdict",
        "confidence",
        "chosen",
        "still_in",
        "arms",
        "elapsed",
        "core_seconds",
        "core_time",
        "pulls",
        "rounds",
        "assumed",
        "failures",
        "warnings",
        "notes",
        "journal",
    ]
