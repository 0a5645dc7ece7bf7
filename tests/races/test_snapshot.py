"""What a race says of itself when it is over."""

import math
import random

import pytest

from paceline import RaceWarning, Result, race
from tests.races.virtual import VirtualEngine


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


def to_both_goals(arms: list[float], confidence: float, deadline: float, top: int = 1) -> Result:
    return race(
        noisy,
        arms,
        confidence=confidence,
        deadline=deadline,
        top=top,
        paired=False,
        cores=4,
        engine=VirtualEngine(),
        progress=False,
    )


def test_the_deadline_ends_a_race_with_the_best_and_the_confidence_reached() -> None:
    result = to_both_goals([1.0, 0.7, -5.0], confidence=0.999, deadline=14)
    assert result.decided
    assert (result.best, result.still_in) == (1.0, ())
    assert result.confidence is not None
    assert 0.5 <= result.confidence < 0.999
    assert result.verdict == (
        '"1.0" has the highest mean so far: no more pulls fit before the deadline. It would have '
        f"been decided had a confidence of {result.confidence:g} been asked for instead of 0.999"
    )


def test_so_it_does_for_the_best_few() -> None:
    result = to_both_goals([1.0, 0.9, 0.4, -5.0], confidence=0.9999, deadline=24, top=2)
    assert sorted(result.chosen) == [0, 1]
    assert result.confidence is not None
    said = "have the 2 highest means so far: no more pulls fit before the deadline. It would"
    assert said in result.verdict


def test_a_deadline_that_comes_too_early_to_know_anything_guarantees_nothing() -> None:
    result = to_both_goals([1.0, 1.0, -5.0], confidence=0.95, deadline=3)
    assert result.decided
    assert result.confidence is None
    assert result.index in (0, 1)
    said = "so far (no more pulls fit before the deadline); nothing is guaranteed"
    assert result.verdict.endswith(said)


def test_the_first_pulls_of_all_are_no_round_of_the_policy() -> None:
    seen: list[int] = []
    result = race(
        noisy,
        [1.0, 0.7, 0.2, -5.0],
        deadline=30,
        cores=4,
        engine=VirtualEngine(),
        callbacks=[lambda standing: seen.append(standing.rounds)],
        progress=False,
    )
    assert seen == sorted(seen)  # numbers do not start over
    assert result.rounds == seen[-1]


def test_a_mean_is_finite_although_the_sum_of_its_values_is_not() -> None:
    def huge(arm: float, *, seed: int) -> float:
        return arm * (1.5e308 + 1e307 * random.Random(seed).random())

    with pytest.warns(RaceWarning, match="too large"):
        result = race(
            huge, [1.0, -1.0], max_pulls=60, cores=4, engine=VirtualEngine(), progress=False
        )
    for record in result.arms:
        mine = result.values.value[result.values.arm == record.index]
        assert mine.min() <= record.mean <= mine.max()
        assert (record.low, record.high) == (-math.inf, math.inf)
    assert result.index == 0
