"""Races as users run them: `paceline.race` with its default arguments, the seed among them.

Nothing but the values is fresh. A random number that is fixed for all users, or a place among the
arms that is favoured, shows here and nowhere else: so every arm is the best in its turn.
"""

import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from scipy.stats import binomtest

from benchmarks.inprocess import in_process
from paceline import race
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.result import Result

RACES = 400
CONFIDENCE = 0.95
CAP = 40_000

Evaluate = Callable[..., float]


class Case(NamedTuple):
    """So many arms, one of them better than the others."""

    name: str
    arms: int
    best: float
    others: float
    common: float = 0.0  # the chance that a pull's luck is common to all arms
    cap: int = CAP

    def mean(self, arm: int, place: int) -> float:
        return self.best if arm == place else self.others


def coin(case: Case, place: int, entropy: int) -> Evaluate:
    """Zeros and ones from nobody's seed."""
    rng = random.Random(entropy)
    return lambda arm: float(rng.random() < case.mean(arm, place))


def paired_coin(case: Case, place: int, entropy: int) -> Evaluate:
    """Zeros and ones that follow from the seed and fresh entropy; some luck is common."""

    def evaluate(arm: int, *, seed: int) -> float:
        shared = random.Random(f"{entropy} {seed}")
        own = shared.random() >= case.common
        luck = random.Random(f"{entropy} {seed} {arm}") if own else shared
        return float(luck.random() < case.mean(arm, place))

    return evaluate


COINS = ((0.02, 0.01), (0.1, 0.05), (0.5, 0.45), (0.98, 0.96))
CASES = [Case("0/1", arms, *chances) for arms in (3, 8, 16) for chances in COINS]
CASES += [Case("0/1, paired", arms, *c, common=0.9) for arms in (3, 8, 16) for c in COINS]


def lost(result: Result, place: int) -> bool:
    """Whether the best arm was put out."""
    return place not in (result.chosen if result.decided else result.still_in)


def one(case: Case, number: int) -> bool:
    place, entropy = number % case.arms, random.SystemRandom().getrandbits(64)
    make = paired_coin if case.common else coin
    result = race(
        make(case, place, entropy),
        list(range(case.arms)),
        confidence=CONFIDENCE,
        max_pulls=case.cap,
        engine=in_process(),
        progress=False,
    )
    return lost(result, place)


def p_value(errors: int, races: int) -> float:
    return float(binomtest(errors, races, 1 - CONFIDENCE, alternative="greater").pvalue)


def run(races: int = RACES) -> Table:
    rows: list[tuple[object, ...]] = []
    for case in CASES:
        found = list(spread(partial(one, case), range(races), available_cores().cores))
        errors = sum(found)
        places = [found[place :: case.arms] for place in range(case.arms)]
        worst = min(places, key=lambda place: p_value(sum(place), len(place)))
        rows.append(
            (
                case.name,
                case.arms,
                f"{case.best:g}/{case.others:g}",
                races,
                errors / races,
                p_value(errors, races),
                f"{sum(worst)} of {len(worst)}",
                min(1.0, case.arms * p_value(sum(worst), len(worst))),
            )
        )
    columns = ("values", "arms", "chances", "races", "lost", "p", "at the worst place", "its p × n")
    return Table(columns, rows)
