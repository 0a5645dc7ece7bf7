"""What happens where values are not as assumed: by default, normal and independent.

Each race compares the plain t test with what is used, on the same values, cell by cell and up to a
cap: how often the best arm is put out, and, where nothing is wrong, how many more pulls it takes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Bools, Floats
from paceline.core.doubts import find_doubts
from paceline.core.evidence.group_sequential import GroupSequential
from paceline.core.evidence.opponents import Opponents
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Results
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread

RUNS = 1000
DELTA = 0.05
CAP = 400  # pulls of an arm
NORMAL = NormalNoise()

Draw = Callable[[np.random.Generator, int], Floats]  # so many values of an arm
Source = Callable[[np.random.Generator, int], Floats]  # so many of each arm, a row per arm


class PlainStudent(Student):
    """The t test as it was: no memory, no patience."""

    weigh = GroupSequential.weigh

    def too_early(self, fresh: Results, opponents: Opponents) -> Bools:
        return GroupSequential.too_early(self, fresh, opponents)


class PlainPairedStudent(PairedStudent):
    """The same for pairs."""

    weigh = GroupSequential.weigh

    def too_early(self, fresh: Results, opponents: Opponents) -> Bools:
        return GroupSequential.too_early(self, fresh, opponents)


class Case(NamedTuple):
    """Arms of which the first is the best."""

    name: str
    arms: int
    source: Source
    price: bool = False  # whether nothing is wrong: then pulls are counted, not errors


def normal(mean: float, sigma: float) -> Draw:
    return lambda rng, pulls: rng.normal(mean, sigma, pulls)


def exponential(mean: float, shift: float = 0.0) -> Draw:
    return lambda rng, pulls: shift + rng.exponential(mean, pulls)


def log_normal(sigma: float, shift: float = 0.0) -> Draw:
    return lambda rng, pulls: shift + rng.lognormal(0.0, sigma, pulls)


def coins(chance: float, prize: float = 1.0) -> Draw:
    return lambda rng, pulls: np.where(rng.random(pulls) < chance, prize, 0.0)


def levels(zero: float) -> Draw:
    """Mostly 1, sometimes ½, and 0 with this chance."""
    return lambda rng, pulls: rng.choice([0.0, 0.5, 1.0], pulls, p=[zero, 0.1, 0.9 - zero])


def case(name: str, draws: Sequence[Draw], *, price: bool = False) -> Case:
    def source(rng: np.random.Generator, pulls: int) -> Floats:
        return np.array([draw(rng, pulls) for draw in draws])

    return Case(name, len(draws), source, price)


def _autocorrelated(rng: np.random.Generator, length: int, phi: float) -> Floats:
    """Mean 0, variance 1, and a correlation of φ with the one before."""
    values = rng.standard_normal(length)
    for place in range(1, length):
        values[place] = phi * values[place - 1] + (1 - phi**2) ** 0.5 * values[place]
    return values


def drifting(turn: int, arms: int = 4, phi: float = 0.9) -> Case:
    """All arms on one machine, whose slow changes are half of the variance; arms take turns."""

    def source(rng: np.random.Generator, pulls: int) -> Floats:
        machine = _autocorrelated(rng, arms * pulls, phi)
        values = rng.standard_normal((arms, pulls))
        given = np.zeros(arms, dtype=np.int64)
        # Turns of one pull go forth and back, as they do in a race.
        order = [*range(arms), *reversed(range(arms))] if turn == 1 else [*range(arms)]
        moment = 0
        for arm in islice(cycle(order), None):
            for _ in range(min(turn, pulls - int(given[arm]))):
                values[arm, given[arm]] += machine[moment]
                given[arm] += 1
                moment += 1
            if moment == arms * pulls:
                break
        return values + np.where(np.arange(arms) == 0, 0.02, 0.0)[:, None]

    pulled = "pull by pull" if turn == 1 else f"in turns of {turn} pulls"
    return Case(f"a drifting machine, arms {pulled}", arms, source)


def dependent(phi: float, arms: int = 2) -> Case:
    def source(rng: np.random.Generator, pulls: int) -> Floats:
        rows = [_autocorrelated(rng, pulls, phi) for _ in range(arms)]
        return np.array(rows) + np.where(np.arange(arms) == 0, 0.02, 0.0)[:, None]

    return Case(f"each pull like the arm's last one, φ = {phi:g}", arms, source)


MEAN = float(np.exp(0.5))  # of a log-normal distribution with σ = 1
CASES = [
    case("exponential, a quiet rival", [exponential(1.0), normal(0.95, 0.05)]),
    case("log-normal(1), a quiet rival", [log_normal(1.0), normal(0.96 * MEAN, 0.11)]),
    case("a rival with rare losses", [normal(0.0, 0.2), lambda r, n: 1 - r.exponential(1.05, n)]),
    case(
        "jackpot of 100 with chance 0.02, quiet rivals",
        [coins(0.02, 100.0), *(normal(mean, 0.1) for mean in np.linspace(0.5, 1.5, 7))],
    ),
    case("0/1 with 0.03 among 15 normal", [coins(0.03), *[normal(0.025, 0.02)] * 15]),
    case("all exponential", [exponential(1.0), *[exponential(1.0, -0.02)] * 3]),
    case("all log-normal(1.5)", [log_normal(1.5), *[log_normal(1.5, -0.02)] * 3]),
    case("all of levels 0, ½, 1", [levels(0.05), *[levels(0.06)] * 3]),
    case("all normal, near ties", [normal(0.02, 1.0), *[normal(0.0, 1.0)] * 7]),
    drifting(16),
    drifting(4),
    drifting(1),
    dependent(0.3),
    dependent(0.6),
    case("normal, 2 arms, 1 σ apart", [normal(1, 1), normal(0, 1)], price=True),
    case("normal, 2 arms, 2 σ apart", [normal(2, 1), normal(0, 1)], price=True),
    case("normal, 8 arms, 0.5 σ apart", [normal(0.5, 1), *[normal(0, 1)] * 7], price=True),
    case("normal, 8 arms, 1 σ apart", [normal(1, 1), *[normal(0, 1)] * 7], price=True),
    case("normal, 8 arms, 2 σ apart", [normal(2, 1), *[normal(0, 1)] * 7], price=True),
    case("log-normal, 8 arms", [log_normal(1.0, 1.0), *[log_normal(1.0)] * 7], price=True),
]


class Ended(NamedTuple):
    lost: bool
    pulls: int
    warned: bool


def play(evidence: GroupSequential, values: Floats) -> Ended:
    """Tell the evidence the values, as far as they reach."""
    pulls, paired = 0, isinstance(evidence, PairedStudent)
    while evidence.alive.size > 1 and evidence.alive[0] == 0:
        if evidence.next_look() > values.shape[1]:
            break
        alive = evidence.alive
        cell = values[alive, evidence.depth : evidence.next_look()]
        apart = cell - cell.mean(axis=1, keepdims=True)
        size = np.full(alive.size, cell.shape[1])
        pulls += int(size.sum())
        evidence.take(
            Results(
                alive,
                size,
                cell.sum(axis=1),
                (cell**2).sum(axis=1),
                (apart**2).sum(axis=1),
                cell if paired else None,
                cubes=(apart**3).sum(axis=1),
            )
        )
    seen = [row[: evidence.depth] for row in values]
    return Ended(bool(evidence.alive[0] != 0), pulls, bool(find_doubts(seen, NORMAL)))


def one(number: int, run: int) -> tuple[Ended, ...]:
    """Before and after, unpaired and paired."""
    what = CASES[number]
    rng = np.random.default_rng((31, number, run))
    values = what.source(rng, 5 * CAP if what.price else CAP)
    kinds = (PlainStudent, Student, PlainPairedStudent, PairedStudent)
    return tuple(play(kind(what.arms, DELTA), values) for kind in kinds)


def run(runs: int = RUNS) -> Table:
    rows: list[tuple[object, ...]] = []
    for number, what in enumerate(CASES):
        ended = list(spread(partial(one, number), range(runs), available_cores().cores))
        lost = [np.mean([race[kind].lost for race in ended]) for kind in range(4)]
        pulls = [np.mean([race[kind].pulls for race in ended]) for kind in range(4)]
        warned = np.mean([race[1].warned for race in ended])
        shown: list[object] = [*lost] if not what.price else ["", "", "", ""]
        prices = [pulls[1] / pulls[0], pulls[3] / pulls[2]] if what.price else ["", ""]
        rows.append((what.name, *shown, *prices, warned))
    columns = (
        "values",
        "lost: t",
        "now",
        "paired: t",
        "now ",
        "pulls",
        "paired",
        "warned",
    )
    return Table(columns, rows)
