"""The local engine: what it costs, how well it fills the cores, and whether deadlines hold."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import paceline
from paceline.core.rounds import Results, Round
from paceline.display.table import Table
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races import prepare

_NO_OPS = 400_000
_REPEATS = 3
_DEADLINE_RACES = 50


def no_op(_: int) -> float:
    return 0.0


def spin(arm: int) -> float:
    """50 ms of one core's time, by the CPU clock: on a shared machine it lasts longer."""
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    return float(arm)


def sleep_unevenly(arm: int, *, seed: int) -> float:
    """Durations over three orders of magnitude: a median of 20 ms, now and then a second."""
    rng = random.Random(seed)
    time.sleep(0.02 * rng.lognormvariate(0.0, 1.5))
    return arm + rng.gauss(0.0, 1.0)


def _group(arms: list[int]) -> list[float]:
    return [no_op(arm) for arm in arms]


def bare_rate(size: int) -> float:
    """No-ops a second of an executor of the standard library, in groups of `size`."""
    with ProcessPoolExecutor(2) as executor:
        list(executor.map(no_op, range(4)))  # the processes start here
        began = time.perf_counter()
        groups = [executor.submit(_group, [0] * size) for _ in range(_NO_OPS // size)]
        for group in groups:
            group.result()
        return _NO_OPS / (time.perf_counter() - began)


def dispatcher_for(function: Callable[..., float], cores: int) -> Dispatcher:
    pool = paceline.CorePool(cores, lambda _: 1e-6)
    settings = prepare(function, [0, 1], deadline=1e6, cores=cores, scaling=pool).settings
    engine = settings.engine
    return Dispatcher(
        engine.open(settings.workload(), cores),
        settings.rules,
        Books(arms=2),
        clock=RaceClock(engine.now),
        model=PoolModel(settings.rules, pool),
        largest_group=engine.abilities.group,
    )


def pull(dispatcher: Dispatcher, each: int) -> None:
    """Have `each` pulls of both arms done, as the loop would."""
    left = np.array([each, each])
    while left.any():
        some = np.flatnonzero(left)
        dispatcher.pursue(Round(some, left[some]))
        results = dispatcher.wait(1e6)
        assert isinstance(results, Results)
        left[results.arms] -= results.pulls


def our_rate() -> tuple[float, int]:
    """No-ops a second of ours, and how many it sends at once."""
    dispatcher = dispatcher_for(no_op, 2)
    try:
        pull(dispatcher, 100)  # the workers start here
        began = time.perf_counter()
        pull(dispatcher, _NO_OPS // 2)
        return _NO_OPS / (time.perf_counter() - began), dispatcher.giver.largest
    finally:
        dispatcher.finish()


def share_in_pulls() -> float:
    """Of the time of two cores, what is spent in pulls of 50 ms of CPU time."""
    dispatcher = dispatcher_for(spin, 2)
    try:
        pull(dispatcher, 2)
        before, began = dispatcher.books.core_seconds, time.perf_counter()
        pull(dispatcher, 60)
        seconds = time.perf_counter() - began
        return (dispatcher.books.core_seconds - before) / (2 * seconds)
    finally:
        dispatcher.finish()


def lateness() -> tuple[float, float, float]:
    """By how much races with a deadline end late: worst share of what is allowed, mean, worst."""
    late = []
    used = []
    for number in range(_DEADLINE_RACES):
        deadline = random.Random(number).uniform(0.5, 2.5)
        began = time.perf_counter()
        paceline.race(
            sleep_unevenly, range(8), deadline=deadline, cores=8, seed=number, progress=False
        )
        over = time.perf_counter() - began - deadline
        late.append(over)
        used.append(over / max(1.0, 0.02 * deadline))
    return max(used), float(np.mean(late)), max(late)


def run() -> Table:
    rows: list[tuple[object, ...]] = []
    ratios, rates = [], []
    for _ in range(_REPEATS):
        ours, size = our_rate()
        ratios.append(ours / bare_rate(size))
        rates.append(ours)
    ratio = sorted(ratios)[_REPEATS // 2]
    rows.append((f"no-op pulls a second, {size} a group (median)", sorted(rates)[1], "–"))
    rows.append(("… as a share of concurrent.futures' in the same groups", ratio, "at least 0.8"))
    shares = sorted(share_in_pulls() for _ in range(_REPEATS))
    rows.append(("core time in pulls of 50 ms, 2 cores (median of 3)", shares[1], "at least 0.93"))
    worst, mean, most = lateness()
    rows.append((f"{_DEADLINE_RACES} deadlines: mean lateness in s", mean, "–"))
    rows.append((f"{_DEADLINE_RACES} deadlines: worst lateness in s", most, "–"))
    rows.append(("… as a share of what is promised (2 % or 1 s)", worst, "at most 1"))
    return Table(("what", "measured", "promise"), rows)
