"""The cells on which `racing` is timed: the paper's 20, and a family fixed before it was tuned."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.problems import Betas
from paceline import Amdahl, Bernoulli, Normal, PowerLaw, Problem, Scaling
from paceline.paper.instances import linear_means

# No two arms tie for the second place: where the best is lost, such a race has no end, and its time
# says nothing.


class Cell(NamedTuple):
    """A problem on a pool."""

    instance: str
    arms: int
    scaling: Scaling
    problem: Problem


PAPER = [
    Cell(f"linear, gap {gap:g}", 16, PowerLaw(q), Bernoulli(linear_means(gap)))
    for q in (0.9, 0.5, 0.25, 0.1)
    for gap in (0.01, 0.03, 0.1, 0.3, 0.5)
]


def _one_ahead(arms: int) -> Problem:
    return Bernoulli(np.r_[0.6, 0.55, 0.53, 0.51, np.linspace(0.5, 0.4, arms - 4)])


def _scattered(arms: int) -> Problem:
    """Uniform means, the best two at least 0.02 apart."""
    means = np.sort(np.random.default_rng(arms).uniform(0.2, 0.8, arms))[::-1].copy()
    means[0] = max(means[0], means[1] + 0.02)
    return Bernoulli(means)


def _clusters(arms: int) -> Problem:
    return Bernoulli(np.r_[0.7, 0.68, 0.66, np.linspace(0.4, 0.3, arms - 3)])


def _rare_failures(arms: int) -> Problem:
    """Means near 1, whose gaps double from arm to arm."""
    return Bernoulli(np.r_[0.95, 0.95 - np.minimum(0.02 * 2.0 ** np.arange(arms - 1), 0.9)])


def _normal(arms: int) -> Problem:
    return Normal(np.r_[0.0, -0.15 * np.sqrt(np.arange(1.0, arms))])


def _skewed(arms: int) -> Problem:
    """Beta rewards with standard deviations of about 0.15."""
    return Betas(np.r_[0.35, np.linspace(0.32, 0.15, arms - 1)])


INSTANCES: dict[str, Callable[[int], Problem]] = {
    "one ahead": _one_ahead,
    "scattered": _scattered,
    "clusters": _clusters,
    "rare failures": _rare_failures,
    "normal": _normal,
    "skewed": _skewed,
}
SCALINGS = (
    PowerLaw(0.7),
    PowerLaw(0.3),
    Amdahl(0.2),
    Amdahl(0.95),
    0.02 * PowerLaw(1.0) + PowerLaw(0.5),
)
FAMILY = [
    Cell(name, arms, scaling, make(arms))
    for name, make in INSTANCES.items()
    for arms in (4, 10, 32, 128)
    for scaling in SCALINGS
]
