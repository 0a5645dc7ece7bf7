"""How pulls keep to λ, and what stages take that do not wait for all of them."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import CorePool, Measured, PowerLaw
from paceline.core.delays import Boxed, Delays
from paceline.core.scaling import Scaling
from paceline.testing import ScalingContract

EXACT = Delays((1.0,) * 40, mean=1.0)
UNEVEN = Delays.seen(np.random.default_rng(1).lognormal(-0.08, 0.4, 2000))
_rng = np.random.default_rng(0)
_long = np.r_[_rng.lognormal(0, 0.3, 1900), np.full(100, 20.0)]
_long /= _long.mean()  # λ is what pulls take on average
HEAVY = Delays.seen(_long)
ALL = {"exact": EXACT, "guessed": Delays.seen([]), "uneven": UNEVEN, "heavy": HEAVY}
SCALINGS: dict[str, Scaling] = {
    "m^.1": PowerLaw(0.1),
    "m^.5": PowerLaw(0.5),
    "m": PowerLaw(1.0),
    "one core": CorePool(1, lambda cores: 3.0),
    "16 cores": CorePool(16, lambda cores: 1 / cores**0.7),
    "16 cores, perfect": CorePool(16, lambda cores: 1 / cores),
    "16 cores, useless": CorePool(16, lambda cores: 1.0),
    "measured": Measured([1, 4, 16, 64], [1.0, 1.5, 2.5, 6.0]),
}
FEW = np.array([1.0, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 33, 64])
MANY = np.r_[FEW, 100.0, 1e3, 12_345, 1e6, 1e9, 1e12]

every_delay = pytest.mark.parametrize("delays", ALL.values(), ids=ALL.keys())
every_scaling = pytest.mark.parametrize("scaling", SCALINGS.values(), ids=SCALINGS.keys())


class TestBoxed(ScalingContract):
    scaling = Boxed(SCALINGS["m^.5"], UNEVEN)


class TestBoxedOnCores(ScalingContract):
    """Its table makes it rise where the pool's steps are flat, by a hair."""

    scaling = Boxed(SCALINGS["16 cores"], HEAVY, wait=True)
    subadditive = False


# Delays.


def test_before_the_first_pull_there_is_a_guess_around_1() -> None:
    guess = Delays.seen([])
    assert guess.mean == pytest.approx(1.0, abs=0.1)
    assert 0.5 < guess.quantile(0.01) < 1 < guess.quantile(0.99) < 2


def test_few_pulls_move_the_guess_and_many_replace_it() -> None:
    assert Delays.seen([3.0] * 4).quantile(0.01) < 1.0 < Delays.seen([3.0] * 4).mean < 3.0
    many = Delays.seen([3.0] * 64)
    assert (many.mean, set(many.quantiles)) == (3.0, {3.0})


@given(st.lists(st.floats(1e-3, 1e3), min_size=64, max_size=200))
def test_quantiles_are_those_of_the_pulls(multiples: list[float]) -> None:
    delays = Delays.seen(multiples)
    assert list(delays.quantiles) == sorted(delays.quantiles)
    levels = np.array([0.1, 0.5, 0.9])
    below = np.quantile(multiples, levels - 0.03), np.quantile(multiples, levels + 0.03)
    assert (delays.quantile(levels) >= below[0] * 0.999).all()
    assert (delays.quantile(levels) <= below[1] * 1.001).all()
    assert delays.mean == pytest.approx(np.mean(multiples), rel=1e-3)


@given(st.lists(st.floats(0, 1e6), max_size=100))
def test_json_gives_the_same_again(multiples: list[float]) -> None:
    delays = Delays.seen(multiples)
    assert Delays.from_json(json.loads(json.dumps(delays.to_json()))) == delays


@pytest.mark.parametrize("multiple", [0.0, 1e-9, 1e-6, 1e6])
def test_a_pool_that_is_wrong_by_far_is_no_reason_to_stop(multiple: float) -> None:
    """Someone said that a pull takes a day, or a microsecond; or the clock is coarse."""
    boxed = Boxed(PowerLaw(0.5), Delays.seen([multiple] * 100))
    assert 0 < boxed.seconds(100.0) < math.inf
    assert boxed.pulls(boxed.seconds(100.0)) == pytest.approx(100, rel=1e-3)


# Boxed.


