import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import CorePool, InvalidInput, PowerLaw
from paceline.testing import ScalingContract


class TestCorePool(ScalingContract):
    scaling = CorePool(12, lambda cores: cores**-0.7)


class TestCorePoolOfPullsThatNeedTwoCores(ScalingContract):
    scaling = CorePool(9, lambda cores: math.inf if cores < 2 else 3.0 / cores)


class TestCorePoolWhereMoreCoresDoNotHelp(ScalingContract):
    scaling = CorePool(5, {1: 2.0})


def by_brute_force(cores: int, runtime: dict[int, float], pulls: int) -> float:
    """The least time over all multisets of waves that hold `pulls` pulls."""
    least = [0.0]
    for m in range(1, pulls + 1):
        options = []
        for width in range(1, min(m, cores) + 1):
            fastest = min(runtime[c] for c in range(1, cores // width + 1))
            options.append(least[m - width] + fastest)
        least.append(min(options))
    return least[pulls]


@given(
    cores=st.integers(1, 12),
    pulls=st.integers(1, 60),
    times=st.lists(st.floats(0.1, 10.0), min_size=12, max_size=12),
)
def test_seconds_are_those_of_the_best_waves(cores: int, pulls: int, times: list[float]) -> None:
    runtime = {c: times[c - 1] for c in range(1, cores + 1)}
    pool = CorePool(cores, runtime)
    assert pool.seconds(pulls) == pytest.approx(by_brute_force(cores, runtime, pulls))


@given(
    cores=st.integers(1, 40),
    pulls=st.integers(1, 5000),
    exponent=st.floats(0.05, 1.0),
)
def test_waves_take_the_time_and_hold_the_pulls(cores: int, pulls: int, exponent: float) -> None:
    pool = CorePool(cores, lambda c: c**-exponent)
    waves = pool.waves(pulls)
    assert sum(wave.pulls * wave.repeat for wave in waves) == pulls
    assert all(wave.pulls * wave.cores <= cores for wave in waves)  # never more than there are
    assert sum(wave.seconds * wave.repeat for wave in waves) == pytest.approx(pool.seconds(pulls))


@given(cores=st.integers(1, 40), exponent=st.floats(0.05, 1.0), seconds=st.floats(0.001, 1e4))
def test_the_inverse_lands_on_whole_waves(cores: int, exponent: float, seconds: float) -> None:
    pool = CorePool(cores, lambda c: c**-exponent)
    most = pool.pulls(seconds)
    assert most == int(most)
    assert pool.seconds(most) <= seconds * (1 + 1e-9)
    assert pool.seconds(most + 1) > seconds * (1 - 1e-9)


@given(
    cores=st.integers(1, 24),
    exponent=st.floats(0.05, 1.0),
    a=st.integers(1, 3000),
    b=st.integers(1, 3000),
)
def test_two_rounds_are_never_faster_than_one(cores: int, exponent: float, a: int, b: int) -> None:
    pool = CorePool(cores, lambda c: c**-exponent)
    assert pool.seconds(a + b) <= (pool.seconds(a) + pool.seconds(b)) * (1 + 1e-9)


def test_a_huge_round_keeps_the_throughput_of_full_waves() -> None:
    pool = CorePool(16, lambda c: c**-0.5)
    assert pool.seconds(16e12) == pytest.approx(1e12)
    assert pool.pulls(1e12) == pytest.approx(16e12, rel=1e-11)


def test_one_more_pull_than_cores_is_a_bad_number() -> None:
    pool = CorePool(8, lambda c: c**-0.5)
    assert pool.seconds(9) / 9 > pool.seconds(8) / 8


def test_runtime_as_measured_points_uses_the_smaller_count_between_them() -> None:
    pool = CorePool(8, {1: 8.0, 4: 3.0})
    assert [pool.seconds(m) for m in (1, 2, 3, 8)] == [3.0, 3.0, 6.0, 8.0]


def test_cores_that_do_not_help_stay_idle() -> None:
    pool = CorePool(8, lambda c: max(1.0, 4.0 / c))
    assert pool.waves(1)[0].cores == 4
    assert all(
        b.seconds <= a.seconds for a, b in itertools.pairwise(pool.waves(m)[0] for m in (4, 2, 1))
    )


def test_survives_pickling() -> None:
    pool = pickle.loads(pickle.dumps(CorePool(8, lambda c: 1.0 / c)))
    assert pool.seconds(np.array([8.0])).tolist() == [1.0]


def test_pools_are_equal_if_their_cores_and_times_are() -> None:
    pool = CorePool(8, lambda c: 8.0 / c)
    same = [
        CorePool(8, {c: 8.0 / c for c in range(1, 9)}),
        CorePool.from_json(pool.to_json()),
        pickle.loads(pickle.dumps(pool)),
    ]
    for other in same:
        assert other == pool
        assert hash(other) == hash(pool)
    for other in (CorePool(9, lambda c: 8.0 / c), CorePool(8, lambda c: 8.1 / c), PowerLaw(0.5)):
        assert other != pool


def test_a_pool_is_frozen() -> None:
    pool = CorePool(2, {1: 2.0, 2: 1.0})
    with pytest.raises(AttributeError):
        pool.cores = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        pool.runtime_seconds[0] = 1.0


@pytest.mark.parametrize(
    ("cores", "runtime", "says"),
    [
        (0, lambda c: 1.0, "whole number of at least 1"),
        (2.5, lambda c: 1.0, "whole number"),
        (4, lambda c: -1.0, "runtime on 1 cores"),
        (4, {2: 1.0}, "on 1 core"),
        (4, None, "function of a core count"),
        (10**6, lambda c: 1.0, "at most 100000 cores"),
    ],
)
def test_bad_pools_are_refused(cores: int, runtime: dict[int, float], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        CorePool(cores, runtime)


def test_many_waves_are_counted_not_listed() -> None:
    [wave] = CorePool(1, lambda c: 1.0).waves(3 * 10**7)
    assert (wave.pulls, wave.repeat) == (1, 3 * 10**7)
