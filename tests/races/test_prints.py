"""What pulls print is kept: in the result, in the journal, and with what went wrong."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import RaceFailed
from paceline.journal import read_records
from paceline.journal.meaning import Meaning, Unsound
from paceline.journal.records import PullFailed, PullsPrinted, RaceBegun, Record, record_of
from paceline.pools import prints
from paceline.pools.prints import Prints
from paceline.story.printouts import Printout

OPTIONS: dict[str, Any] = {"cores": 2, "progress": False, "noise": "bounded", "bounds": (0.0, 9.0)}


def chatty(arm: int, *, seed: int) -> float:
    print(f"arm {arm} with seed {seed}")
    return arm + seed % 2


def of_kind(path: Path, kind: type[Record]) -> list[Record]:
    return [record for record in read_records(path) if isinstance(record, kind)]


def test_what_pulls_print_is_in_the_result_and_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    result = paceline.race(chatty, [1, 5], max_pulls=20, journal=path, **OPTIONS)
    seeds = {(one.arm, one.number): one.seed for one in result.values}
    assert len(result.printed) == result.pulls
    for arm, label in ((0, 1), (1, 5)):
        mine = result.printed.of(arm)
        assert mine
        for one in mine:
            said = f"arm {label} with seed {seeds[arm, one.number]}\n"
            assert one == Printout(arm, one.number, said)
    assert paceline.open(path).printed.all == result.printed.all
    again = paceline.race(chatty, [1, 5], max_pulls=20, journal=path, **OPTIONS)
    assert again.printed.all == result.printed.all  # as recorded: nothing was run


def test_nobody_acts_on_what_is_printed(tmp_path: Path) -> None:
    """The same race, whether its pulls print or not; and nothing of silent pulls is recorded."""

    def silent(arm: int, *, seed: int) -> float:
        return arm + seed % 2

    options = {**OPTIONS, "cores": 1, "confidence": 0.9}
    loud = paceline.race(chatty, [1, 4], journal=tmp_path / "loud.jsonl", **options)
    quiet = paceline.race(silent, [1, 4], journal=tmp_path / "quiet.jsonl", **options)
    assert loud.index == quiet.index
    assert not quiet.printed
    assert not of_kind(tmp_path / "quiet.jsonl", PullsPrinted)


def test_results_come_first_and_what_was_printed_after_them(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    paceline.race(chatty, [1, 5], max_pulls=10, journal=path, **OPTIONS)
    valued: set[tuple[int, int]] = set()
    for record in read_records(path):
        if record.kind == "results":
            for arm, first, pulls in record.pulls:  # type: ignore[attr-defined]
                valued |= {(arm, first + k) for k in range(pulls)}
        elif isinstance(record, PullsPrinted):
            assert {(arm, number) for arm, number, _ in record.pulls} <= valued


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    def fails(arm: int, *, seed: int) -> float:
        print("password: hunter2")
        if arm == 5:
            raise ValueError("no")
        return arm + seed % 2

    path = tmp_path / "race.jsonl"
    result = paceline.race(
        fails, [1, 2, 5], max_pulls=12, journal=path, keep_prints=False, **OPTIONS
    )
    assert not result.printed
    assert result.story.troubles
    assert "hunter2" not in path.read_text()
    assert all("ValueError: no" in one.detail for one in result.story.troubles)


def test_a_pull_that_fails_tells_what_it_had_printed() -> None:
    def fails(arm: int) -> float:
        print("connecting")
        if arm == 5:
            raise ValueError("no such host")
        return float(arm)

    result = paceline.race(fails, [1, 2, 5], max_pulls=12, **OPTIONS)
    assert len(result.story.troubles) >= 3
    for trouble in result.story.troubles:
        assert trouble.printed == "connecting\n"
        assert "ValueError: no such host" in trouble.detail
        assert trouble.detail.endswith("\nIt printed:\nconnecting")
        assert Printout(2, trouble.pull, "connecting\n", trouble.attempt) in result.printed.of(2)


def test_a_pull_that_takes_too_long_tells_what_it_had_printed() -> None:
    def hangs(arm: int) -> float:
        print("waiting for arm", arm)
        time.sleep(600.0 if arm == 5 else 0.0)
        return float(arm)

    result = paceline.race(hangs, [1, 2, 5], max_pulls=12, timeout=1.0, retries=0, **OPTIONS)
    (trouble,) = result.story.troubles
    assert (trouble.kind, trouble.detail) == ("timeout", "waiting for arm 5")


def test_a_race_that_stops_shows_what_the_pull_had_printed() -> None:
    def fails(arm: int) -> float:
        print("see \x1b[2J this")
        if arm == 5:
            os._exit(3)
        return float(arm)

    with pytest.raises(RaceFailed) as caught:
        paceline.race(fails, [1, 5], max_pulls=12, retries=0, on_failure="stop", **OPTIONS)
    assert "ended with status 3\nsee \\x1b[2J this" in str(caught.value)


def test_a_value_that_was_ruled_out_takes_what_was_printed_along() -> None:
    def wild(arm: int) -> float:
        print("arm", arm)
        return 100.0 if arm == 5 else float(arm)

    result = paceline.race(wild, [1, 2, 5], max_pulls=12, **OPTIONS)
    assert {one.printed for one in result.story.troubles} == {"arm 5\n"}
    assert all(one.attempt for one in result.printed.of(2))


def test_much_is_cut_arm_by_arm_and_the_journal_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prints, "OF_ARM", 2_000)
    monkeypatch.setattr(prints, "OF_RACE", 3_000)

    def prints_much(arm: int, *, seed: int) -> float:
        print("x" * 500)
        return arm + seed % 2

    path = tmp_path / "race.jsonl"
    result = paceline.race(prints_much, [1, 5], max_pulls=200, journal=path, **OPTIONS)
    assert result.pulls > 10  # and 6 texts are within the limit
    assert sum(len(one.text) for one in result.printed) <= 3_000
    assert all(len(result.printed.of(arm)) <= 3 for arm in (0, 1))
    assert result.printed.cut == {0, 1}
    assert len(of_kind(path, PullsPrinted)) <= 8
    assert paceline.open(path).printed.cut == {0, 1}


def test_what_failed_pulls_print_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "OF_RACE", 15)
    books = Prints()
    assert books.of_failure("0123456789") == "0123456789"
    books.take(PullFailed(1.0, 0, 0, 1, "exception", "no", "", "0123456789"))
    assert books.of_failure("0123456789") == ""


def test_records_of_older_journals_read_the_same() -> None:
    plain = {"kind": "failure", "at": 1.0, "arm": 0, "pull": 2, "attempt": 1, "what": "died",
             "message": "ended", "detail": "on stderr"}  # fmt: skip
    record = record_of(plain)
    assert isinstance(record, PullFailed)
    assert (record.detail, record.printed) == ("on stderr", "")
    assert record.to_json() == plain


@pytest.mark.parametrize(
    ("pulls", "cut", "wrong"),
    [
        (((2, 0, "x"),), (), "names arm 2"),
        (((0, -1, "x"),), (), "whole number"),
        (((0, 0, 7),), (), "no text"),
        ((), (5,), "names arm 5"),
    ],
)
def test_what_cannot_have_been_printed_is_refused(pulls: Any, cut: Any, wrong: str) -> None:
    meaning = Meaning()
    meaning.take(RaceBegun(2, problem={}, options={}, labels=("a", "b")))
    meaning.take(PullsPrinted(1.0, ((1, 3, "x"),), (0,)))
    with pytest.raises(Unsound, match=wrong):
        meaning.take(PullsPrinted(1.0, pulls, cut))
