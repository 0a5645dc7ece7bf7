"""Ask and tell: the same race as `paceline.race`, in the user's own hands."""

import gc
import inspect
import json
import math
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import (
    APR,
    CorePool,
    InvalidInput,
    Pull,
    Race,
    RaceFailed,
    RaceWarning,
    Racing,
    race,
)
from paceline.cli import main
from paceline.core.seeds import pull_seed
from paceline.engines.simulated import SimulatedEngine
from paceline.races import read_journal
from paceline.races import resume as resume_race
from paceline.races.options import OPTIONS
from tests.races.virtual import watched

ARMS = [0.0, 0.4, 0.5, 1.0, 0.9]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    gc.collect()
    left = [one for one in threading.enumerate() if one.name == "paceline.Race"]
    for one in left:  # that of a race which has just ended may be in its last lines
        one.join(5.0)
    assert not any(one.is_alive() for one in left)


def score(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.1)


def scaling(cores: int) -> CorePool:
    return CorePool(cores, lambda c: 1.0 / c**0.5)


def tell_all(one: Race, rng: random.Random | None = None, most: int | None = None) -> list[Pull]:
    """Do a race to its end, its pulls in any order; return all pulls that were handed out."""
    pulls: list[Pull] = []
    waiting: list[Pull] = []
    rng = rng or random.Random(0)
    while not one.done:
        new = one.ask(most)
        pulls += new
        waiting += new
        rng.shuffle(waiting)
        for _ in range(rng.randint(1, len(waiting)) if waiting else 0):
            pull = waiting.pop()
            if one.is_wanted(pull):
                one.tell(pull, score(pull.arm, seed=pull.seed), seconds=pull.cores**-0.5)
    return pulls


def in_threads(one: Race, threads: int) -> None:
    """Do a race to its end, from several threads."""

    def hand() -> None:
        rng = random.Random(threading.get_ident())
        while not one.done:
            for pull in one.ask(most=1, wait=0.05):
                time.sleep(rng.uniform(0, 0.002))
                one.tell(pull, score(pull.arm, seed=pull.seed), seconds=pull.cores**-0.5)

    hands = [threading.Thread(target=hand) for _ in range(threads)]
    for thread in hands:
        thread.start()
    for thread in hands:
        thread.join(60.0)


def records(path: Path, kind: str) -> list[dict[str, Any]]:
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if line["kind"] == kind]


def recorded(path: Path) -> dict[tuple[int, int], float]:
    """All values, by arm and number."""
    return {
        (arm, first): value
        for record in records(path, "results")
        for (arm, first, _), value in zip(record["pulls"], record["values"], strict=True)
    }


@pytest.mark.parametrize("cores", [1, 3, 8])
@pytest.mark.parametrize("paired", [False, True])
def test_any_order_and_any_thread_give_the_race_that_race_would_give(
    cores: int, paired: bool, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"confidence": 0.95, "seed": 3, "cores": cores, "paired": paired}
    options["scaling"] = scaling(cores)
    there = tmp_path / "there.jsonl"
    engine = SimulatedEngine(cores, group=1)
    policy, pacers = watched(Racing())
    want = race(score, ARMS, engine=engine, journal=there, progress=False, policy=policy, **options)
    theirs = pacers[-1].tally
    for number in range(4):
        path = tmp_path / f"{number}.jsonl"
        with Race(ARMS, journal=path, policy=policy, **options) as one:
            if number < 3:
                tell_all(one, random.Random(number), most=[None, 1, 2][number])
            else:
                in_threads(one, threads=6)
            result = one.result
        assert (result.verdict, result.confidence) == (want.verdict, want.confidence)
        assert (result.chosen, result.rounds) == (want.chosen, want.rounds)
        # What the policy was told of; besides, values may be back that came before their turn.
        ours = pacers[-1].tally
        assert ours is not theirs
        assert ours.pulls.tolist() == theirs.pulls.tolist()
        assert ours.sums.tolist() == theirs.sums.tolist()
        both = recorded(path).keys() & recorded(there).keys()
        assert len(both) >= ours.pulls.sum()
        assert all(recorded(path)[key] == recorded(there)[key] for key in both)


