"""Cores for the next pull: within what is free, and what a person with a stopwatch would give."""

import math

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from paceline.core.pool import CorePool
from paceline.pools.allocation import Allocator, RunningJob
from paceline.pools.rules import Rules


@st.composite
def pools(draw: st.DrawFn) -> CorePool:
    """Any runtimes that never rise, with too few cores forbidden, and more than enough useless."""
    cores = draw(st.integers(1, 12))
    least = draw(st.integers(1, cores))
    most = draw(st.integers(least, cores))
    times = draw(st.lists(st.floats(0.01, 10.0), min_size=cores, max_size=cores))
    falling = sorted(times, reverse=True)
    return Rules(cores, least, most).pool(lambda count: falling[count - 1])


def allowed(pool: CorePool) -> list[int]:
    return [c for c in range(1, pool.cores + 1) if math.isfinite(pool.runtime_seconds[c - 1])]


jobs = st.builds(
    RunningJob, st.integers(1, 6), st.floats(0.01, 20.0), st.floats(0.0, 40.0), st.just(0)
)


@given(pools(), st.integers(1, 100), st.integers(0, 12), st.lists(jobs, max_size=5))
def test_never_more_than_is_free_and_never_fewer_than_a_pull_needs(
    pool: CorePool, queued: int, free: int, under_way: list[RunningJob]
) -> None:
    free = min(free, pool.cores)
    cores = Allocator(pool).next_cores(queued, [free], under_way)
    assert 0 <= cores <= free
    assert cores == 0 or cores in allowed(pool)


@given(pools(), st.integers(1, 100))
def test_on_an_empty_pool_something_always_starts_and_the_plan_is_kept(
    pool: CorePool, queued: int
) -> None:
    """Given out one after the other, the pulls of a first wave get what λ says they get."""
    allocator, free = Allocator(pool), pool.cores
    wave = pool.waves(min(queued, 4 * pool.cores))[0]
    assert allocator.next_cores(queued, [free], []) == wave.cores
    assert wave.cores in allowed(pool)


@pytest.mark.parametrize("power", [0.0, 0.3, 0.7, 1.0])
def test_when_many_wait_throughput_counts(power: float) -> None:
    """However poor the scaling, with hundreds of pulls to do one core each is best; at 1 any is."""
    pool = CorePool(8, lambda cores: cores**-power)
    allocator, free, rate = Allocator(pool), 8, 0.0
    while free:
        cores = allocator.next_cores(500, [free], [])
        rate += 1 / float(pool.runtime_seconds[cores - 1])
        free -= cores
    assert rate == pytest.approx(8.0)


def test_when_pulls_gain_more_than_their_share_they_get_it() -> None:
    # Two cores are three times as fast as one: memory that fits into two caches, say.
    pool = CorePool(8, {1: 3.0, 2: 1.0})
    assert Allocator(pool).next_cores(500, [8], []) == 2


def test_a_single_pull_gets_all_cores_that_help() -> None:
    assert Allocator(CorePool(8, lambda cores: 1 / cores)).next_cores(1, [8], []) == 8
    assert Allocator(CorePool(8, lambda cores: 1 / min(cores, 3))).next_cores(1, [8], []) == 3
    assert Allocator(CorePool(8, lambda cores: 1.0)).next_cores(1, [8], []) == 1


LINEAR = CorePool(8, lambda cores: 8 / cores)  # a pull takes 8 s on one core, 1 s on all


@pytest.mark.parametrize(
    ("left", "cores"),
    [
        (0.5, 0),  # 0.5 s of waiting, then 1 s on all, against 8 s on one
        (6.5, 0),
        (7.5, 1),  # 7.5 + 1 > 8
        (60.0, 1),
    ],
)
def test_it_waits_exactly_when_waiting_pays(left: float, cores: int) -> None:
    under_way = [RunningJob(7, expected=100.0, elapsed=100.0 - left)]
    # Of what has run longest one knows least: at least a tenth of what was expected is to come.
    assert under_way[0].left == max(left, 10.0)
    fresh = [RunningJob(7, expected=left, elapsed=0.0)]
    assert Allocator(LINEAR).next_cores(1, [1], fresh) == cores


def test_it_waits_for_as_many_jobs_as_it_takes() -> None:
    soon, late = RunningJob(1, 0.5, 0.0), RunningJob(6, 50.0, 0.0)
    # The early end of the small job does not free enough: what counts is the other.
    assert Allocator(LINEAR).next_cores(1, [1], [soon, late]) == 1
    assert Allocator(LINEAR).next_cores(1, [1], [soon, RunningJob(6, 0.6, 0.0)]) == 0
    assert Allocator(LINEAR).next_cores(1, [1], [RunningJob(6, 0.6, 0.0), soon]) == 0
    # Where either would do, it is the one that ends first, not the smaller one.
    four = CorePool(8, lambda cores: 8 / min(cores, 4))
    assert (
        Allocator(four).next_cores(1, [1], [RunningJob(3, 50.0, 0.0), RunningJob(4, 0.6, 0.0)]) == 0
    )


def test_nobody_waits_for_a_job_that_is_overdue() -> None:
    due, overdue = RunningJob(7, 1.0, 1.4), RunningJob(7, 1.0, 1.6)
    assert due.left == pytest.approx(0.1)
    assert overdue.left == math.inf
    assert Allocator(LINEAR).next_cores(1, [1], [due]) == 0
    assert Allocator(LINEAR).next_cores(1, [1], [overdue]) == 1


def test_a_job_of_which_nothing_is_known_is_not_waited_for() -> None:
    assert Allocator(LINEAR).next_cores(1, [3], [RunningJob(5, math.inf, 2.0)]) == 3


def test_it_waits_if_what_is_free_is_too_little_for_any_pull() -> None:
    pool = Rules(8, 4, 8).pool(lambda cores: 1 / cores)
    for under_way in (
        [RunningJob(5, 1.0, 0.0)],
        [RunningJob(5, 1.0, 99.0)],
        [RunningJob(5, math.inf, 0.0)],
    ):
        assert Allocator(pool).next_cores(1, [3], under_way) == 0
        assert Allocator(pool).next_cores(50, [3], under_way) == 0


@settings(phases=[Phase.generate])
@given(pools(), st.integers(1, 40), st.data())
def test_cores_that_suffice_do_not_wait_for_a_job_that_never_ends(
    pool: CorePool, queued: int, data: st.DataObject
) -> None:
    free = data.draw(st.integers(min(allowed(pool)), pool.cores))
    hung = [RunningJob(pool.cores - free, 1.0, 100.0)]
    assert Allocator(pool).next_cores(queued, [free], hung) > 0
