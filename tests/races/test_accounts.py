"""What is told of a race is what its records say: at its end, later, and when it goes on."""

import io
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paceline import CorePool, Standing, race
from paceline.display.lines import PlainLines
from paceline.journal import read_records
from paceline.journal.records import TimeSpent
from paceline.races import read_journal
from tests.races.virtual import VirtualEngine


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


def uneven(rng: random.Random, cores: int) -> float:
    return rng.lognormvariate(0, 0.8) / cores


# The cores' time.


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("goal", [{"confidence": 0.95}, {"deadline": 20.0}])
def test_core_seconds_are_the_same_at_the_end_and_in_the_journal(
    tmp_path: Path, goal: dict[str, Any], seed: int
) -> None:
    """Also with pulls that failed, hung, were cancelled, or were not back when the race ended."""
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"cores": 8, "timeout": 9.0, "retries": 9, "progress": False, **goal}
    engine = VirtualEngine(8, uneven, faults=0.1, seed=seed)
    arms = [0.0, 0.2, 0.3, 0.5, 0.6]
    result = race(noisy, arms, engine=engine, journal=path, seed=seed, **options)
    spent = [record for record in read_records(path) if isinstance(record, TimeSpent)]
    assert {record.why for record in spent} >= {"failed"}
    assert result.core_seconds == read_journal(path).core_seconds
    spending = result.core_time
    assert spending.in_use == pytest.approx(result.core_seconds)
    assert spending.total == pytest.approx(8 * result.elapsed)
    shown = read_journal(path).timeline
    assert list(shown) == list(result.timeline)
    assert shown.core_time().to_json() == pytest.approx(spending.to_json(), abs=1e-4)
    again = race(noisy, arms, engine=VirtualEngine(8), journal=path, seed=seed, **options)
    if result.decided:
        assert again.core_seconds == result.core_seconds
    assert result.core_seconds <= 8 * result.elapsed * (1 + 1e-9)
    idle = 8 * result.elapsed - result.core_seconds
    assert idle < 0.6 * 8 * result.elapsed, "most of the time of the cores is accounted for"


class SlowToLoad:
    """A worker needs two seconds to load it."""

    def __call__(self, arm: float) -> float:
        return arm

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_slowly, ()


def _load_slowly() -> SlowToLoad:
    time.sleep(2.0)
    return SlowToLoad()


def test_workers_that_still_load_have_used_no_core_time() -> None:
    seen: list[Standing] = []

    class Screen:
        def update(self, standing: Standing) -> None:
            seen.append(standing)

        def close(self, result: Any) -> None:
            pass

    result = race(SlowToLoad(), [1.0, 2.0], deadline=1.2, cores=2, progress=Screen())
    assert (result.pulls, result.core_seconds) == (0, 0.0)
    assert result.core_time.starting > 0.7 * 2 * result.elapsed
    assert result.core_time.in_use == pytest.approx(0)
    assert len(seen) > 1
    assert {standing.busy_cores for standing in seen} == {0}


# Rounds of earlier sessions.


def test_rounds_that_were_told_of_are_not_told_of_again(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    arms = [0.0, 0.1, 0.25, 0.3]
    pool = CorePool(4, lambda cores: 1.0 / cores)
    options: dict[str, Any] = {"cores": 4, "journal": path, "scaling": pool}

    def run(**more: Any) -> tuple[Any, list[Standing], str]:
        told: list[Standing] = []
        stream = io.StringIO()
        given: dict[str, Any] = {"callbacks": [told.append], "progress": PlainLines(stream)}
        return (
            race(noisy, arms, engine=VirtualEngine(), **given, **options, **more),
            told,
            stream.getvalue(),
        )

    first, before, _ = run(max_pulls=200, paired=False)
    assert not first.decided
    assert len(before) == first.rounds > 2
    second, after, lines = run(paired=False)
    assert second.decided
    told = [standing.rounds for standing in before + after]
    assert told == list(range(1, len(told) + 1))
    assert len(told) in (second.rounds, second.rounds - 1)  # the last may end with the race
    printed = [int(line.split()[1].rstrip(",")) for line in lines.splitlines()
               if line.startswith("round")]  # fmt: skip
    assert printed == sorted(set(printed))
    assert printed[0] >= first.rounds, "where it stands is said, how it came there is not"
    still_in = sum(record.status == "in" for record in first.arms)
    note, line = lines.splitlines()[:2]
    assert note == "resumed with max_pulls=None, was 200"
    assert f"{still_in} of 4 arms in" in line


# Callbacks.


@pytest.mark.parametrize("yes", [True, np.True_])
def test_a_callback_that_returns_true_stops_the_race(tmp_path: Path, yes: Any) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"cores": 4, "journal": path, "progress": False}
    seen: list[int] = []

    def enough(standing: Standing) -> Any:
        seen.append(standing.rounds)
        return yes if standing.rounds == 2 else None

    arms = [0.0, 0.02, 0.04]
    stopped = race(noisy, arms, engine=VirtualEngine(), callbacks=[enough, print], **options)
    assert (stopped.decided, stopped.rounds, seen) == (False, 2, [1, 2])
    assert "a callback stopped it" in stopped.verdict
    assert read_journal(path).ending is not None
    on = race(noisy, arms, engine=VirtualEngine(), max_pulls=stopped.pulls + 60, **options)
    assert on.pulls > stopped.pulls


def test_what_a_callback_returns_else_does_not_matter() -> None:
    for other in (None, False, np.False_, 1, "yes", [True]):
        result = race(
            noisy, [0.0, 1.0], engine=VirtualEngine(), cores=4, progress=False,
            callbacks=[lambda standing, other=other: other],
        )  # fmt: skip
        assert result.decided


def test_what_callbacks_see_is_frozen() -> None:
    seen: list[Standing] = []
    race(
        noisy, [0.0, 0.5], engine=VirtualEngine(), cores=4, callbacks=[seen.append], progress=False
    )
    before = [standing.pulls for standing in seen]
    assert before == sorted(before)
    for name in ("pulls", "arms", "rounds"):
        with pytest.raises(AttributeError):
            setattr(seen[0], name, 0)
    assert isinstance(seen[0].arms, tuple)
