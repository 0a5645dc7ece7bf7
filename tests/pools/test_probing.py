"""Which pulls run on other numbers of cores than planned, and how long that is waited for."""

import math

from paceline.engines.jobs import Run
from paceline.pools.probing import Probing
from paceline.pools.timekeeping import Timekeeper


def known(**seconds: float) -> Timekeeper:
    """Ten pulls of one second on one core, and what else is said."""
    times = Timekeeper(arms=1)
    times.take(1, [Run(0, 0, 10)], [1.0] * 10)
    for cores, took in seconds.items():
        times.take(int(cores[1:]), [Run(0, 10, 1)], [took])
    return times


def test_one_that_does_not_fit_is_given_up_after_some_pulls_time() -> None:
    time = [0.0]
    probing = Probing(known(), lambda: time[0])
    probing.begin([8])
    assert not probing.fits(free=4)
    assert probing.next_moment() == 3.0
    time[0] = 2.9
    assert not probing.fits(free=4)
    assert probing
    time[0] = 3.0
    assert not probing.fits(free=4)
    assert not probing


def test_one_that_fits_at_last_is_not_given_up() -> None:
    time = [0.0]
    probing = Probing(known(), lambda: time[0])
    probing.begin([8])
    assert not probing.fits(free=4)
    time[0] = 100.0  # nothing was heard for long, and then everything ended at once
    assert probing.fits(free=8)


def test_a_profile_waits_for_ever() -> None:
    time = [0.0]
    probing = Probing(Timekeeper(arms=1), lambda: time[0])
    probing.begin([8], patience=math.inf)
    assert not probing.fits(free=4)
    assert probing.next_moment() == math.inf
    time[0] = 1e9
    assert probing.fits(free=8)
    assert probing.take(free=8) == 8


def test_it_looks_again_at_what_was_seldom_tried_when_that_is_cheap() -> None:
    probing = Probing(known(c4=0.5), lambda: 0.0)
    probing.look_again([8, 4, 1], core_seconds=399.0)
    assert not probing, "8 cores for a second are more than 2 % of that"
    probing.look_again([8, 4, 1], core_seconds=400.0)
    assert probing.take(free=8) == 8
    probing.look_again([8, 4, 1], core_seconds=500.0)
    assert not probing, "what was spent before counts"
    probing.look_again([8, 4, 1], core_seconds=800.0)
    assert probing.fits(free=8)
