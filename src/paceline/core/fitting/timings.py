"""The seconds of finished pulls, from which the runtime is learned."""

from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import Floats, Ints, finite_floats, whole
from paceline.core.fitting.choice import best_shape
from paceline.core.fitting.effects import by_core_count
from paceline.core.fitting.runtime import LEAST_SECONDS, Runtime
from paceline.errors import InvalidInput


class Timings:
    """Seconds of finished pulls, summed up by arm and by core count.

    >>> timings = Timings(arms=3)
    >>> for cores in (1, 4, 16):
    ...     timings.add(np.array([0, 1, 2]), cores, np.full(3, 8.0 / cores**0.5))
    >>> timings.pulls, timings.mean_seconds(arm=2, cores=4), timings.mean_seconds(arm=2, cores=8)
    (9, 4.0, None)
    >>> timings.fit().describe()
    '8 s · c^-0.50'
    """

    def __init__(self, arms: int) -> None:
        self.arms = whole(arms, "arms of Timings")
        self._cells: dict[int, _Cells] = {}

    def add(self, arms: Ints, cores: int, seconds: Floats) -> None:
        """Take in finished pulls, all on `cores` cores: their arms and their seconds."""
        count = whole(cores, "cores of a pull")
        times = finite_floats(seconds, "seconds of pulls")
        which = np.asarray(arms)
        if which.shape != times.shape:
            raise InvalidInput(
                f"every pull needs an arm and its seconds: got {which.size} arms and "
                f"{times.size} times"
            )
        if times.size == 0:
            return
        if not np.issubdtype(which.dtype, np.integer):
            raise InvalidInput(f"arms must be whole numbers, got an array of {which.dtype}")
        if which.min() < 0 or which.max() >= self.arms:
            raise InvalidInput(
                f"arms must lie in 0 … {self.arms - 1}, got {which.min()} … {which.max()}"
            )
        if times.min() < 0:
            raise InvalidInput(
                f"seconds of pulls must be at least 0, got {times.min():g}: "
                "use a clock that never goes back"
            )
        if count not in self._cells:
            self._cells[count] = _Cells.empty(self.arms)
        self._cells[count].add(which, times)

    @property
    def pulls(self) -> int:
        """How many pulls were taken in."""
        return sum(int(cells.pulls.sum()) for cells in self._cells.values())

    def mean_seconds(self, arm: int, cores: int) -> float | None:
        """The mean seconds of the pulls of `arm` on `cores` cores; None if there are none."""
        cells = self._cells.get(cores)
        if cells is None or not cells.pulls[arm]:
            return None
        return float(cells.seconds[arm] / cells.pulls[arm])

    def fit(self) -> Runtime:
        """The runtime that best predicts core counts held out of the fit.

        The shape is fitted to logarithms, with an effect per arm, so neither expensive arms nor a
        few stragglers bend it. The level then makes the predicted seconds of all pulls so far add
        up to the observed ones, stragglers included: that is how long the pool will be busy.
        """
        if not self._cells:
            raise InvalidInput("no pull has finished yet: add some before asking for their runtime")
        counts = sorted(self._cells)
        cells = [self._cells[count] for count in counts]
        pulls = np.stack([each.pulls for each in cells])
        log_sums = np.stack([each.log_seconds for each in cells])
        cores = np.asarray(counts, dtype=np.float64)
        seen = pulls.any(axis=0)
        shape = best_shape(cores, *by_core_count(pulls[:, seen], log_sums[:, seen]))
        observed = sum(float(each.seconds.sum()) for each in cells)
        # Not capped where the formula rises again: the pulls so far did use those cores.
        predicted = float(pulls.sum(axis=1) @ shape.on_all(cores))
        return shape.scaled(max(observed, LEAST_SECONDS * self.pulls) / predicted)


@dataclass(slots=True, eq=False)
class _Cells:
    """Sums over the pulls on one core count, one entry per arm."""

    pulls: Ints
    seconds: Floats
    log_seconds: Floats

    @classmethod
    def empty(cls, arms: int) -> "_Cells":
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, arms: Ints, seconds: Floats) -> None:
        # Not `+=`: that would count an arm only once if it appears several times.
        np.add.at(self.pulls, arms, 1)
        np.add.at(self.seconds, arms, seconds)
        np.add.at(self.log_seconds, arms, np.log(np.maximum(seconds, LEAST_SECONDS)))