def test_a_pull_says_all_that_it_takes_to_do_it() -> None:
    with Race([{"x": 1}, {"x": 2}], cores=4, cores_per_pull=2, seed=7) as one:
        pulls = one.ask()
        assert [(p.arm, p.index, p.label, p.number, p.cores, p.attempt) for p in pulls] == [
            ({"x": 1}, 0, "x=1", 0, 2, 1),
            ({"x": 2}, 1, "x=2", 0, 2, 1),
        ]
        assert [p.seed for p in pulls] == [pull_seed(7, arm, 0) for arm in (0, 1)]
        assert len(set(pulls)) == 2, "they can be kept in a set, whatever the arms are"
        assert one.out == pulls
        with pytest.raises(AttributeError):
            pulls[0].seed = 3  # type: ignore[misc]


def test_pulls_share_seeds_if_they_are_paired() -> None:
    with Race(ARMS, cores=5, cores_per_pull=1, paired=True) as one:
        assert len({pull.seed for pull in one.ask()}) == 1


def test_no_more_is_out_than_there_are_cores() -> None:
    with Race(ARMS, cores=4, scaling=scaling(4)) as one:
        out: list[Pull] = []
        for _ in range(60):
            out += one.ask()
            assert sum(pull.cores for pull in out) <= 4
            assert one.ask() == [], "everything that is wanted is out"
            pull = out.pop(0)
            one.tell(pull, score(pull.arm, seed=pull.seed))
            out = [pull for pull in out if one.is_wanted(pull)]
            if one.done:
                break


def test_ask_waits_for_others_to_tell() -> None:
    with Race(ARMS, cores=1, cores_per_pull=1) as one:
        (pull,) = one.ask()
        began = time.monotonic()
        assert one.ask(wait=0.2) == []
        assert time.monotonic() - began >= 0.2
        assert one.ask(wait=0) == []
        teller = threading.Timer(0.1, lambda: one.tell(pull, 0.5))
        teller.start()
        assert [p.index for p in one.ask(wait="10m")] == [1]
        assert time.monotonic() - began < 60
        teller.join()


def test_the_race_is_over_as_soon_as_the_last_value_is_told() -> None:
    with Race(ARMS, cores=2) as one:
        assert not one.done
        with pytest.raises(InvalidInput, match="not over"):
            one.result  # noqa: B018
        tell_all(one)
        assert one.done
        assert one.ask() == one.ask(wait=5) == []
        assert one.result.best == 1.0
        assert one.standing == one.result.standing
        assert one.result.scaling is not None


def test_the_standing_is_as_of_now() -> None:
    with Race(["a", "b"], cores=2, cores_per_pull=1) as one:
        assert one.standing.pulls == one.standing.busy_cores == 0
        first, second = one.ask()
        one.tell(first, 0.25)
        assert one.standing.arms[0].mean == 0.25
        assert one.out == [second]
    assert one.standing.arms[0].mean == 0.25, "also when it is closed"


def test_the_seconds_told_are_learned_from() -> None:
    with Race(ARMS, cores=8) as one:
        while not one.done:
            for pull in one.ask():
                one.tell(pull, score(pull.arm, seed=pull.seed), seconds=100.0 / pull.cores)
    pool = one.result.scaling
    assert pool is not None
    assert pool.runtime_seconds[0] == pytest.approx(100.0, rel=0.2)


