"""Which pulls run on other numbers of cores than planned, and how long that is waited for."""

import math

import paceline
from paceline.engines.jobs import Job, Run
from paceline.engines.simulated import Outcome, SimulatedEngine
from paceline.engines.workload import Workload
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


def test_one_that_waits_is_given_up_while_no_core_is_free() -> None:
    """Else nothing would be waited for any more: its moment had passed, and nobody asked it."""
    slow = (0, 3, 4)

    def play(workload: Workload, job: Job, arm: int, number: int) -> Outcome:
        times = 10.0 if arm in slow else 1.0
        return 0.2 * times / job.cores**0.5, float(workload.call(arm, number, job.cores))

    def evaluate(arm: int, *, seed: int) -> float:
        return arm + seed % 1000 / 1000

    engine = SimulatedEngine(8, script=play)
    asked = [0]
    now = engine.now

    def counted() -> float:
        asked[0] += 1
        assert asked[0] < 100_000, "time stands still"
        return now()

    engine.now = counted  # type: ignore[method-assign]
    result = paceline.race(evaluate, range(8), engine=engine, progress=False)
    assert result.index == 7
