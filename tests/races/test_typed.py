"""What type checkers know of the best arm; mypy reads these tests, and they run as well."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import paceline
from tests.races.virtual import VirtualEngine

GIVEN: dict[str, Any] = {"max_pulls": 6, "cores": 2, "progress": False}


def five(arm: object) -> float:
    return 5.0


def test_the_best_arm_has_the_type_of_the_arms(tmp_path: Path) -> None:
    given: dict[str, Any] = GIVEN | {"engine": VirtualEngine()}
    numbers = paceline.race(five, [1, 2], **given)
    assert_type(numbers, paceline.Result[int])
    assert_type(numbers.best, int)
    named = paceline.race(five, {"small": 0.5, "large": 2.5}, **given)
    assert_type(named.best, float)
    settings = paceline.race(five, [{"x": 1}, {"x": 2}], **given)
    assert_type(settings.best, dict[str, int])
    keys = paceline.race(five, {"a": 1, "b": 2}.keys(), **given)
    assert_type(keys.best, str)
    rows = paceline.race(five, np.eye(2), **given)
    assert_type(rows.best, Any)
    journal = tmp_path / "race.jsonl"
    paceline.race(five, [1, 2], **given, journal=journal)
    assert_type(paceline.open(journal).best, Any)
    assert [type(one.best) for one in (numbers, named, settings)] == [int, float, dict]


def test_so_it_has_if_pulls_are_done_by_hand() -> None:
    race = paceline.Race(["a", "b"], max_pulls=2)
    for pull in race.ask():
        race.tell(pull, 1.0)
    with race:
        assert_type(race, paceline.Race[str])
    assert callable(race.tell)


def checked_only(race: paceline.Race[str]) -> None:
    assert_type(race.result.best, str)
    paceline.race(five, 7, **GIVEN)  # type: ignore[arg-type]
