"""An interval that holds at all times is tested by counting the races in which it ever fails.

As in test_guarantee.py a test fails when that would be a chance of less than one in a million, and
the control, the same interval at half its width around the mean, must be caught.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from paceline.core.arrays import Floats
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.tally import Tally
from tests.statistical.test_guarantee import refutes

ALPHA = 0.2
RUNS = 2000
# Every pull at first, then every 5% of them.
LOOKS = np.unique(np.concatenate([np.arange(30), 30 * 1.05 ** np.arange(100)]).astype(int)).tolist()

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def coins(p: float) -> Draw:
    return lambda rng, shape: (rng.random(shape) < p).astype(float)


UNIT = BoundedNoise(bounds=(0.0, 1.0))
CASES: dict[str, tuple[Draw, float, Noise]] = {
    "even coins": (coins(0.5), 0.5, BERNOULLI),
    "rare ones": (coins(0.02), 0.02, BERNOULLI),
    "rare ones, negated": (lambda rng, n: -coins(0.02)(rng, n), -0.02, BERNOULLI.negated()),
    "skewed": (lambda rng, shape: rng.beta(0.5, 5, shape), 1 / 11, UNIT),
    "two values": (coins(0.1), 0.1, UNIT),
    "two values, high": (lambda rng, n: 1 - 0.5 * coins(0.1)(rng, n), 0.95, UNIT),
    "normal": (lambda rng, shape: rng.normal(3, 2, shape), 3.0, NormalNoise(sigma=2.0)),
    "signs": (lambda rng, n: 2 * coins(0.5)(rng, n) - 1, 0.0, SubgaussianNoise(sigma=1.0)),
    "unknown variance": (lambda rng, shape: rng.normal(3, 2, shape), 3.0, NormalNoise()),
}


def failures(draw: Draw, mean: float, noise: Noise, shrunk: float = 1.0) -> int:
    """How many of RUNS sequences have an interval without the mean, at any of the looks."""
    rng = np.random.default_rng(7)
    tally, wrong = Tally.empty(RUNS), np.zeros(RUNS, dtype=bool)
    for before, now in pairwise(LOOKS):
        values = draw(rng, (RUNS, now - before))
        tally.pulls += now - before
        tally.sums += values.sum(axis=1)
        tally.squares += (values**2).sum(axis=1)
        low, high = noise.intervals(tally, ALPHA)
        middle = tally.sums / tally.pulls
        wrong |= mean < middle - shrunk * (middle - low)
        wrong |= mean > middle + shrunk * (high - middle)
    return int(wrong.sum())


@pytest.mark.parametrize("case", CASES)
def test_an_interval_fails_no_more_often_than_alpha_at_any_time(case: str) -> None:
    assert not refutes(failures(*CASES[case]), RUNS, ALPHA)


@pytest.mark.parametrize("case", CASES)
def test_control_half_the_width_is_caught(case: str) -> None:
    assert refutes(failures(*CASES[case], shrunk=0.5), RUNS, ALPHA)