def test_without_seconds_the_time_since_ask_counts(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Race(ARMS, journal=path) as one:
        time.sleep(0.2)  # nobody has asked yet
        (pull,) = one.ask()
        time.sleep(0.1)
        one.tell(pull, 0.5)
        (record,) = records(path, "results")
        assert 0.1 <= record["seconds"][0] < 0.2
        assert records(path, "spent") == [], "cores that nobody asked for are idle"


@pytest.mark.parametrize("odd", [math.nan, math.inf, "0.5", None, [0.5], b"1", 1 + 2j])
def test_what_is_no_number_is_refused_before_anything_happens(odd: Any, tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Race(ARMS, journal=path) as one:
        (pull,) = one.ask()
        before = path.read_text()
        with pytest.raises(InvalidInput, match="must be a finite number"):
            one.tell(pull, odd)
        if odd is not None:
            with pytest.raises(InvalidInput, match="seconds must be a finite number"):
                one.tell(pull, 0.5, seconds=odd)
        with pytest.raises(InvalidInput, match="below 0"):
            one.tell(pull, 0.5, seconds=-1)
        with pytest.raises(InvalidInput, match="more than 250 years"):
            one.tell(pull, 0.5, seconds=1e300)
        assert path.read_text() == before
        assert one.is_wanted(pull)
        assert one.tell(pull, 0.5)


def test_a_value_outside_what_was_declared_is_refused() -> None:
    with Race(ARMS, noise="bernoulli") as one:
        (pull,) = one.ask()
        with pytest.raises(InvalidInput, match="outside the values that were declared"):
            one.tell(pull, 0.5)
        assert one.tell(pull, True)


def test_a_pull_is_told_once() -> None:
    with Race(ARMS, cores=2, cores_per_pull=1) as one:
        first, second = one.ask()
        one.tell(first, 0.5)
        one.fail(second, "dropped it")
        for pull in (first, second):
            assert not one.is_wanted(pull)
            with pytest.raises(InvalidInput, match="was answered already"):
                one.tell(pull, 0.5)
            with pytest.raises(InvalidInput, match="was answered already"):
                one.fail(pull, "again")


def test_what_was_not_handed_out_is_refused() -> None:
    with Race(ARMS) as one, Race(ARMS, seed=1) as other:
        (pull,) = one.ask()
        with pytest.raises(InvalidInput, match="is of another race"):
            other.tell(pull, 0.5)
        with pytest.raises(InvalidInput, match="is no pull"):
            one.tell(3, 0.5)  # type: ignore[arg-type]
        later = Pull(ARMS[0], 0, "0.0", 40, pull_seed(0, 0, 40), 1)
        with pytest.raises(InvalidInput, match="is not out"):
            one.tell(later, 0.5)
        assert not one.is_wanted(later)
        with pytest.raises(InvalidInput, match="most must be"):
            one.ask(most=0)


def test_a_value_is_in_the_journal_when_tell_returns(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Race(ARMS, cores=3, cores_per_pull=1, journal=path) as one:
        for number, pull in enumerate(one.ask(), start=1):
            one.tell(pull, number / 10)
            assert [r["values"] for r in records(path, "results")][-1] == [number / 10]


def test_a_failed_pull_is_asked_for_again_with_its_seed_and_then_its_arm_is_out() -> None:
    with Race(ARMS[:3], retries=1, cores=3, cores_per_pull=1) as one:
        pull = one.ask()[2]
        one.fail(pull, "the glass broke")
        (again,) = (p for p in one.ask() if p.index == 2)
        assert (again.number, again.seed, again.attempt) == (pull.number, pull.seed, 2)
        assert again != pull
        one.fail(again, ValueError("and again"))
        assert one.standing.arms[2].status == "failed"
        tell_all_out(one)
    assert one.result.best == 0.4
    assert "the glass broke" in one.result.failures[0]
    assert one.result.arms[2].failure == "and again"


def tell_all_out(one: Race) -> None:
    """Tell what is out, and then do the race to its end."""
    for pull in one.out:
        one.tell(pull, score(pull.arm, seed=pull.seed))
    tell_all(one)


def test_what_the_arm_is_not_to_blame_for_does_not_count_as_a_try(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with Race(ARMS[:2], retries=0, journal=path) as one:
        for _ in range(3):
            (pull,) = one.ask()  # it waits: nothing is out
            assert pull.number == 0
            assert one.fail(pull, "a power cut", blame=False)
        tell_all(one)
    assert one.result.best == 0.4
    assert len(records(path, "lost")) == 3
    assert records(path, "failure") == []


def test_failures_that_stop_a_race_reach_whoever_tells() -> None:
    with Race(ARMS, on_failure="stop", retries=0) as one:
        (pull,) = one.ask()
        with pytest.raises(RaceFailed, match="it leaks"):
            one.fail(pull, "it leaks")
        assert one.done
        with pytest.raises(RaceFailed, match="it leaks"):
            one.ask()
        with pytest.raises(RaceFailed, match="it leaks"):
            one.result  # noqa: B018
        assert one.standing.arms[0].status == "failed"


def test_an_overdue_pull_fails_and_is_cancelled() -> None:
    with Race(ARMS, timeout=0.15, retries=1) as one:
        time.sleep(0.4)  # that nobody asks is no pull's fault
        (pull,) = one.ask()
        (again,) = one.ask(wait=10)
        assert (again.number, again.seed, again.attempt) == (0, pull.seed, 2)
        assert one.cancelled == [pull]
        assert not one.is_wanted(pull)
        assert one.tell(pull, 0.5) is False, "too late"
        assert one.cancelled == []
        assert one.tell(again, 0.5)


def test_pulls_of_arms_that_fell_are_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    arms = [0.0, 0.0, 5.0, 5.01]
    with Race(arms, cores=12, cores_per_pull=1, scaling=scaling(12), journal=path) as one:
        while not one.cancelled:
            one.ask()
            pull = min(one.out, key=lambda pull: pull.number)
            one.tell(pull, score(pull.arm, seed=pull.seed), seconds=1.0)
        assert not one.done
        cancelled = one.cancelled
        assert {pull.index for pull in cancelled} <= {0, 1}
        assert not any(map(one.is_wanted, cancelled))
        assert not {0, 1} & {pull.index for pull in one.ask()}, "they are not handed out any more"
        assert one.tell(cancelled[0], 99.0) is False
        assert cancelled[0] not in one.cancelled
        assert 99.0 not in recorded(path).values()
        with pytest.raises(InvalidInput, match="was answered already"):
            one.tell(cancelled[0], 99.0)


def test_a_pull_that_takes_long_is_left_alone() -> None:
    with Race(ARMS) as one:
        one.tell(one.ask()[0], 0.5, seconds=0.001)
        (slow,) = one.ask()
        time.sleep(0.1)
        assert one.ask(wait=0.2) == []
        assert one.is_wanted(slow)


def test_what_is_told_after_the_end_is_ignored() -> None:
    with Race(ARMS, max_pulls=5, cores=10, cores_per_pull=1) as one:
        pulls = one.ask()
        for pull in pulls:
            if not one.done:
                one.tell(pull, 0.5)
        assert one.done
        left = one.cancelled
        assert [one.tell(pull, 0.5) for pull in left] == [False] * len(left)


def test_a_deadline_ends_it_though_nobody_calls() -> None:
    with Race(ARMS, deadline=0.4, cores=5, cores_per_pull=1) as one:
        for pull in one.ask():
            one.tell(pull, score(pull.arm, seed=pull.seed), seconds=0.01)
        until = time.monotonic() + 30
        while not one.done and time.monotonic() < until:
            time.sleep(0.02)
        assert one.ask() == []
        assert one.result.best == 1.0


def test_a_new_process_goes_on_and_hands_out_again_what_was_out(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"cores": 3, "cores_per_pull": 1, "scaling": scaling(3)}
    with Race(ARMS, **options) as whole:
        tell_all(whole)
    with Race(ARMS, journal=path, **options) as one:
        first = one.ask()
        one.tell(first[0], score(first[0].arm, seed=first[0].seed))
        out = [*first[1:], *one.ask()]
    with Race(ARMS, journal=path, **options) as one:
        assert one.standing.pulls == 1
        assert set(out) == set(one.ask())
        again = out.pop()
        assert one.tell(again, score(again.arm, seed=again.seed))
    with Race(ARMS, journal=path, **options) as one:
        # A pull of an earlier process can be told before anybody asks here.
        assert one.tell(out[0], score(out[0].arm, seed=out[0].seed))
        with pytest.raises(InvalidInput, match="is not out"):
            one.tell(again, 0.5)
        tell_all(one)
        assert one.result.verdict == whole.result.verdict
        assert one.result.rounds == whole.result.rounds
    with Race(ARMS, journal=path, **options) as one:
        assert one.done
        assert one.ask() == []
        assert "nothing was run" in one.result.notes[0]


def test_a_journal_of_another_race_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "race.jsonl", tmp_path / "other.jsonl"
    Race(ARMS, journal=path).close()
    with pytest.raises(InvalidInput, match="another race: that one has 5 arms"):
        Race(ARMS[1:], journal=path)
    with pytest.raises(InvalidInput, match="part of what the race is"):
        Race(ARMS, journal=path, top=2)
    with pytest.raises(InvalidInput, match="evaluate='pulls by hand'"):
        race(score, ARMS, journal=path, paired=False, progress=False)
    race(score, ARMS, journal=other, paired=False, progress=False, engine=SimulatedEngine(2))
    with pytest.raises(InvalidInput, match="belongs to another race"):
        Race(ARMS, journal=other)
    with Race(ARMS, journal=path), pytest.raises(InvalidInput, match="another process"):
        Race(ARMS, journal=path)


def test_its_journal_can_be_shown_and_resume_explains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "race.jsonl"
    with Race(ARMS, journal=path) as one:
        (pull,) = one.ask()
        one.tell(pull, 0.5)
        assert read_journal(path).running
        assert main(["show", str(path)]) == 0
    assert records(path, "race")[0]["problem"]["what"] == "pulls by hand"
    assert main(["show", str(path)]) == 0
    assert "make its paceline.Race again" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(InvalidInput, match=r"make its paceline\.Race again"):
        resume_race(path)


def test_a_closed_race_says_so(tmp_path: Path) -> None:
    one = Race(ARMS, journal=tmp_path / "race.jsonl")
    (pull,) = one.ask()
    one.close()
    one.close()
    assert not one.done
    for call in (one.ask, lambda: one.tell(pull, 0.5), lambda: one.result):
        with pytest.raises(InvalidInput, match="was closed before it was over"):
            call()


def test_a_race_that_is_forgotten_ends_its_thread_and_unlocks_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    Race(ARMS, journal=path).ask()
    gc.collect()
    with Race(ARMS, journal=path) as one:
        assert len(one.ask()) == 1


def test_callbacks_may_stop_it_but_not_ask_or_tell() -> None:
    found: list[Any] = []

    def stop(standing: Any) -> bool:
        found.append(standing)
        try:
            one.ask()
        except InvalidInput as error:
            found.append(str(error))
        return True

    one = Race(ARMS, callbacks=[stop], cores=2)
    tell_all(one)
    assert not one.result.decided
    assert "cannot ask or tell" in found[1]


def test_an_error_of_a_callback_reaches_whoever_tells() -> None:
    def broken(_: Any) -> None:
        raise ZeroDivisionError("of the user")

    with Race(ARMS, callbacks=[broken]) as one:
        with pytest.raises(ZeroDivisionError, match="of the user"):
            tell_all(one)
        with pytest.raises(ZeroDivisionError, match="of the user"):
            one.ask()
        assert one.done


def test_warnings_are_given_to_whoever_tells() -> None:
    with warnings.catch_warnings(record=True) as caught, Race([1.0, 2.0, 3.0]) as one:
        warnings.simplefilter("always")
        while not one.done and not caught:
            for pull in one.ask():
                one.tell(pull, pull.arm)  # values that never vary
    assert issubclass(caught[0].category, RaceWarning)
    assert caught[0].filename == __file__


def test_a_straggler_is_handed_out_twice_if_backups_are_allowed() -> None:
    options: dict[str, Any] = {"cores": 8, "cores_per_pull": 1, "scaling": scaling(8)}
    for backups in (True, False):
        with Race(ARMS, backups=backups, policy=APR(), **options) as one:
            slow = one.ask(most=1)[0]
            again: list[Pull] = []
            until = time.monotonic() + (20.0 if backups else 3.0)
            while not again and time.monotonic() < until:
                for pull in one.ask(wait=0.1):
                    if (pull.index, pull.number) == (slow.index, slow.number):
                        again.append(pull)
                    else:
                        one.tell(pull, score(pull.arm, seed=pull.seed), seconds=1.0)
            assert bool(again) == backups
            if again:
                assert again[0].seed == slow.seed
                assert one.tell(again[0], 0.5)
                assert one.tell(slow, 0.5) is False


def test_its_options_are_those_of_race() -> None:
    names = set(inspect.signature(Race).parameters) - {"arms"}
    assert set(OPTIONS) - names == {"engine", "memory_per_pull", "unit", "keep_prints"}
    assert names <= set(OPTIONS)
    with pytest.raises(InvalidInput, match="confidence"):
        Race(ARMS, confidence=2.0)
    with pytest.raises(InvalidInput, match="give at least two"):
        Race([1])


def script(path: Path, *lines: str) -> "subprocess.Popen[str]":
    head = ["from paceline import Race", f"race = Race([1, 2, 3], journal={str(path)!r})"]
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join([*head, *lines])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_forgotten_race_does_not_keep_the_interpreter_alive(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    child = script(path, "race.tell(race.ask()[0], 0.5)", "race.ask()")
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (0, "")
    assert len(records(path, "results")) == 1


def test_ctrl_c_ends_a_wait_and_what_was_told_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    child = script(
        path,
        "race.tell(race.ask()[0], 0.5)",
        "race.ask()",
        "print(1, flush=True)",
        "race.ask(wait=99)",
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "1\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")
    with Race([1, 2, 3], journal=path) as one:
        assert one.standing.pulls == 1


def test_a_fork_is_told_that_the_race_is_elsewhere(tmp_path: Path) -> None:
    child = script(
        tmp_path / "race.jsonl",
        "import os, sys",
        "if os.fork() == 0:",
        "    try:",
        "        race.ask()",
        "    except ValueError as error:",
        "        print(error, flush=True)",
        "    os._exit(0)",
        "os.wait()",
    )
    said, errors = child.communicate(timeout=60)
    assert "in the process that made it" in said
    assert (child.returncode, errors) == (0, "")


def test_many_threads_ask_and_tell_without_losing_or_doubling_anything(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    arms = [0.0] * 4
    with Race(arms, journal=path, cores=16, cores_per_pull=1, max_pulls=400) as one:
        told: dict[tuple[int, int], float] = {}
        lock = threading.Lock()

        def hand() -> None:
            while not one.done:
                for pull in one.ask(most=2, wait=0.05):
                    value = score(0.0, seed=pull.seed)
                    if one.tell(pull, value):
                        with lock:
                            assert (pull.index, pull.number) not in told
                            told[pull.index, pull.number] = value

        hands = [threading.Thread(target=hand) for _ in range(12)]
        for thread in hands:
            thread.start()
        for thread in hands:
            thread.join(120)
        assert one.done
    assert recorded(path) == told
