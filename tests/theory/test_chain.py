"""The planner against all chains there are, against SSH, and against Theorem 3."""

import math
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paceline import Amdahl, CorePool, Ernest, InvalidInput, Measured, PowerLaw, Scaling
from paceline.core.arrays import MOST_PULLS_PER_ARM, Floats, Ints
from paceline.core.noise.normal import NormalNoise
from paceline.core.scaling import ROUNDING
from paceline.theory import (
    Chain,
    bottleneck,
    chain_sizes,
    closed_bound,
    plan_chain,
    rate_hardness,
    rates,
    stage_count,
    success_bound,
)
from paceline.theory.chain import least_pulls, plan_wider
from paceline.theory.raceplan import floor_of

UNKNOWN = NormalNoise()
SLACK = 1 + 10 * ROUNDING


def pool(cores: int, exponent: float) -> CorePool:
    return CorePool(cores, lambda c: float(c**-exponent))


def measured(steps: list[float]) -> Measured:
    slopes = np.sort(steps)[::-1]
    knots = 4.0 ** np.arange(slopes.size)
    return Measured(knots, np.cumsum(slopes * np.diff(knots, prepend=0.0)))


units = st.floats(1e-3, 1e3)
powers = st.builds(PowerLaw, st.floats(0.1, 1.0), units)
amdahls = st.builds(Amdahl, st.floats(0.0, 0.99), st.floats(0.0, 0.9), units)
concave: st.SearchStrategy[Scaling] = st.one_of(
    powers,
    amdahls,
    st.builds(measured, st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6)),
    st.builds(lambda a, b: a + b, powers, amdahls),
)
pools = st.builds(pool, st.integers(1, 64), st.floats(0.05, 1.0))
ernests = st.builds(Ernest, units, units, linear=st.floats(0.0, 1.0), cores=st.integers(1, 64))
scalings = st.one_of(concave, pools, ernests)


# --- all chains ---


def all_sizes(arms: int, top: int) -> Iterator[Ints]:
    between = range(arms - 1, top, -1)
    for count in range(len(between) + 1):
        for some in combinations(between, count):
            yield np.array((arms, *some, top))


def stage_seconds(scaling: Scaling, pulls: Any) -> Floats:
    amounts = np.asarray(pulls, dtype=np.float64)
    return scaling.seconds(amounts.ravel()).reshape(amounts.shape)


def best_of_all(arms: int, scaling: Scaling, seconds: float, top: int, pulls: int) -> int:
    """The largest level that any chain reaches in time with the least pulls that it takes."""
    levels = np.arange(1.0, (pulls + scaling.whole_pulls(seconds)) + 1)
    fits = np.zeros(levels.size, dtype=bool)
    for sizes in all_sizes(arms, top):
        each = np.maximum(np.ceil(levels[:, None] / (sizes[1:] - top + 1)), pulls)
        times = stage_seconds(scaling, sizes[:-1] * np.diff(each, axis=1, prepend=pulls))
        fits |= times.sum(axis=1) <= seconds * (1 + ROUNDING)
    return int(levels[fits].max())


def best_of_any_pulls(arms: int, scaling: Scaling, seconds: float) -> int:
    """The same with any whole numbers of pulls, whether they are the least or not."""
    best = 0
    for sizes in all_sizes(arms, 1):
        most = scaling.whole_pulls(seconds) // int(sizes[-2])
        for each in combinations_with_replacement(range(1, most + 1), sizes.size - 1):
            times = stage_seconds(scaling, sizes[:-1] * np.diff(each, prepend=0))
            if times.sum() <= seconds * (1 + ROUNDING):
                best = max(best, int((sizes[1:] * each).min()))
    return best


@settings(max_examples=60)
@given(
    arms=st.integers(2, 12),
    scaling=concave,
    rounds=st.floats(1.0, 30.0),
    top=st.integers(1, 3),
    pulls=st.sampled_from([0, 0, 1, 7]),
)
def test_no_chain_has_a_larger_bottleneck(
    arms: int, scaling: Scaling, rounds: float, top: int, pulls: int
) -> None:
    top = min(top, arms - 1)
    seconds = scaling.seconds(arms * rounds)
    chain = plan_chain(arms, scaling, seconds, top=top, pulls=pulls)
    assert chain is not None
    assert chain.bottleneck == best_of_all(arms, scaling, seconds, top, pulls)


