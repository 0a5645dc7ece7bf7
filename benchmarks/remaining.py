"""How often the range that a race states for its time left holds the time that it then takes.

After looks of simulated races of the problems of `planning`; the range is meant to hold 80 %.
PACELINE_RACES: how many races of each problem (default 12).
"""

import os
import time

import numpy as np

from benchmarks.planning import Case, cases
from paceline.display.table import Table
from paceline.loop import run as run_loop
from paceline.policies.prospect import Range, foreseen, seconds_left
from paceline.policies.racing import Racing
from paceline.pools.virtual import VirtualRunner

_RACES = int(os.environ.get("PACELINE_RACES", "12"))
_EARLY = 0.1  # of the race: until then hardly anything can be known


def followed(case: Case, seed: int, spent: list[float]) -> list[tuple[float, Range, float]]:
    """After each look of a race: how far it is, the range, and the seconds that were left."""
    world, pool = case.world(), case.pool
    pacer = Racing().start(case.question.task(world, pool, case.confidence, None))
    runner = VirtualRunner(world, pool, np.random.default_rng(seed))
    found: list[tuple[float, Range]] = []

    def look() -> None:
        if found and runner.now() < 1.1 * found[-1][0]:
            return
        began = time.perf_counter()
        left = foreseen(pacer)
        spent.append(time.perf_counter() - began)
        if left is not None:
            now = runner.now()
            found.append((now, seconds_left(left, pool, elapsed=now, pulls=runner.pulls)))

    total = run_loop(pacer, runner, on_results=look).seconds
    return [(now / total, span, total - now) for now, span in found if now < total]


def run() -> Table:
    """A row per problem with a confidence: for all looks, and for those after a tenth of a race."""
    rows: list[list[object]] = []
    everything: list[tuple[float, Range, float]] = []
    spent: list[float] = []
    for case in cases():
        if case.confidence is None:
            continue
        looks = [one for seed in range(_RACES) for one in followed(case, seed, spent)]
        everything += looks
        rows.append([case.name, *_held(looks)])
    rows.append(["all", *_held(everything)])
    rows.append(["ms per forecast", 1000 * float(np.mean(spent)), "", "", "", ""])
    return Table(("problem", "holds", "after 10 %", "shorter", "longer", "median / real"), rows)


def _held(looks: list[tuple[float, Range, float]]) -> list[object]:
    done = np.array([one[0] for one in looks])
    low, median, high = np.array([one[1] for one in looks]).T
    real = np.array([one[2] for one in looks])
    late = done > _EARLY
    held = (low <= real) & (real <= high)
    shares = (held, held[late], (real < low)[late], (real > high)[late])
    ratio = float(np.median(median[late] / real[late]))
    return [*(f"{np.mean(share):.2f}" for share in shares), f"{ratio:.2f}"]
