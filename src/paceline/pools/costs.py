"""What a pull of each arm costs: its usual time, as a multiple of what the pool says.

Only the first pulls of each arm are looked at, by their numbers. So a policy can be told costs that
follow from pulls it has been told of. The times of later ones may be known already, but may also
have to do with their values, which have yet to be judged.
"""

import math
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.pool import CorePool
from paceline.engines.jobs import Run

_FIRST = 16  # pulls of an arm that are looked at
_MOST_ARMS = 1000  # with more, costs are not kept: records of rounds would get long
_CLEAR = 1.5  # the dearest arm, as a multiple of the cheapest, below which all count as alike
_SURE = 3.0  # standard errors of a spread that is mere chance
_LEAST_SECONDS = 1e-9
# Before anything is seen: the variance of the logarithm of an arm's own times, as if it had been
# seen this often. Without it, two pulls that happen to be alike would make all arms look different.
_GUESS, _GUESSED = 0.25, 4.0


class Costs:
    """The seconds of the first pulls of each arm.

    >>> costs = Costs(arms=2)
    >>> costs.take(1, [Run(0, 0, 3), Run(1, 0, 3)], [1.0, 1.1, 0.9, 10.0, 9.0, 11.0])
    >>> costs.multiples(CorePool(1, lambda cores: 5.5)).round(1)
    array([0.2, 1.8])
    """

    def __init__(self, arms: int) -> None:
        self._kept = arms <= _MOST_ARMS
        shape = (arms if self._kept else 0, _FIRST)
        self._logs = np.full(shape, np.nan)
        self._cores = np.ones(shape, dtype=np.int64)
        self._seen: tuple[CorePool, Floats | None] | None = None  # as long as nothing is new

    def take(self, cores: int, runs: Sequence[Run], seconds: Sequence[float]) -> None:
        """Note how long each of these pulls on `cores` cores took."""
        start = 0
        for arm, first, pulls in runs:
            if first < _FIRST and self._kept:
                for number in range(first, min(first + pulls, _FIRST)):
                    took = max(seconds[start + number - first], _LEAST_SECONDS)
                    self._logs[arm, number] = math.log(took)
                    self._cores[arm, number] = cores
                self._seen = None
            start += pulls

    def current(self, pool: CorePool | None) -> Floats | None:
        """The multiples, as far as they are known by now."""
        if pool is None:
            return None
        if self._seen is None or self._seen[0] is not pool:
            self._seen = (pool, self.multiples(pool))
        return self._seen[1]

    def multiples(self, pool: CorePool, told: Ints | None = None) -> Floats | None:
        """How long a pull of each arm takes, as a multiple of the pool's τ; None if all are alike.

        With `told`, only pulls below these numbers count. Arms that are pulled alike differ by
        chance: their means are drawn together by as much as chance explains.
        """
        if not self._kept:
            return None
        table = np.log(pool.runtime_seconds)
        logs = self._logs - table[np.minimum(self._cores, table.size) - 1]
        some = np.isfinite(logs)
        if told is not None:
            some &= np.arange(_FIRST) < told[:, None]
        pulls = some.sum(axis=1)
        known = pulls >= 2
        if np.count_nonzero(known) < 2:
            return None
        logs = np.where(some, logs, 0.0)
        means = logs.sum(axis=1) / np.maximum(pulls, 1)
        squares = (np.where(some, logs - means[:, None], 0.0) ** 2).sum(axis=1)[known].sum()
        freedom = pulls[known].sum() - np.count_nonzero(known)
        within = (squares + _GUESSED * _GUESS) / (freedom + _GUESSED)
        centre = means[known].mean()
        chance = (within / pulls[known]).mean()
        spread = means[known].var(ddof=1) - chance
        if spread <= _SURE * chance * math.sqrt(2 / (np.count_nonzero(known) - 1)):
            return None
        trust = spread / (spread + within / np.maximum(pulls, 1))
        found = np.where(known, centre + trust * (means - centre), centre)
        if np.ptp(found[known]) < math.log(_CLEAR):
            return None
        # The mean of logarithms hides stragglers. Arms without two pulls are taken for average.
        level = np.exp(logs)[some].sum() / (np.exp(found) * pulls).sum()
        return np.asarray(level * np.exp(found))


def relative(multiples: Floats | None, arms: Ints) -> tuple[float, ...]:
    """What policies are told: costs of these arms relative to their mean, rounded; or nothing.

    Rounded, they rarely change: records of rounds stay short.

    >>> relative(np.array([2.0, 7.0, 3.004]), np.array([0, 2]))
    (0.8, 1.2)
    """
    if multiples is None:
        return ()
    some = multiples[arms]
    return tuple(float(f"{cost:.2g}") for cost in (some / some.mean()).tolist())