@settings(max_examples=40)
@given(arms=st.integers(2, 5), scaling=concave, rounds=st.floats(1.0, 4.0))
def test_the_least_pulls_are_the_best_where_the_scaling_is_concave(
    arms: int, scaling: Scaling, rounds: float
) -> None:
    seconds = scaling.seconds(arms * rounds)
    chain = plan_chain(arms, scaling, seconds)
    assert chain is not None
    assert chain.bottleneck == best_of_any_pulls(arms, scaling, seconds)


@settings(max_examples=60)
@given(arms=st.integers(2, 10), scaling=pools, rounds=st.floats(1.0, 30.0))
def test_steps_of_a_pool_hide_no_better_chain(arms: int, scaling: Scaling, rounds: float) -> None:
    seconds = scaling.seconds(arms * rounds)
    chain = plan_chain(arms, scaling, seconds)
    assert chain is not None
    assert chain.bottleneck >= best_of_all(arms, scaling, seconds, top=1, pulls=0)


def test_where_there_are_steps_more_than_the_least_pulls_may_be_better() -> None:
    # What the planner leaves out, and the control: the search of any pulls would find it.
    scaling, seconds = pool(4, 0.5), 4.0
    chain = plan_chain(3, scaling, seconds)
    assert chain is not None
    assert (chain.bottleneck, best_of_any_pulls(3, scaling, seconds)) == (5, 6)


# --- constraints ---


def check_chain(chain: Chain, scaling: Scaling, seconds: float, floor: float) -> None:
    kept = np.array(chain.sizes[1:], dtype=np.float64) - (chain.top - 1)
    more = np.diff(chain.pulls)
    assert (np.diff(chain.sizes) < 0).all()
    assert (more >= 0).all()
    assert (np.array(chain.pulls[1:]) >= least_pulls(kept, floor)).all()
    assert chain.sizes[-1] == chain.top
    assert chain.total_seconds <= seconds * SLACK
    assert chain.seconds == pytest.approx(stage_seconds(scaling, chain.sizes[:-1] * more))
    assert chain.bottleneck == int((kept * chain.pulls[1:]).min())


@given(
    arms=st.integers(2, 3000),
    scaling=scalings,
    stretch=st.floats(0.1, 1e3),
    top=st.integers(1, 20),
    pulls=st.sampled_from([0, 1, 5, 80]),
    floor=st.sampled_from([0.0, 30.0, 500.5]),
    tolerance=st.sampled_from([0.0, 1e-3]),
    guess=st.floats(1.0, 1e5),
)
def test_a_plan_keeps_to_time_top_and_floor(
    arms: int,
    scaling: Scaling,
    stretch: float,
    top: int,
    pulls: int,
    floor: float,
    tolerance: float,
    guess: float,
) -> None:
    top = min(top, arms - 1)
    seconds = stretch * scaling.seconds(float(arms))
    chain = plan_chain(
        arms,
        scaling,
        seconds,
        top=top,
        pulls=pulls,
        floor=floor,
        tolerance=tolerance,
        guess=guess,
    )
    wider = plan_wider(arms, scaling, seconds, top=top, pulls=pulls, floor=floor)
    if chain is None:  # then the quickest one is too slow: a single cut among others
        assert wider is None
        last = max(pulls, 1, math.ceil(floor))
        assert scaling.seconds(float(arms * (last - pulls))) > seconds
    for plan in (chain, wider):
        if plan is not None:
            assert (plan.sizes[0], plan.pulls[0], plan.top) == (arms, pulls, top)
            check_chain(plan, scaling, seconds, floor)


@given(arms=st.integers(2, 500), scaling=scalings, stretch=st.floats(1.0, 1e3))
def test_more_time_and_pulls_already_there_never_hurt(
    arms: int, scaling: Scaling, stretch: float
) -> None:
    seconds = stretch * scaling.seconds(float(arms))
    short = plan_chain(arms, scaling, seconds)
    long = plan_chain(arms, scaling, 2 * seconds)
    later = plan_chain(arms, scaling, seconds, pulls=1)
    assert short is not None
    assert long is not None
    assert later is not None
    assert long.bottleneck >= short.bottleneck
    assert later.bottleneck >= short.bottleneck


def test_a_plan_goes_on_as_it_was_made() -> None:
    scaling, seconds = PowerLaw(0.5), 500.0
    whole = plan_chain(1024, scaling, seconds)
    assert whole is not None
    rest = plan_chain(
        whole.sizes[1],
        scaling,
        seconds - whole.seconds[0],
        pulls=whole.pulls[1],
        sizes=chain_sizes(1024),
    )
    assert rest is not None
    assert rest.bottleneck >= whole.bottleneck


