"""How long pulls take: τ as learned from all of them, and how the latest deviate from it."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

import numpy as np

from paceline.core.delays import Delays
from paceline.core.fitting import Runtime, Timings
from paceline.core.pool import CorePool
from paceline.engines.jobs import Run

_MOST_UNTIMED_RUNS = 1000
_MOST_RECENT = 4000  # pulls whose durations are kept one by one


class Timekeeper:
    """The seconds of all pulls, by arms and core counts.

    >>> times = Timekeeper(arms=1)
    >>> times.take(2, [Run(0, 0, 4)], [1.0, 1.2, 0.8, 1.0])
    >>> times.mean_seconds(2), times.mean_seconds(4)
    (1.0, None)
    """

    def __init__(self, arms: int) -> None:
        self._timings = Timings(arms)
        # By core count: the arms of runs, their numbers of pulls, and the seconds of all pulls.
        self._untimed: dict[int, tuple[list[int], list[int], list[float]]] = {}
        self._untimed_runs = 0
        self._by_cores: dict[int, tuple[int, float]] = {}  # how many pulls, and their seconds
        self._recent: deque[tuple[int, float]] = deque(maxlen=_MOST_RECENT)

    def take(self, cores: int, runs: Sequence[Run], seconds: Sequence[float]) -> None:
        """Note how long each of these pulls on `cores` cores took."""
        arms, pulls, untimed = self._untimed.setdefault(cores, ([], [], []))
        arms += [run.arm for run in runs]
        pulls += [run.pulls for run in runs]
        untimed.extend(seconds)
        self._untimed_runs += len(runs)
        if self._untimed_runs > _MOST_UNTIMED_RUNS:
            self._time()
        self._recent.extend(zip(repeat(cores), seconds[-_MOST_RECENT:]))
        count, total = self._by_cores.get(cores, (0, 0.0))
        for took in seconds:  # one by one: however records are cut, the sum is the same
            total += took
        self._by_cores[cores] = (count + len(seconds), total)

    def mean_seconds(self, cores: int) -> float | None:
        """How long pulls on `cores` cores took so far, on average; None if there were none."""
        count, total = self._by_cores.get(cores, (0, 0.0))
        return total / count if count else None

    def count(self, cores: int) -> int:
        """How many pulls on `cores` cores there were so far."""
        return self._by_cores.get(cores, (0, 0.0))[0]

    def means(self) -> list[float]:
        """The mean seconds of a pull, for each core count so far."""
        return [total / count for count, total in self._by_cores.values()]

    def usual_seconds(self) -> float | None:
        """How long a pull took so far, on average over all core counts; None if there were none."""
        pulls = sum(count for count, _ in self._by_cores.values())
        return sum(total for _, total in self._by_cores.values()) / pulls if pulls else None

    def runtime(self) -> Runtime:
        """τ, as fitted to all pulls so far."""
        self._time()
        return self._timings.fit()

    def level(self, shape: CorePool) -> Callable[[int], float]:
        """τ of a known shape, with the factor that fits the seconds so far."""
        table = shape.runtime_seconds
        known = [
            (cores, count) for cores, (count, _) in self._by_cores.items() if cores <= table.size
        ]
        expected = sum(count * float(table[cores - 1]) for cores, count in known)
        factor = sum(self._by_cores[cores][1] for cores, _ in known) / expected if expected else 1.0
        return lambda cores: max(factor, 1e-12) * float(table[cores - 1])

    def delays(self, pool: CorePool, under_way: Iterable[tuple[int, float]]) -> Delays:
        """How long pulls take compared to what the pool says: the latest, and those overdue.

        `under_way` has the cores, and the seconds so far, of pulls that are not back.
        """
        table = pool.runtime_seconds
        last = table.size - 1  # the pool may have shrunk
        seen = [seconds / float(table[min(cores - 1, last)]) for cores, seconds in self._recent]
        usual = float(np.median(seen)) if seen else 1.0
        so_far = [seconds / float(table[min(cores - 1, last)]) for cores, seconds in under_way]
        return Delays.seen(seen + [one for one in so_far if one > usual])  # it will be even longer

    def _time(self) -> None:
        """Hand the durations on to be fitted: many at once, since that takes a while."""
        for cores, (arms, pulls, seconds) in self._untimed.items():
            self._timings.add(np.repeat(arms, pulls), cores, np.array(seconds))
        self._untimed.clear()
        self._untimed_runs = 0
