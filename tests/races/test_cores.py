"""Cores really used: by CPU time, by affinity, by thread limits; and how pulls scale, learned."""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paceline import race
from paceline.core.fitting import Runtime, Timings
from paceline.machine import available_cores
from paceline.races import profile

needs_two = pytest.mark.skipif(available_cores().cores < 2, reason="needs two cores")


def multiply(arm: int) -> float:
    """CPU time that numpy's second thread spends on products of matrices, per that of the first.

    Not per second of wall-clock time: on a shared machine that depends on the others.
    """
    import numpy as np

    def spent() -> dict[str, int]:
        threads = os.listdir("/proc/self/task")
        return {
            thread: int(open(f"/proc/self/task/{thread}/schedstat").read().split()[0])
            for thread in threads
        }

    matrix = np.ones((1200, 1200)) * arm
    matrix @ matrix  # the threads start here
    before = spent()
    for _ in range(4):
        matrix @ matrix
    used = sorted((after - before[thread] for thread, after in spent().items()), reverse=True)
    return used[1] / used[0] if len(used) > 1 else 0.0


def surroundings(arm: int, *, cores: int) -> float:
    """1 if the process may use just `cores` processors and was told so before any import."""
    import threading

    told = {os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(len(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    return float(len(os.sched_getaffinity(0)) == cores == seen[0] and told == {str(cores)})


@needs_two
def test_numpy_on_one_core_each_uses_one_core_each_and_on_two_cores_two() -> None:
    one = race(multiply, [1, 2], cores=2, cores_per_pull=1, max_pulls=8, progress=False)
    assert all(record.pulls >= 2 for record in one.arms)
    assert all(record.mean < 0.05 for record in one.arms)
    two = race(multiply, [1, 2], cores=2, cores_per_pull=2, max_pulls=8, progress=False)
    assert all(record.mean > 0.5 for record in two.arms)


@needs_two
def test_a_pull_sees_its_own_cores_only() -> None:
    for per_pull in (1, 2):
        result = race(
            surroundings, [0, 1], cores=2, cores_per_pull=per_pull, max_pulls=8, progress=False
        )
        assert [record.mean for record in result.arms] == [1.0, 1.0]


def where(arm: int) -> float:
    time.sleep(0.05)
    return float(min(os.sched_getaffinity(0)))


@needs_two
def test_pulls_at_the_same_time_are_on_different_processors() -> None:
    result = race(where, [0, 1], cores=2, cores_per_pull=1, max_pulls=20, progress=False)
    ids = available_cores().cpu_ids[:2]
    low, high = min(record.mean for record in result.arms), max(r.mean for r in result.arms)
    assert ids[0] <= low <= high <= ids[1]
    assert low < high or low not in ids  # they share both, or have one each


SHAPES: dict[str, Callable[[int], float]] = {
    "c^-0.5": lambda cores: cores**-0.5,
    "Amdahl 10 %": lambda cores: 0.1 + 0.9 / cores,
    "linear": lambda cores: 1.0 / cores,
}
UNIT_SECONDS = 0.4


@pytest.mark.parametrize("name", SHAPES)
def test_an_unknown_scaling_is_learned_from_the_first_round(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 16 logical cores: what the policy is told after the first pulls, which all count."""
    fits: list[Runtime] = []
    fit = Timings.fit

    def spy(self: Timings) -> Runtime:
        fits.append(fit(self))
        return fits[-1]

    monkeypatch.setattr(Timings, "fit", spy)
    shape = SHAPES[name]

    def sleep(arm: int, *, cores: int, shape: Any = shape, unit: float = UNIT_SECONDS) -> float:
        time.sleep(unit * shape(cores))
        return float(arm)

    result = race(sleep, list(range(10)), cores=16, confidence=0.9, max_pulls=20, progress=False)
    assert result.pulls >= 10
    cores = np.arange(1, 17)
    learned = np.array([fits[0](int(c)) for c in cores])
    truth = np.array([UNIT_SECONDS * shape(int(c)) for c in cores])
    assert np.abs(learned / truth - 1).max() < 0.15


def test_a_profile_measures_every_level_and_fits_it() -> None:
    def sleep(arm: int, *, cores: int) -> float:
        time.sleep(0.2 / cores**0.5)
        return 0.0

    found = profile(sleep, [1, 2], cores=8, repeats=2)
    assert sorted(found.measured) == [1, 2, 4, 8]
    assert all(len(seconds) >= 2 for seconds in found.measured.values())
    assert found.runtime(4) == pytest.approx(0.1, rel=0.2)


def test_a_profile_of_many_arms_pulls_a_few_of_them() -> None:
    found = profile(lambda arm, *, cores: float(cores), range(1000), cores=2, repeats=3)
    assert sum(len(seconds) for seconds in found.measured.values()) == 6


def test_a_profile_does_not_count_the_first_pull_of_a_process() -> None:
    def sleep(arm: int, *, cores: int) -> float:
        import builtins

        warm = getattr(builtins, "warm", False)
        time.sleep(0.02 if warm else 0.5)
        builtins.warm = True  # type: ignore[attr-defined]
        return 0.0

    found = profile(sleep, range(8), cores=1, repeats=3)
    assert found.measured.keys() == {1}
    assert len(found.measured[1]) == 3
    assert found.runtime(1) < 0.25
