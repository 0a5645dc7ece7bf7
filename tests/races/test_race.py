"""Races of Python functions on real processes."""

import math
import os
import random
import time
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import InvalidInput, RaceFailed, Standing, race
from paceline.engines.simulated import SimulatedEngine


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.05)


def flip(arm: float, *, seed: int) -> float:
    return float(random.Random(seed).random() < arm)


def test_the_best_is_found_with_the_confidence_asked_for() -> None:
    result = race(noisy, [0.0, 1.0, 0.5], confidence=0.9, progress=False)
    assert (result.best, result.index, result.confidence) == (1.0, 1, 0.9)
    assert result.decided
    assert result.verdict == '"1.0" has the highest mean, with probability at least 0.9'
    assert result.assumed == "normal values with unknown variances"
    best = result.arms[1]
    assert best.status == "best"
    assert best.low < 1.0 < best.high
    assert [record.index for record in result.ranked()] == [1, 2, 0]
    assert result.pulls == sum(record.pulls for record in result.arms)
    assert result.core_seconds > 0
    assert result.scaling is not None
    assert str(result) == result.verdict


def test_low_is_good_when_minimizing_and_values_keep_their_sign() -> None:
    result = race(noisy, [5.0, 4.0, 7.0], direction="minimize", confidence=0.9, progress=False)
    assert result.best == 4.0
    assert result.arms[1].mean == pytest.approx(4.0, abs=0.1)
    assert "lowest mean" in result.verdict


def test_the_top_few() -> None:
    result = race(noisy, [0.0, 1.0, 2.0, 3.0], top=2, confidence=0.9, progress=False)
    assert result.chosen == (3, 2)
    assert "have the 2 highest means" in result.verdict


def test_zeros_and_ones_are_recognised() -> None:
    result = race(flip, [0.98, 0.02], confidence=0.9, progress=False)
    assert result.best == 0.98
    assert result.assumed == "values 0 and 1"
    assert 0 <= result.arms[0].low <= result.arms[0].high <= 1


def test_values_that_only_looked_like_zeros_and_ones_change_the_assumption() -> None:
    def late(arm: float, *, seed: int) -> float:
        rng = random.Random(seed)
        value = float(rng.random() < 0.5)
        return value if rng.random() < 0.7 else arm + rng.gauss(0, 0.01)

    seeds = [s for s in range(50) if _first_are_binary(late, s)]
    result = race(late, [0.0, 20.0], seed=seeds[0], confidence=0.9, progress=False)
    assert result.best == 20.0
    assert result.assumed == "normal values with unknown variances"


def _first_are_binary(function: Any, race_seed: int) -> bool:
    from paceline.core.seeds import pull_seed

    pulls = [(arm, k) for arm in (0, 1) for k in range(2)]
    values = [function([0.0, 20.0][a], seed=pull_seed(race_seed, a, k)) for a, k in pulls]
    return all(value in (0.0, 1.0) for value in values)


def test_a_deadline_is_kept_and_gives_the_best_so_far() -> None:
    began = time.monotonic()
    result = race(noisy, [0.0, 1.0, 0.5, 0.2], deadline="4s", progress=False)
    assert time.monotonic() - began < 4 + 1.0
    assert result.best == 1.0
    assert result.confidence is None
    assert "nothing is guaranteed" in result.verdict


def test_a_hung_pull_does_not_hold_up_the_deadline() -> None:
    def hang(arm: int, *, seed: int) -> float:
        if arm == 1:
            time.sleep(1000)
        return float(arm)

    began = time.monotonic()
    result = race(hang, [0, 1, 2], deadline=1.0, progress=False)
    assert time.monotonic() - began < 1.0 + 1.0
    assert result.elapsed == pytest.approx(1.0, abs=1.0)
    assert "deadline of 1 s" in result.verdict
    assert result.index in (0, 2)


def test_a_deadline_beside_a_confidence_ends_with_the_best_so_far() -> None:
    result = race(noisy, [1.0, 1.0, -5.0], confidence=0.95, deadline=4, progress=False)
    assert result.decided
    assert result.still_in == ()
    assert result.confidence is None or result.confidence < 0.95
    assert "so far" in result.verdict
    assert "deadline" in result.verdict
    assert result.index in (0, 1)


def test_ties_end_by_tolerance_or_by_a_cap() -> None:
    tied = [1.0, 1.0]
    close = race(noisy, tied, confidence=0.9, tolerance=0.5, progress=False)
    assert close.decided
    assert "within 0.5 of it" in close.verdict
    capped = race(noisy, tied, confidence=0.9, max_pulls=60, progress=False)
    assert not capped.decided
    assert capped.pulls <= 60
    assert "60" in capped.verdict


