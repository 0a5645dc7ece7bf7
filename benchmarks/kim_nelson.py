"""Kim and Nelson's procedure (ACM TOMACS 11, 2001), with c = 1, as its paper has it.

It promises the best arm if no other is within ε of it. Of arms that are closer it promises nothing,
so it may let them put each other out; `racing` promises an arm within ε of the best, always.
"""

import numpy as np

from paceline import Problem
from paceline.core.arrays import Floats, Ints

FIRST = 20  # n0
_BLOCK = 250  # pulls drawn at once; only those before an arm falls are counted


def kim_nelson(
    problem: Problem, tolerance: float, alpha: float, rng: np.random.Generator, *, paired: bool
) -> tuple[int, int]:
    """The arm chosen, and how many pulls it took."""
    alive: Ints = np.arange(problem.arms)
    first = _values(problem, alive, FIRST, rng, paired=paired)
    eta = 0.5 * ((2 * alpha / (problem.arms - 1)) ** (-2 / (FIRST - 1)) - 1)
    rest = first - first.mean(axis=1, keepdims=True)
    products = rest @ rest.T / (FIRST - 1)
    own = np.diag(products)
    noise = np.maximum(own[:, None] + own - 2 * products, 0.0)  # of differences
    reach = 2 * eta * (FIRST - 1) * noise / tolerance**2  # h² S²/ε²
    sums, pulls, spent = first.sum(axis=1), FIRST, first.size
    block, used = np.zeros((problem.arms, 0)), 0
    while True:
        width = 0.5 * tolerance * np.maximum(reach[np.ix_(alive, alive)] - pulls, 0.0)
        ahead = sums[alive][None] - sums[alive][:, None]  # of column over row
        alive = alive[~(ahead > width).any(axis=1)]
        if alive.size == 1 or pulls > reach[np.ix_(alive, alive)].max():
            return int(alive[np.argmax(sums[alive])]), spent
        if used == block.shape[1]:
            block, used = np.zeros((problem.arms, _BLOCK)), 0
            block[alive] = _values(problem, alive, _BLOCK, rng, paired=paired)
        sums[alive] += block[alive, used]
        used, pulls, spent = used + 1, pulls + 1, spent + alive.size


def _values(
    problem: Problem, arms: Ints, pulls: int, rng: np.random.Generator, *, paired: bool
) -> Floats:
    if paired:
        return problem.draw_each(arms, pulls, 0, rng)
    return np.vstack([problem.draw_each(np.array([arm]), pulls, 0, rng) for arm in arms.tolist()])
