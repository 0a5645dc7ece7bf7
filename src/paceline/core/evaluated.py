"""A user's function as a problem in virtual time: every reward is computed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paceline.core.arguments import takes
from paceline.core.arrays import Floats, Ints, positive
from paceline.core.problem import Problem, at_least_two, checked_means
from paceline.core.seeds import pull_seed
from paceline.errors import InvalidInput


class Evaluated(Problem):
    """Rewards from a user's function: each pull calls `evaluate(arm)` or `evaluate(arm, seed=…)`.

    The seed of an arm's k-th pull is the same whatever the policy or the order of completion.
    Give the true `means`, if you know them, to have the answers judged.

    >>> def evaluate(arm, *, seed):
    ...     return arm + np.random.default_rng(seed).normal()
    >>> Evaluated(evaluate, arms=[0.0, 1.0], sigma=1.0, means=[0.0, 1.0]).arms
    2
    """

    numbered = True

    def __init__(
        self,
        evaluate: Callable[..., float],
        arms: Sequence[Any],
        sigma: float,
        means: Any = None,
    ) -> None:
        if not callable(evaluate):
            raise InvalidInput(
                f"evaluate must be a function of an arm and a seed, got {evaluate!r}"
            )
        self.evaluate = evaluate
        self.takes_seed = takes(evaluate, "seed")
        self.candidates = list(arms)
        self.arms = at_least_two(len(self.candidates))
        self.means = None if means is None else checked_means(means)
        if self.means is not None and self.means.size != self.arms:
            raise InvalidInput(f"{self.arms} arms but {self.means.size} means: give one per arm")
        self.sigma = positive(sigma, "sigma")

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Evaluate every pull. Only the race's seed is taken from the generator."""
        race_seed = _race_seed(rng)
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for i, arm in enumerate(arms.tolist()):
            for k in range(int(first[i]), int(first[i] + pulls[i])):
                reward = self._pull(arm, pull_seed(race_seed, arm, k))
                sums[i] += reward
                squares[i] += reward**2
        return sums, squares

    def draw_each(self, arms: Ints, pulls: int, first: int, rng: np.random.Generator) -> Floats:
        """Evaluate every arm with the same seeds."""
        race_seed = _race_seed(rng)
        seeds = [pull_seed(race_seed, 0, k, paired=True) for k in range(first, first + pulls)]
        rows = [[self._pull(arm, seed) for seed in seeds] for arm in arms.tolist()]
        return np.array(rows, dtype=np.float64)

    def _pull(self, arm: int, seed: int) -> float:
        candidate = self.candidates[arm]
        given = self.evaluate(candidate, seed=seed) if self.takes_seed else self.evaluate(candidate)
        try:
            reward = float(given)
        except (TypeError, ValueError):
            reward = np.nan
        if not np.isfinite(reward):
            raise InvalidInput(
                f"evaluate gave {given!r} for arm {arm} ({candidate!r}) with seed {seed}: "
                "it must give a finite number"
            )
        return reward


def _race_seed(rng: np.random.Generator) -> int:
    """The seed from which all pulls of a race derive theirs. This draws nothing."""
    return int(rng.bit_generator.seed_seq.generate_state(1)[0])