def test_too_little_time_for_a_pull_of_each_arm_gives_no_plan() -> None:
    assert plan_chain(100, PowerLaw(0.5), 9.99) is None
    least = plan_chain(100, PowerLaw(0.5), 10.0)
    assert least == Chain((100, 1), (0, 1), (10.0,))
    assert plan_chain(100, PowerLaw(0.5), 0.0) is None


def test_endless_time_ends_at_the_most_pulls_that_can_be_counted() -> None:
    chain = plan_chain(16, PowerLaw(0.1), 1e5)
    assert chain is not None
    assert chain.bottleneck == MOST_PULLS_PER_ARM // 16


@pytest.mark.parametrize(("arms", "top"), [(5, 5), (5, 0), (1, 1)])
def test_a_top_that_leaves_nothing_to_find_is_refused(arms: int, top: int) -> None:
    with pytest.raises(InvalidInput):
        plan_chain(arms, PowerLaw(0.5), 100.0, top=top)


# --- SSH ---


@given(arms=st.integers(2, 10**6), top=st.integers(1, 30))
def test_sizes_fall_from_all_arms_to_the_top_and_have_those_of_ssh(arms: int, top: int) -> None:
    top = min(top, arms - 1)
    sizes = chain_sizes(arms, top)
    assert (sizes[0], sizes[-1]) == (arms, top)
    assert (np.diff(sizes) < 0).all()
    assert sizes.size < 250
    for k in range(1, stage_count(arms, 1) + 1):
        size = arms
        while size > top:
            assert size in sizes
            size = -(-size // 2**k)


@given(arms=st.floats(math.log(2), math.log(1e5)), scaling=scalings, stretch=st.floats(0.0, 4.0))
def test_the_bottleneck_is_never_below_that_of_ssh(
    arms: float, scaling: Scaling, stretch: float
) -> None:
    n = round(math.exp(arms))
    seconds = scaling.seconds(float(n)) * 10**stretch
    chain = plan_chain(n, scaling, seconds)
    assert chain is not None
    most = MOST_PULLS_PER_ARM // n
    for k in range(1, stage_count(n, 1) + 1):  # sequential halving is k = 1
        assert chain.bottleneck >= min(bottleneck(n, k, seconds, scaling), most)


@given(
    arms=st.integers(2, 300),
    spread=st.floats(0.2, 3.0),
    scaling=scalings,
    stretch=st.floats(0.0, 3.0),
    odds=st.floats(0.0, 5.0),
    sigma=st.sampled_from([0.5, math.sqrt(0.5), 1.0]),
)
def test_the_floor_is_kept_by_the_chain_and_never_worse_than_theorem_3(
    arms: int, spread: float, scaling: Scaling, stretch: float, odds: float, sigma: float
) -> None:
    seconds = scaling.seconds(float(arms)) * 10**stretch
    chain = plan_chain(arms, scaling, seconds)
    assert chain is not None
    assume(chain.pulls[-1] < MOST_PULLS_PER_ARM // arms)  # there Theorem 3 counts pulls beyond
    floor = floor_of(chain, scaling, seconds)
    check_chain(chain, scaling, seconds, floor)
    assert chain.bottleneck / 4 <= floor <= chain.bottleneck / 2
    # Gaps of a shape, as large as makes the theorem say something.
    gaps = np.linspace(0.1, 1.0, arms - 1) ** spread
    ranks = np.arange(2, arms + 1)
    hard = chain.bottleneck / (8 * (math.log(3 * stage_count(arms, 1)) + odds))
    gaps *= math.sqrt(float((ranks * gaps**-2).max()) / hard)
    difficulty = rate_hardness(rates(np.r_[0.0, -gaps], UNKNOWN, sigma=sigma))
    adaptive = 1 - closed_bound(floor, stage_count(arms, 1), difficulty)
    assert adaptive >= success_bound(gaps, seconds, scaling, sigma=sigma) - 1e-12


def test_cuts_without_new_pulls_are_merged() -> None:
    chain = Chain((16, 4, 3, 2, 1), (0, 10, 10, 28, 28), (2.0, 0.0, 1.0, 0.0))
    assert chain.merged() == Chain((16, 3, 1), (0, 10, 28), (2.0, 1.0))
    assert chain.merged().bottleneck == chain.bottleneck
