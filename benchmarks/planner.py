"""The planner of `staged`: its bottlenecks beside those of SSH, and how long it takes."""

import math
import time
from collections.abc import Callable

import numpy as np

from paceline import Amdahl, CorePool, Ernest, Measured, PowerLaw, Scaling
from paceline.core.arrays import MOST_PULLS_PER_ARM
from paceline.core.delays import Boxed, Delays
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.theory import bottleneck, chain_sizes, plan_chain, stage_count
from paceline.theory.raceplan import floor_of

PLANS = 10_000
SEED = 20
_REPEATS = 5
_LATER = 0.97  # of the time left is left, when a stage took longer than planned


def _power(rng: np.random.Generator, unit: float) -> Scaling:
    return PowerLaw(rng.uniform(0.05, 1.0), unit)


def _amdahl(rng: np.random.Generator, unit: float) -> Scaling:
    return Amdahl(rng.uniform(0.0, 0.99), rng.uniform(0.0, 0.9), unit)


def _ernest(rng: np.random.Generator, unit: float) -> Scaling:
    fixed, parallel, log, linear = (unit * rng.random(4) * (1, 10, 0.2, 0.01)).tolist()
    return Ernest(fixed, parallel, log, linear, cores=float(rng.integers(1, 257)))


def _measured(rng: np.random.Generator, unit: float) -> Scaling:
    pulls = np.unique(np.rint(10 ** np.r_[0.0, 5.0, rng.uniform(0.0, 5.0, 6)]))
    noise = np.exp(0.1 * rng.normal(size=pulls.size))
    return Measured(pulls, unit * pulls ** rng.uniform(0.2, 1.0) * noise)


def _pool(rng: np.random.Generator, unit: float) -> Scaling:
    exponent = rng.uniform(0.05, 1.0)
    return CorePool(int(2 ** rng.uniform(0.0, 8.0)), lambda cores: unit * cores**-exponent)


def _sum(rng: np.random.Generator, unit: float) -> Scaling:
    return rng.uniform(0.001, 1.0) * _power(rng, unit) + _amdahl(rng, unit)


KINDS: dict[str, Callable[[np.random.Generator, float], Scaling]] = {
    "power law": _power,
    "Amdahl": _amdahl,
    "Ernest": _ernest,
    "measured": _measured,
    "pool of cores": _pool,
    "sum": _sum,
}


def ratios(number: int) -> tuple[float, float]:
    """The bottleneck of a random plan over that of SSH, for the best k, and over SH's."""
    rng = np.random.default_rng([SEED, number])
    scaling = list(KINDS.values())[number % len(KINDS)](rng, float(10 ** rng.uniform(-3.0, 3.0)))
    arms = round(math.exp(rng.uniform(math.log(2), math.log(1e5))))
    seconds = scaling.seconds(float(arms)) * float(10 ** rng.uniform(0.0, 4.0))
    chain = plan_chain(arms, scaling, seconds)
    if chain is None or chain.total_seconds > seconds * (1 + 1e-9):
        raise RuntimeError(f"no plan, or a late one: {arms} arms, {scaling}, {seconds} s, {chain}")
    most = MOST_PULLS_PER_ARM // arms
    theirs = [
        min(bottleneck(arms, k, seconds, scaling), most) for k in range(1, stage_count(arms, 1) + 1)
    ]
    ours = chain.bottleneck
    return ours / max(theirs), ours / theirs[0] if theirs[0] else math.inf


def _milliseconds(work: Callable[[Scaling], object], make: Callable[[], Scaling]) -> list[float]:
    """Times of some work and of making its scaling: after a fit it is a new one."""
    make()  # what it imports is no part of it
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        work(make())
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)


def _pool_of_64() -> Scaling:
    return CorePool(64, lambda cores: float(cores**-0.5))


TIMED: dict[str, Callable[[], Scaling]] = {
    "power law": lambda: PowerLaw(0.5),
    "measured": lambda: Measured([1, 4, 16, 64, 256], [1, 2.2, 5, 11, 40]),
    "64 cores": _pool_of_64,
    "64 cores, times vary": lambda: Boxed(_pool_of_64(), Delays.seen([])),
}


def _plan_a_million(scaling: Scaling) -> None:
    plan_chain(1_000_000, scaling, 50 * scaling.seconds(1e6))


def _replanning(make: Callable[[], Scaling]) -> Callable[[Scaling], object]:
    """What follows the first stage of a race of 10,000 arms that is late."""
    clock, arms = make(), 10_000
    seconds = 50 * clock.seconds(float(arms))
    chain, sizes = plan_chain(arms, clock, seconds), chain_sizes(arms)
    assert chain is not None
    floor, left = floor_of(chain, clock, seconds), _LATER * (seconds - chain.seconds[0])
    return lambda scaling: plan_chain(
        chain.sizes[1],
        scaling,
        left,
        pulls=chain.pulls[1],
        floor=floor,
        sizes=sizes,
        tolerance=1e-3,
        guess=float(chain.bottleneck),
    )


def run() -> Table:
    found = list(spread(ratios, range(PLANS), available_cores().cores))
    rows: list[tuple[object, ...]] = []
    for place, kind in enumerate(KINDS):
        to_best, to_halving = np.array(found[place :: len(KINDS)]).T
        typical = float(np.exp(np.log(to_best).mean()))
        rows.append((f"× SSH's bottleneck: {kind}", to_best.size, to_best.min(), typical, "≥ 1"))
        worst, typical = to_halving.min(), float(np.median(to_halving))
        rows.append((f"× SH's bottleneck: {kind}", to_halving.size, worst, typical, "≥ 1"))
    for kind, make in TIMED.items():
        times = _milliseconds(_plan_a_million, make)
        middle = times[len(times) // 2]
        rows.append((f"ms, plan of 10⁶ arms: {kind}", len(times), times[-1], middle, "1000"))
        times = _milliseconds(_replanning(make), make)
        middle = times[len(times) // 2]
        rows.append((f"ms, stage of 10⁴ arms: {kind}", len(times), times[-1], middle, "50"))
    return Table(("what", "cases", "worst", "typical", "promise"), rows)