def test_a_moment_in_time_is_a_deadline_too() -> None:
    moment = datetime.now() + timedelta(seconds=4)
    engine = SimulatedEngine(cores=2, seconds=lambda _: 0.01)
    result = race(noisy, [0.0, 1.0], deadline=moment, engine=engine, progress=False)
    assert result.best == 1.0
    assert 0 < result.elapsed <= 4.0  # of what was left when its first pull began
    assert result.standing.deadline == pytest.approx(result.elapsed, abs=0.5)
    with pytest.raises(InvalidInput, match="has passed"):
        race(noisy, [0.0, 1.0], deadline=datetime.now() - timedelta(hours=1))


def test_seed_and_cores_are_passed_if_they_are_taken() -> None:
    def plain(arm: float) -> float:
        return arm

    def with_cores(arm: float, cores: int) -> float:
        return arm + (0 if cores in (1, 2) else math.nan)

    for function in (plain, with_cores):
        result = race(function, [0.0, 1.0], max_pulls=20, cores=2, progress=False)
        assert result.best == 1.0


def test_paired_pulls_share_their_seeds(tmp_path: Path) -> None:
    def seed_of(arm: int, *, seed: int) -> float:
        return float(seed % 1000) + arm

    journal = tmp_path / "race.jsonl"
    race(seed_of, [0, 0], paired=True, max_pulls=40, journal=journal, progress=False)
    values: dict[tuple[int, int], float] = {}
    from paceline.journal import read_records
    from paceline.journal.records import PullsReturned
    from tests.races.virtual import pulls_of

    for record in read_records(journal):
        if isinstance(record, PullsReturned):
            values |= dict(zip(pulls_of(record.pulls), record.values, strict=True))
    shared = [(values[0, k], values[1, k]) for k in range(5)]
    assert all(a == b for a, b in shared)
    assert len({a for a, _ in shared}) > 1


def test_callbacks_see_every_round() -> None:
    seen: list[Standing] = []
    result = race(noisy, [0.0, 1.0], confidence=0.9, callbacks=[seen.append], progress=False)
    assert len(seen) >= result.rounds
    assert seen[-1].arms[1].pulls > 0
    assert seen[-1].cores == paceline.races.prepare(noisy, [0, 1]).settings.rules.cores
    assert all(a.elapsed <= b.elapsed for a, b in pairwise(seen))


def test_a_callback_that_raises_ends_the_race_and_leaves_nothing_behind() -> None:
    def stop(standing: Standing) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        race(noisy, [0.0, 1.0], confidence=0.9, callbacks=[stop], progress=False)


def test_a_failing_arm_is_out_and_the_result_says_so() -> None:
    def fails(arm: int, *, seed: int) -> float:
        if arm == 2:
            raise ValueError("no such setting")
        return arm + random.Random(seed).gauss(0, 0.05)

    result = race(fails, [0, 1, 2], confidence=0.9, retries=1, progress=False)
    assert result.best == 1
    assert result.arms[2].status == "failed"
    assert "no such setting" in result.arms[2].failure
    assert 'Out because of failures: "2"' in result.verdict
    assert sum(text.startswith('pull 0 of arm "2" raised') for text in result.failures) == 2
    with pytest.raises(RaceFailed, match=r"(?s)on_failure='stop'.*ValueError: no such setting"):
        race(fails, [0, 1, 2], confidence=0.9, on_failure="stop", progress=False)


def test_if_all_fail_the_first_traceback_is_shown() -> None:
    def broken(arm: int) -> float:
        return [1.0][arm + 1]

    with pytest.raises(RaceFailed, match="all 2 arms failed") as caught:
        race(broken, [0, 1], progress=False)
    assert "return [1.0][arm + 1]" in str(caught.value)
    assert "IndexError" in str(caught.value)
    assert "engines" not in str(caught.value)  # our own lines


@pytest.mark.parametrize("value", [math.nan, math.inf, "high", None, [1.0, 2.0]])
def test_what_is_no_finite_number_is_a_failure(value: Any) -> None:
    def gives(arm: int) -> Any:
        return value if arm == 0 else 1.0

    result = race(gives, [0, 1, 2], max_pulls=20, progress=False)
    assert result.arms[0].status == "failed"
    assert "gave" in result.arms[0].failure


def test_values_outside_what_was_declared_are_failures() -> None:
    result = race(noisy, [0.5, 3.0, 0.2], bounds=(-1, 1), confidence=0.9, progress=False)
    assert [record.status for record in result.arms] == ["in", "failed", "out"]
    assert "declared" in result.arms[1].failure


