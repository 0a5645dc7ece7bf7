"""How well real races of pulls that sleep use 40 logical cores, really timed.

Pulls take 0.2 s on one core and less on more, by the square root of the cores; their times vary.
What counts is the time from the end of the first wave on: before, workers start.
"""

import random
import time

import numpy as np

import paceline
from paceline.display.table import Table
from paceline.story.timeline import USES

_CORES = 40
_SECONDS = 0.2
_ARMS = 16
_RACES = 3
_STRAGGLERS, _TIMES_AS_LONG = 0.02, 10.0
_PROMISE = 0.9

# How log-normal the times are, and whether some pulls are stragglers.
CASES = {"constant": (0.0, False), "log-normal 0.8": (0.8, False), "0.8, stragglers": (0.8, True)}


class Sleeper:
    """A pull that sleeps, as the machine has it: its seed says nothing about its time."""

    def __init__(self, sigma: float, stragglers: bool) -> None:
        self.sigma = sigma
        self.stragglers = stragglers

    def __call__(self, arm: float, *, seed: int, cores: int) -> float:
        chance = random.Random(time.time_ns())
        times = chance.lognormvariate(0.0, self.sigma) if self.sigma else 1.0
        if self.stragglers and chance.random() < _STRAGGLERS:
            times *= _TIMES_AS_LONG
        time.sleep(_SECONDS * times / cores**0.5)
        return arm + random.Random(seed).gauss(0.0, 1.0)


def in_use(result: paceline.Result) -> float:
    """The share of the cores in use after every arm had its first value."""
    line = result.timeline
    begin = max(span.end for span in line if span.first == 0)
    pulls = np.isin(line.use, [USES.index("starting")], invert=True)
    seconds = np.maximum(0.0, line.end - np.maximum(line.start, begin))[pulls]
    return float(line.cores[pulls] @ seconds / (result.cores * (result.elapsed - begin)))


def run() -> Table:
    """The share in use, and where the rest of the time went."""
    rows: list[tuple[object, ...]] = []
    arms = [0.0, *(-np.linspace(0.15, 1.0, _ARMS - 1)).tolist()]
    for name, (sigma, stragglers) in CASES.items():
        shares, last = [], None
        for seed in range(_RACES):
            last = paceline.race(
                Sleeper(sigma, stragglers),
                arms,
                cores=_CORES,
                seed=seed,
                paired=False,
                progress=False,
            )
            shares.append(in_use(last))
        assert last is not None
        spent = f"{last.elapsed:.1f} s: {last.core_time.describe()}"
        rows.append((name, float(np.mean(shares)), min(shares), f"at least {_PROMISE}", spent))
    return Table(("times of pulls", "in use", "worst", "promise", "the last race in all"), rows)