@every_scaling
@every_delay
def test_it_rises_and_has_an_inverse(scaling: Scaling, delays: Delays) -> None:
    for wait in (False, True):
        boxed = Boxed(scaling, delays, wait=wait)
        seconds = boxed.seconds(MANY)
        assert (np.diff(seconds) > 0).all()
        assert boxed.pulls(seconds) == pytest.approx(MANY, rel=1e-5)
        for pulls in FEW.tolist():
            assert boxed.whole_pulls(boxed.seconds(pulls)) == pulls
            assert boxed.whole_pulls(0.999 * boxed.seconds(pulls)) < pulls
    assert boxed.whole_pulls(0.0) == 0


@every_scaling
def test_where_durations_are_exact_it_is_lambda(scaling: Scaling) -> None:
    """On pools too, where one pull more than there are cores is a wave more."""
    boxed = Boxed(scaling, EXACT)
    few = np.arange(1.0, 20.0)
    assert boxed.seconds(few) == pytest.approx(scaling.seconds(few), rel=0.02)
    # Beyond, the steps of a pool are smoothed, and matter less and less.
    assert boxed.seconds(MANY) == pytest.approx(scaling.seconds(MANY), rel=0.25)
    assert boxed.seconds(MANY[-4:]) == pytest.approx(scaling.seconds(MANY[-4:]), rel=0.01)
    for pulls in FEW.tolist():
        assert boxed.launch(pulls) == pulls


@every_scaling
@every_delay
def test_it_is_never_slower_than_to_wait(scaling: Scaling, delays: Delays) -> None:
    cut, wait = Boxed(scaling, delays), Boxed(scaling, delays, wait=True)
    assert bool(np.all(cut.seconds(MANY) <= wait.seconds(MANY) * (1 + 1e-6)))


def test_under_heavy_tails_it_is_much_quicker() -> None:
    for scaling, pulls, least in (
        (PowerLaw(0.5), 1000.0, 5.0),
        (SCALINGS["16 cores"], 16.0, 2.0),
    ):
        cut, wait = Boxed(scaling, HEAVY), Boxed(scaling, HEAVY, wait=True)
        assert wait.seconds(pulls) > least * cut.seconds(pulls)


@every_scaling
@every_delay
def test_it_starts_at_least_what_it_needs_and_not_much_more(
    scaling: Scaling, delays: Delays
) -> None:
    boxed = Boxed(scaling, delays)
    for pulls in MANY[:-2].tolist():
        assert pulls <= boxed.launch(pulls) <= 5 * pulls + 1
        assert Boxed(scaling, delays, wait=True).launch(pulls) == pulls
    if scaling.widest < 100:  # once all cores have enough to do, only the last wave is cut off
        assert boxed.launch(1e4) <= 1e4 + scaling.widest
        expected = delays.mean * scaling.seconds(1e4)
        assert boxed.seconds(1e4) == pytest.approx(expected, rel=0.1)


def _back_in_time(cores: int, started: int, seconds: float, rng: np.random.Generator) -> int:
    """How many pulls on one core each are back by then, of a queue that all cores share."""
    free = np.zeros(cores)
    ends = []
    for _ in range(started):
        core = int(np.argmin(free))
        free[core] += rng.choice(_long)
        ends.append(free[core])
    return int(np.count_nonzero(np.array(ends) <= seconds))


@pytest.mark.parametrize("pulls", [8, 16, 24, 100, 600])
def test_about_as_many_are_back_as_were_needed(pulls: int) -> None:
    """Measured: pulls on 16 cores, one in 20 of them 20 times as long as it should be."""
    boxed = Boxed(SCALINGS["16 cores, useless"], HEAVY)
    rng = np.random.default_rng(pulls)
    back = [_back_in_time(16, boxed.launch(pulls), boxed.seconds(pulls), rng) for _ in range(40)]
    # Up to a wave more: what does not fit into one is given the time of another.
    assert 0.85 * pulls <= np.mean(back) <= 1.2 * pulls + 16


def test_equal_parts_make_equal_clocks() -> None:
    one, other = (Boxed(PowerLaw(0.5), Delays.seen([])) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Boxed(PowerLaw(0.5), Delays.seen([]), wait=True)
    assert pickle.loads(pickle.dumps(one)).seconds(5.0) == one.seconds(5.0)