def test_a_worker_that_dies_costs_only_its_own_pull(tmp_path: Path) -> None:
    def dies(arm: float, *, seed: int) -> float:
        if seed % 7 == 0 and not (tmp_path / str(seed)).exists():
            (tmp_path / str(seed)).touch()
            os.kill(os.getpid(), 9)
        return arm + random.Random(seed).gauss(0, 0.05)

    result = race(dies, [0.0, 1.0], confidence=0.9, progress=False)
    assert result.best == 1.0
    assert all("signal 9" in text for text in result.failures)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"arms": []}, "no arms"),
    ({"arms": [1]}, "only one arm"),
    ({"arms": 5}, "list of candidates"),
    ({"evaluate": 5}, "must be a function"),
    ({"direction": "up"}, "unknown direction 'up'"),
    ({"noise": "gauss"}, "unknown noise"),
    ({"noise": "bounded"}, "go together"),
    ({"noise": "subgaussian"}, "needs sigma"),
    ({"bounds": (1, 0)}, "lowest, highest"),
    ({"confidence": 1.5}, "strictly between 0 and 1"),
    ({"deadline": "soon"}, "span of time"),
    ({"deadline": -1}, "deadline"),
    ({"cores": 0}, "cores"),
    ({"cores": 2, "cores_per_pull": 3}, "wants 3 cores"),
    ({"cores_per_pull": (2, 1)}, "swap"),
    ({"engine": "mars"}, "unknown engine"),
    ({"engine": "rai"}, "unknown engine 'rai'.*Known: local, ray"),
    ({"policy": "arp"}, "did you mean 'apr'"),
    ({"policy": "ssh"}, "give a deadline"),
    ({"scaling": 0.5}, "must be a Scaling"),
    ({"retries": -1}, "retries"),
    ({"timeout": 0}, "timeout"),
    ({"on_failure": "ignore"}, "on_failure"),
    ({"max_pulls": 1}, "less than one pull"),
    ({"callbacks": print}, "a list of functions"),
    ({"callbacks": 1}, "a list of functions"),
    ({"callbacks": [print, 1]}, "a list of functions"),
    ({"top": 2}, "top=2"),
    ({"seed": -1}, "seed"),
    ({"paired": True, "evaluate": abs}, "takes none"),
    ({"callbacks": [3]}, "callbacks"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused_before_anything_runs(change: dict[str, Any], message: str) -> None:
    def never(arm: int, *, seed: int) -> float:
        raise AssertionError("ran")

    options: dict[str, Any] = {"evaluate": never, "arms": [1, 2], "progress": False} | change
    with pytest.raises(InvalidInput, match=message):
        race(options.pop("evaluate"), options.pop("arms"), **options)


def test_a_given_scaling_too_slow_for_the_deadline_is_refused() -> None:
    slow = paceline.CorePool(2, lambda cores: 100.0)
    with pytest.raises(InvalidInput, match="raise it to 100 s at least"):
        race(noisy, [0.0, 1.0], cores=2, deadline=10, scaling=slow)
    with pytest.raises(InvalidInput, match="the pool has 3"):
        race(noisy, [0.0, 1.0], cores=3, deadline=10, scaling=slow)


def test_what_cannot_be_sent_to_a_worker_is_refused() -> None:
    import threading

    lock = threading.Lock()

    def locked(arm: int) -> float:
        with lock:
            return 1.0

    with pytest.raises(InvalidInput, match="cannot be sent to a worker"):
        race(locked, [1, 2])


def test_another_race_s_journal_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    race(noisy, [0.0, 1.0], confidence=0.9, journal=journal, progress=False)
    before = journal.read_bytes()
    for change, message in (
        ({"seed": 1}, "that one has seed=0, this one has seed=1"),
        ({"confidence": 0.85}, "that one has confidence=0.9"),
        ({"direction": "minimize"}, "direction"),
    ):
        options: dict[str, Any] = {"confidence": 0.9} | change
        with pytest.raises(InvalidInput, match=message):
            race(noisy, [0.0, 1.0], journal=journal, progress=False, **options)
    with pytest.raises(InvalidInput, match=r"""arm 1 was "1.0" there and is "2.0" here"""):
        race(noisy, [0.0, 2.0], confidence=0.9, journal=journal, progress=False)
    with pytest.raises(InvalidInput, match="that one has evaluate='function noisy'"):
        race(flip, [0.0, 1.0], confidence=0.9, journal=journal, progress=False)
    assert journal.read_bytes() == before
    again = race(noisy, [0.0, 1.0], confidence=0.9, journal=journal, progress=False)
    assert again.best == 1.0


def test_a_frame_needs_pandas_and_has_a_row_per_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    result = race(noisy, [0.0, 1.0], max_pulls=10, progress=False)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(paceline.MissingExtra, match="pip install pandas"):
            result.to_frame()
    assert sorted(result.to_frame()["label"]) == ["0.0", "1.0"]


def test_a_deadline_that_is_far_away_is_no_trouble_for_the_clock() -> None:
    """An operating system waits for less than a month at once."""
    every: list[dict[str, Any]] = [{"deadline": "200d"}, {"timeout": "200d"}]
    for far in (*every, {"deadline": datetime(2099, 1, 1)}):
        result = race(noisy, [0.0, 5.0], confidence=0.9, progress=False, cores=1, **far)
        assert result.best == 5.0
