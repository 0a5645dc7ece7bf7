"""Cores that would idle: what they do ahead, and that it changes nothing but the time."""

import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline import CorePool, Policy, race
from paceline.engines.events import Failure
from paceline.engines.jobs import Job
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload
from paceline.journal import read_records
from paceline.journal.records import PullsLost, PullsReturned, TimeSpent
from paceline.policies.catalog import find_policy
from paceline.story.standing import Standing
from tests.races.virtual import VirtualEngine, pulls_of, watched

CORES = 8
ARMS = [0.0, 0.3, 0.6, 1.0]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.6)


class Uneven(SimulatedEngine):
    """Attempt k at a pull takes `seconds(arm, number, k)`; it also counts cores and attempts."""

    def __init__(self, seconds: Callable[[int, int, int], float]) -> None:
        super().__init__(CORES, script=self._play, group=1)
        self.seconds_of = seconds
        self.attempts: Counter[tuple[int, int]] = Counter()

    def _play(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        self.attempts[arm, number] += 1
        took = self.seconds_of(arm, number, self.attempts[arm, number])
        return took / job.cores**0.5, float(workload.call(arm, number, job.cores))


def by_chance(seed: int) -> Callable[[int, int, int], float]:
    def seconds(arm: int, number: int, attempt: int) -> float:
        rng = random.Random(hash((seed, arm, number, attempt)))
        return rng.lognormvariate(0, 0.8) * (10 if rng.random() < 0.05 else 1)

    return seconds


def told_in(
    engine: SimulatedEngine, policy: str = "racing", **options: Any
) -> tuple[Any, list[int]]:
    """A result, and how many pulls of each arm the policy was told of."""
    goal = {"deadline": 60.0} if policy == "staged" else {"confidence": 0.95}
    chosen: Policy = find_policy(policy, confidence=policy != "staged", deadline=policy == "staged")
    spied, pacers = watched(chosen)
    result = race(
        noisy,
        ARMS,
        engine=engine,
        policy=spied,
        scaling=CorePool(CORES, lambda cores: 1.0 / cores**0.5),
        progress=False,
        **goal | options,
    )
    return result, pacers[-1].tally.pulls.tolist()


@pytest.mark.parametrize("policy", ["racing", "apr", "batch-racing"])
def test_the_same_values_give_the_same_race_whatever_is_done_ahead(policy: str) -> None:
    options = {"noise": "subgaussian", "sigma": 0.6}
    even, told = told_in(Uneven(lambda *_: 1.0), policy, **options)
    for seed in range(5):
        uneven, also_told = told_in(Uneven(by_chance(seed)), policy, **options)
        assert (uneven.index, uneven.verdict, uneven.rounds) == (
            even.index,
            even.verdict,
            even.rounds,
        )
        assert also_told == told
        assert uneven.pulls >= sum(told)


def test_idle_cores_are_used() -> None:
    for seed in range(3):
        result, told = told_in(Uneven(by_chance(seed)), sigma=0.6)
        assert result.core_seconds > 0.9 * CORES * result.elapsed
        assert result.pulls > sum(told), "some came too early to be needed"


def test_a_pull_that_is_to_run_by_itself_runs_by_itself(tmp_path: Path) -> None:
    """Else the pulls done ahead beside it might have got it killed, and it would never be out."""

    def kills(workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        if arm == 1:
            return 0.1, Failure("killed", "was killed by signal 9")
        return 0.5 + 0.1 * arm, float(workload.call(arm, number, job.cores))

    path = tmp_path / "race.jsonl"
    engine = SimulatedEngine(2, script=kills, group=1)
    result = race(noisy, ARMS, engine=engine, progress=False, retries=0, journal=path)
    again = "was killed by signal 9, each of 3 times (out of memory?)"
    assert [one.failure for one in result.arms] == ["", again, "", ""]
    lost = [one for one in read_records(path) if isinstance(one, PullsLost)]
    assert len(lost) < 10, "each of its pulls that was tried"
    assert result.best == 1.0


def test_a_cap_holds_also_for_what_is_done_ahead(tmp_path: Path) -> None:
    for seed, most in enumerate((8, 30, 31, 60, 90)):
        path = tmp_path / f"{most}.jsonl"
        result, told = told_in(Uneven(by_chance(seed)), sigma=0.6, max_pulls=most, journal=path)
        records = [one for one in read_records(path) if isinstance(one, PullsReturned)]
        assert result.pulls == sum(len(pulls_of(one.pulls)) for one in records) <= most
        assert sum(told) <= most


def test_a_pull_that_is_slow_by_the_machine_is_done_again_and_counts_once(tmp_path: Path) -> None:
    def seconds(arm: int, number: int, attempt: int) -> float:
        return 50.0 if (arm, number) == (3, 5) and attempt == 1 else 1.0

    path = tmp_path / "race.jsonl"
    engine = Uneven(seconds)
    result, told = told_in(engine, sigma=0.6, journal=path)
    assert engine.attempts[3, 5] == 2
    assert result.elapsed < 50
    records = list(read_records(path))
    pulls = Counter(
        pull for one in records if isinstance(one, PullsReturned) for pull in pulls_of(one.pulls)
    )
    assert set(pulls.values()) == {1}
    assert [one.why for one in records if isinstance(one, TimeSpent)].count("backup") == 1
    without = Uneven(seconds)
    same, also_told = told_in(without, sigma=0.6, backups=False)
    assert without.attempts[3, 5] == 1
    assert same.elapsed > 50
    assert (same.verdict, also_told) == (result.verdict, told)


def test_if_the_seed_is_slow_backups_are_soon_given_up() -> None:
    def seconds(arm: int, number: int, attempt: int) -> float:
        return 12.0 if random.Random(hash((arm, number))).random() < 0.1 else 1.0

    engine = Uneven(seconds)
    result, _ = told_in(engine, sigma=0.6)
    again = sum(count - 1 for count in engine.attempts.values())
    slow = sum(seconds(arm, number, 1) > 1 for arm, number in engine.attempts)
    assert again <= 8 < slow
    assert result.index == 3


def test_a_function_without_a_seed_has_no_backups() -> None:
    def seconds(arm: int, number: int, attempt: int) -> float:
        return 30.0 if (arm, number) == (1, 2) and attempt == 1 else 1.0

    engine = Uneven(seconds)
    race(
        lambda arm: arm + random.random(), ARMS, engine=engine, progress=False,
        scaling=CorePool(CORES, lambda cores: 1.0 / cores**0.5),
    )  # fmt: skip
    assert engine.attempts[1, 2] == 1


def test_of_two_that_do_a_pull_the_failure_of_one_is_an_attempt() -> None:
    class Failing(Uneven):
        def _play(self, workload: Workload, job: Job, arm: int, number: int) -> Outcome:
            from paceline.engines.events import Failure

            took, value = super()._play(workload, job, arm, number)
            if (arm, number) == (3, 5) and self.attempts[arm, number] == 2:
                return took, Failure("exception", "raised ValueError: no")
            return took, value

    engine = Failing(lambda arm, number, k: 50.0 if (arm, number) == (3, 5) and k == 1 else 1.0)
    result, _ = told_in(engine, sigma=0.6)
    assert len(result.failures) == 1
    assert result.index == 3
    assert engine.attempts[3, 5] == 2, "the first one is still at it"
    strict = Failing(lambda arm, number, k: 50.0 if (arm, number) == (3, 5) and k == 1 else 1.0)
    assert told_in(strict, sigma=0.6, retries=0)[0].arms[3].status == "failed"


@pytest.mark.parametrize("hangs", range(5))
def test_an_arm_that_hangs_costs_its_own_cores_only(hangs: int) -> None:
    """Whatever its place, and whether the scaling is known or not; on few cores and on many."""
    arms = [0.0, 0.5, 1.0, 1.5, 2.0]
    best = 3 if hangs == 4 else 4
    for cores in (2, 3, 40):
        for scaling in (None, CorePool(cores, lambda cores: 0.02 / cores**0.5)):
            engine = Uneven(lambda arm, number, k: math.inf if arm == hangs else 0.02)
            engine._cores = cores
            result = race(noisy, arms, engine=engine, scaling=scaling, deadline=8, progress=False)
            assert result.index == best, (cores, scaling)
            assert result.pulls > 100
            engine = Uneven(lambda arm, number, k: math.inf if arm == hangs else 0.02)
            engine._cores = cores
            sure = race(
                noisy, arms, engine=engine, scaling=scaling, confidence=0.95, timeout=1,
                progress=False,
            )  # fmt: skip
            assert (sure.index, sure.arms[hangs].status) == (best, "failed")


@pytest.mark.parametrize("options", [{}, {"cores_per_pull": 1}, {"tolerance": 0.5}])
@pytest.mark.parametrize("cores", [2, 4, 8])
@pytest.mark.parametrize("number", [0, 5])
@pytest.mark.parametrize("seconds", [0.01, 0.2])
def test_a_pull_that_hangs_once_is_done_by_a_backup(
    options: dict[str, Any], cores: int, number: int, seconds: float
) -> None:
    """Also if it began before anything was known, if pulls are short, and on two cores."""
    engine = Uneven(lambda arm, pull, k: math.inf if (arm, pull, k) == (0, number, 1) else seconds)
    engine._cores = cores
    result = race(noisy, [0.0, 0.3, 1.0], engine=engine, progress=False, **options)
    assert (result.index, result.confidence) == (2, 0.95)
    assert engine.attempts[0, number] == 2
    assert result.elapsed < 400 * seconds


@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("slow", [0, 1, 3])
def test_an_arm_that_is_slow_but_does_not_hang_is_waited_for(slow: int, cores: int) -> None:
    """It is not ended again and again because it takes long."""
    engine = Uneven(lambda arm, pull, k: 0.6 if arm == slow else 0.01)
    engine._cores = cores
    result = race(noisy, ARMS, engine=engine, progress=False)
    assert (result.index, result.confidence) == (3, 0.95)
    assert max(engine.attempts[slow, pull] for pull in range(5)) <= 3
    assert result.elapsed < 200


@pytest.mark.parametrize("goal", [{}, {"confidence": 0.95}])
@pytest.mark.parametrize("cores", [2, 3, 4, 8])
@pytest.mark.parametrize("arms", [[0.0, 0.3, 1.0], [1.0, 0.3, 0.0], [0.0, 0.3, 0.6, 0.9, 2.0]])
def test_an_arm_that_always_hangs_does_not_take_the_pool(
    arms: list[float], cores: int, goal: dict[str, Any]
) -> None:
    """The others race on, and all their values decide at the deadline."""
    engine = Uneven(lambda arm, pull, k: math.inf if arms[arm] == 0.0 else 0.01)
    engine._cores = cores
    result = race(noisy, arms, engine=engine, deadline=5, progress=False, **goal)
    assert result.best == max(arms)
    others = [arm.pulls for arm in result.arms if arms[arm.index] > 0.0]
    assert min(others) > 15
    assert sum(others) > 60


def test_a_pull_that_runs_far_longer_than_others_is_named() -> None:
    shown: list[str] = []

    class Screen:
        def update(self, standing: Standing) -> None:
            shown.append(standing.outlook)

        def close(self, result: Any) -> None:
            pass

    engine = Uneven(lambda arm, number, k: math.inf if (arm, number) == (1, 3) else 0.02)
    race(noisy, ARMS, engine=engine, deadline=60, backups=False, progress=Screen())
    named = [text for text in shown if text]
    assert 'a pull of "0.3" has been running for' in named[-1]
    assert "others take" in named[-1]
    assert "see timeout" in named[-1]
    calm: list[str] = []
    shown = calm
    race(noisy, ARMS, engine=Uneven(lambda *_: 0.02), deadline=60, progress=Screen())
    assert not any("running for" in text for text in calm)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_pulls_of_fallen_arms_that_come_back_are_within_the_cap(scale: float) -> None:
    def noisy(arm: float, *, seed: int) -> float:
        return arm + random.Random(seed).gauss(0, 0.3)

    def uneven(rng: random.Random, cores: int) -> float:
        return scale * rng.lognormvariate(0, 0.8) / cores

    arms = [0.0, 0.05, 0.1, 0.2, 0.3, 0.33, 0.35, 0.6, 0.61]
    for seed in (*range(8), 45, 79, 115):
        cap = random.Random(seed).randrange(60, 800)
        result = race(noisy, arms, engine=VirtualEngine(16, uneven, seed=seed), cores=16,
                      max_pulls=cap, seed=seed, paired=False, progress=False)  # fmt: skip
        assert result.pulls <= cap
