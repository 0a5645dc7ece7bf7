"""The cells on which policies for a deadline are timed: a table's 30, and a family beside it.

The family was fixed before anything was tuned on it. Every replication has a problem of its own,
the same for all policies: means are drawn anew or, where they are fixed, dealt to the arms anew.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.problems import Betas
from paceline import Amdahl, Bernoulli, CorePool, Normal, PowerLaw, Problem, Scaling
from paceline.core.arrays import Floats
from paceline.paper.instances import uniform_means

SEED = 11


class Cell(NamedTuple):
    """Problems on a pool: `problem` makes that of a replication."""

    instance: str
    arms: int
    scaling: Scaling
    problem: Callable[[int], Problem]

    def __str__(self) -> str:
        return f"{self.instance}, n={self.arms}, {self.scaling}"


Draw = Callable[[int, np.random.Generator], Floats]


def _generator(replication: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(4, replication)))


def _joined(best: float, *others: Floats) -> Floats:
    return np.concatenate([[best], *others])


def _shuffled(means: Floats, rng: np.random.Generator) -> Floats:
    return means[rng.permutation(means.size)]


def _drawn(rewards: Callable[[Floats], Problem], draw: Draw, arms: int, number: int) -> Problem:
    return rewards(draw(arms, _generator(number)))


def _dealt(rewards: Callable[[Floats], Problem], means: Floats, number: int) -> Problem:
    return rewards(_shuffled(means, _generator(number)))


# The table.


def _uniform(arms: int, number: int) -> Problem:
    return Bernoulli(uniform_means(arms, SEED, number))


def _one_good(arms: int) -> Floats:
    return _joined(0.5, np.full(arms - 1, 0.3))


def _polynomial(exponent: float, arms: int) -> Floats:
    """The best at 0.5 and Δ_i = 0.5 (i/n)^exponent, so that the last is at 0.

    With gaps up to 0.8, exponent 0.25 and q = 0.9, SSH's first stage has one pull of each arm at
    T90 (about 5700 s): the rounding of pulls to whole numbers would be measured.
    """
    return _joined(0.5, 0.5 - 0.5 * (np.arange(2.0, arms + 1) / arms) ** exponent)


def _clusters(arms: int) -> Floats:
    """The best 0.03 ahead of seven others; then a 16th, 5 16ths and the rest, each 0.02 wide."""
    near, middle = arms // 16, 5 * arms // 16
    return _joined(
        0.8,
        np.full(7, 0.77),
        np.linspace(0.66, 0.64, near),
        np.linspace(0.46, 0.44, middle),
        np.linspace(0.26, 0.24, arms - 8 - near - middle),
    )


def _beta(arms: int, rng: np.random.Generator) -> Floats:
    return rng.beta(2.0, 5.0, arms)


_ROWS: list[tuple[str, int, Callable[[int], Problem]]] = [
    *(("uniform", arms, partial(_uniform, arms)) for arms in (1024, 100, 100_000)),
    *(
        (name, arms, partial(_dealt, Bernoulli, means(arms)))
        for name, arms, means in (
            ("one good arm", 1024, _one_good),
            ("gaps i^0.25", 1024, partial(_polynomial, 0.25)),
            ("gaps i^0.5", 1024, partial(_polynomial, 0.5)),
            ("gaps i", 1024, partial(_polynomial, 1.0)),
        )
    ),
    ("Beta(2, 5)", 1024, partial(_drawn, Bernoulli, _beta, 1024)),
    ("clusters", 1024, partial(_dealt, Bernoulli, _clusters(1024))),
    ("gaps i^0.75", 300, partial(_dealt, Bernoulli, _polynomial(0.75, 300))),
]
TABLE = [
    Cell(name, arms, PowerLaw(q), problem)
    for name, arms, problem in _ROWS
    for q in (0.25, 0.5, 0.9)
]


# The family.


@dataclass(frozen=True)
class LinearAndRoot(Scaling):
    """λ(m) = linear·m + √m. As a `Sum` it would be inverted by bisection, at 60 ms a race."""

    linear: float

    def _seconds(self, pulls: Floats) -> Floats:
        return self.linear * pulls + np.sqrt(pulls)

    def _pulls(self, seconds: Floats) -> Floats:
        root: Floats = 2 * seconds / (1 + np.sqrt(1 + 4 * self.linear * seconds))
        return root**2


def _two_groups(arms: int, rng: np.random.Generator) -> Floats:
    """A tenth of the arms 0.1 below the best, the others 0.3 below it."""
    good = arms // 10
    return _shuffled(_joined(0.7, np.full(good, 0.6), np.full(arms - 1 - good, 0.4)), rng)


def _geometric(arms: int, rng: np.random.Generator) -> Floats:
    """Gaps that grow by a quarter from arm to arm, from 0.03 up to 0.8."""
    gaps = np.minimum(0.03 * 1.25 ** np.minimum(np.arange(arms - 1.0), 100.0), 0.8)
    return _shuffled(_joined(0.9, 0.9 - gaps), rng)


def _gaussian(arms: int, rng: np.random.Generator) -> Floats:
    return rng.standard_normal(arms)


def _narrow(arms: int, rng: np.random.Generator) -> Floats:
    """A band in which the best is at least 0.02 ahead."""
    means = rng.uniform(0.4, 0.58, arms)
    means[rng.integers(arms)] = 0.6
    return means


def _rare(arms: int, rng: np.random.Generator) -> Floats:
    means = rng.uniform(0.005, 0.035, arms)
    means[rng.integers(arms)] = 0.05
    return means


def _skewed(arms: int, rng: np.random.Generator) -> Floats:
    """Beta rewards with standard deviations of about 0.15."""
    return _shuffled(_joined(0.4, np.linspace(0.35, 0.1, arms - 1)), rng)


_SIZES = (30, 200, 2000)
_FEWER = (20, 60, 200)  # Beta rewards are drawn one by one
_INSTANCES: list[tuple[str, Callable[[Floats], Problem], Draw, tuple[int, ...]]] = [
    ("two groups", Bernoulli, _two_groups, _SIZES),
    ("geometric gaps", Bernoulli, _geometric, _SIZES),
    ("normal", Normal, _gaussian, _SIZES),
    ("narrow band", Bernoulli, _narrow, _SIZES),
    ("rare successes", Bernoulli, _rare, _SIZES),
    ("skewed", Betas, _skewed, _FEWER),
]
_SCALINGS = (
    PowerLaw(0.35),
    PowerLaw(0.7),
    Amdahl(0.2),
    CorePool(64, lambda cores: cores**-0.5),
    LinearAndRoot(0.02),
)
FAMILY = [
    Cell(name, arms, scaling, partial(_drawn, rewards, draw, arms))
    for row, (name, rewards, draw, sizes) in enumerate(_INSTANCES)
    for column, scaling in enumerate(_SCALINGS)
    for arms in [sizes[(row + column) % len(sizes)]]  # every size in every row, not every pair
]
