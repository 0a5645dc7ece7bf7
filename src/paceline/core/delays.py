"""How long pulls really take compared with λ, and what that means for a stage.

A stage that waits for all of its pulls waits for the slowest. A stage that ends when most are back
starts a few more than it needs and is done much sooner: `Boxed` is λ for such stages. This is fair
to the arms as long as the time of a pull says nothing about its value.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput

_LEVELS: Floats = (np.arange(40) + 0.5) / 40
# A guess for the time before the first pull: log-normal, and less regular than most work.
_GUESS: Floats = np.exp(0.25 * np.array([-1.53, -0.89, -0.49, -0.16, 0.16, 0.49, 0.89, 1.53]))
_FEW = 64  # with fewer pulls, the guess counts as well
_SHARES: Floats = np.r_[np.arange(0.2, 0.9, 0.1), 0.9, 0.94, 0.97, 0.985]
_MOST = 1e15


@dataclass(frozen=True)
class Delays:
    """The seconds of a pull as multiples of what λ says: evenly spaced quantiles, and the mean.

    >>> Delays.seen([0.5, 1.5] * 50).mean, bool(Delays.seen([]).quantile(0.9) < 1.5)
    (1.0, True)
    """

    quantiles: tuple[float, ...]
    mean: float

    @classmethod
    def seen(cls, multiples: Sequence[float] | Floats) -> "Delays":
        """Learn from the pulls so far and, while they are few, from a guess."""
        known = np.asarray(multiples, dtype=np.float64)
        sample = known if known.size >= _FEW else np.r_[known, _GUESS]
        quantiles = [_rounded(one) for one in np.quantile(sample, _LEVELS)]
        return cls(tuple(quantiles), _rounded(sample.mean()))

    def to_json(self) -> list[float]:
        """The mean, then the quantiles.

        >>> Delays.from_json(Delays.seen([]).to_json()) == Delays.seen([])
        True
        """
        return [self.mean, *self.quantiles]

    @classmethod
    def from_json(cls, numbers: Sequence[float]) -> "Delays":
        """Undo `to_json`."""
        if len(numbers) != 1 + _LEVELS.size or not all(0 < one < math.inf for one in numbers):
            raise InvalidInput(
                f"not recorded delays: {len(numbers)} numbers, or one is not above 0"
            )
        return cls(tuple(numbers[1:]), numbers[0])

    def quantile(self, levels: float | Floats) -> Floats:
        """The multiples that these shares of the pulls do not exceed."""
        return np.asarray(np.interp(levels, _LEVELS, self.quantiles))


def _rounded(multiple: float) -> float:
    """Round a multiple; never to 0, however wrong λ is, because stages take some time."""
    return max(float(f"{multiple:.4g}"), 1e-9)


@dataclass(frozen=True)
class Boxed(Scaling):
    """The seconds until m pulls are back, if a few more are started and the rest is cut off.

    The pulls of the last wave each end at a time of their own; the times of those before them, on
    the same cores, have averaged out. The stage waits for the share of the last wave that takes the
    fewest seconds in all. This may be the whole wave; with `wait` it always is. The seconds come
    from a table and are interpolated between its points.

    >>> from paceline import PowerLaw
    >>> Boxed(PowerLaw(0.5), Delays((1.0,) * 40, mean=1.0)).seconds(64) < 8.1
    True
    """

    scaling: Scaling
    delays: Delays
    wait: bool = field(default=False, kw_only=True)

    @cached_property
    def _logs(self) -> tuple[Floats, Floats]:
        """The logarithms of pulls, and of the seconds that they take."""
        grid = np.unique(np.ceil(np.geomspace(1, _MOST, 700)))
        seconds = np.maximum.accumulate(self._ways(grid)[1].min(axis=0))
        # λ must rise, however little, to have an inverse.
        return np.log(grid), np.log(seconds) + 1e-9 * np.arange(grid.size)

    def launch(self, pulls: float) -> int:
        """How many pulls to start so that `pulls` of them are back within `seconds(pulls)`."""
        started, seconds = self._ways(np.array([float(pulls)]))
        return int(np.ceil(started[np.argmin(seconds[:, 0]), 0] * (1 - 1e-9)))

    def _ways(self, pulls: Floats) -> tuple[Floats, Floats]:
        """Pulls to start, and seconds until enough are back: a row per share that is awaited."""
        widest = self.scaling.widest
        started, last = pulls[None], np.minimum(pulls, widest)[None]
        shares = 1 - 0.5 / last  # the median of the slowest
        if not self.wait:
            some = np.broadcast_to(_SHARES[:, None], (_SHARES.size, pulls.size))
            in_one_wave = pulls / some
            full = (1 - some) * min(widest, 2 * _MOST)
            more = np.where(in_one_wave <= widest, in_one_wave, pulls + full)
            started, shares = np.r_[started, more], np.r_[shares, some]
            last = np.minimum(started, widest)
        before = self.scaling.seconds((started - last).ravel()).reshape(started.shape)
        wave = self.scaling.seconds(last.ravel()).reshape(last.shape)
        return started, self.delays.mean * before + self.delays.quantile(shares) * wave

    def _seconds(self, pulls: Floats) -> Floats:
        logs = np.log(np.maximum(pulls, 1.0))
        return np.asarray(np.exp(np.interp(logs, *self._logs)))

    def _pulls(self, seconds: Floats) -> Floats:
        logs, (log_pulls, log_seconds) = np.log(seconds), self._logs
        pulls = np.exp(np.interp(logs, log_seconds, log_pulls))
        return np.where(logs < log_seconds[0], 0.0, pulls)

    @property
    def widest(self) -> float:
        """The same as that of the scaling."""
        return self.scaling.widest
