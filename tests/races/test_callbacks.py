"""Callbacks: after every round, for every result, at the end."""

import random
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import InvalidInput, Result, Standing
from paceline.journal import read_records
from paceline.journal.records import PullsReturned
from paceline.story.values import PullRecord
from tests.races.virtual import VirtualEngine


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 1)


def run(*callbacks: Any, arms: Any = (0.0, 0.5, 2.0), **options: Any) -> Result:
    given: dict[str, Any] = {"engine": VirtualEngine(), "progress": False} | options
    return paceline.race(noisy, arms, callbacks=callbacks, **given)


class Everything:
    """Notes whatever it is told."""

    def __init__(self) -> None:
        self.rounds: list[Standing] = []
        self.pulls: list[PullRecord] = []
        self.standings: list[Standing] = []
        self.ends: list[Result] = []

    def on_round(self, standing: Standing) -> None:
        self.rounds.append(standing)

    def on_result(self, pull: PullRecord, standing: Standing) -> None:
        self.pulls.append(pull)
        self.standings.append(standing)

    def on_end(self, result: Result) -> None:
        self.ends.append(result)


def known(pull: PullRecord) -> tuple[Any, ...]:
    at = round(pull.at, 6)
    return (pull.arm, pull.number, pull.seed, pull.value, pull.seconds, pull.cores, at)


def test_an_object_hears_of_rounds_results_and_the_end() -> None:
    heard, rounds = Everything(), list[Standing]()
    result = run(heard, rounds.append)
    assert heard.rounds == rounds
    assert len(rounds) >= result.rounds
    assert sorted(map(known, heard.pulls)) == sorted(map(known, result.values))
    assert heard.ends == [result]
    # A result is counted before anybody hears of it.
    counts = [standing.pulls for standing in heard.standings]
    assert 1 <= counts[0] <= counts[-1] == result.pulls
    assert counts == sorted(counts)


def test_an_object_needs_only_what_it_wants() -> None:
    class OnlyValues:
        def __init__(self) -> None:
            self.values: list[float] = []

        def on_result(self, pull: PullRecord) -> None:
            self.values.append(pull.value)

    heard = OnlyValues()
    assert sorted(heard.values) == []
    result = run(heard)
    assert sorted(heard.values) == sorted(one.value for one in result.values)


@pytest.mark.parametrize("goal", [{}, {"deadline": 1000}, {"deadline": 1000, "confidence": 0.95}])
def test_true_for_a_result_stops_the_race_at_once(goal: dict[str, Any]) -> None:
    class Enough(Everything):
        def on_result(self, pull: PullRecord, standing: Standing) -> bool:  # type: ignore[override]
            super().on_result(pull, standing)
            return len(self.pulls) >= 30

    heard = Enough()
    result = run(heard, arms=[0.0, 0.001], **goal)
    assert 30 <= len(result.values) < 60
    assert len(heard.pulls) == len(result.values)
    assert "a callback stopped it" in result.verdict
    assert heard.ends == [result]
    assert result.index in (0, 1)


def test_true_before_all_arms_have_a_value() -> None:
    class First:
        def on_result(self, pull: PullRecord) -> bool:
            return True

    result = run(First(), arms=range(20), engine=VirtualEngine(2))
    assert 1 <= len(result.values) < 20
    assert not result.decided
    assert "a callback stopped it" in result.verdict


def test_a_race_that_a_result_stopped_goes_on_from_its_journal(tmp_path: Path) -> None:
    class Once:
        def on_result(self, pull: PullRecord) -> bool:
            return pull.number >= 3

    path = tmp_path / "race.jsonl"
    stopped = run(Once(), journal=path)
    heard = Everything()
    result = run(heard, journal=path)
    assert result.decided
    assert (
        len(heard.pulls) == len(result.values) - len(stopped.values) > 0
    )  # no result is told twice
    whole = run()
    assert result.best == whole.best


def test_an_error_for_a_result_ends_the_race_and_loses_nothing(tmp_path: Path) -> None:
    class Broken:
        def __init__(self) -> None:
            self.told = 0

        def on_result(self, pull: PullRecord) -> None:
            self.told += 1
            if pull.number == 2:
                raise ZeroDivisionError("of the user")

    path, broken = tmp_path / "race.jsonl", Broken()
    with pytest.raises(ZeroDivisionError, match="of the user") as found:
        run(broken, journal=path)
    (note,) = found.value.__notes__
    pulls = sum(len(one.values) for one in read_records(path) if isinstance(one, PullsReturned))
    assert pulls >= broken.told
    assert note.startswith("The race was ended by this error after ")
    assert f"{pulls} pulls are recorded in {path}" in note
    assert run(journal=path).decided


def test_an_error_of_a_round_says_what_is_kept() -> None:
    def broken(standing: Standing) -> None:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError) as found:
        run(broken)
    assert "Without a journal it cannot be resumed" in found.value.__notes__[0]


def test_the_end_is_told_of_a_race_that_is_interrupted_or_had_ended(tmp_path: Path) -> None:
    def stop(standing: Standing) -> None:
        raise KeyboardInterrupt

    heard, path = Everything(), tmp_path / "race.jsonl"
    with pytest.raises(paceline.Interrupted) as found:
        run(heard, stop, journal=path)
    assert heard.ends == [found.value.result]
    result = run(journal=path)
    again = Everything()
    assert run(again, journal=path).verdict == result.verdict
    assert (len(again.ends), again.pulls, again.rounds) == (1, [], [])


def test_an_interrupt_in_a_result_is_one_interrupt() -> None:
    class Stop:
        def on_result(self, pull: PullRecord) -> None:
            raise KeyboardInterrupt

    with pytest.raises(paceline.Interrupted) as found:
        run(Stop())
    assert found.value.result.pulls >= 1


def test_ask_and_tell() -> None:
    heard = Everything()
    with paceline.Race([0.0, 5.0], callbacks=[heard], max_pulls=8) as race:
        while not race.done:
            for pull in race.ask():
                race.tell(pull, noisy(pull.arm, seed=pull.seed))
        assert len(heard.pulls) == len(race.result.values)
        assert heard.ends == [race.result]


def test_real_processes_tell_of_every_result() -> None:
    heard = Everything()
    result = paceline.race(noisy, [0.0, 9.0], callbacks=[heard], cores=2, progress=False)
    assert sorted(map(known, heard.pulls)) == sorted(map(known, result.values))


def test_what_has_nothing_to_call_is_refused() -> None:
    for bad in ([object()], [print, 3], print, Everything()):
        with pytest.raises(InvalidInput, match="on_result or on_end"):
            paceline.races.prepare(noisy, [1, 2], callbacks=bad)
    with pytest.raises(InvalidInput, match=r"Everything is a class: write callbacks=\[Everything"):
        paceline.races.prepare(noisy, [1, 2], callbacks=[Everything])


def test_the_note_at_an_error_shows_hostile_labels() -> None:
    def broken(standing: Standing) -> None:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError) as found:
        run(broken, arms={"a\x1b[2J": 0.0, "b\u202e": 0.1})
    assert found.value.__notes__[0].isprintable()
