"""The values that policies, runners and the loop exchange: a round, its results, a verdict."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints
from paceline.core.delays import Delays
from paceline.core.scaling import Scaling

NO_ARMS: Ints = np.zeros(0, dtype=np.int64)


class How:
    """How a round runs and reports: together, on shares, at looks, or until a moment.

    With `each`, the policy is given all values, not only their sums.
    """

    each: bool = False

    def keeping(self, some: Bools | slice, pulls: Ints) -> "How":
        """The same for the arms at `some` places only, with `pulls` of each left."""
        return self

    def after(self, told: Ints) -> "How":
        """The same once `told` pulls of the arms have been reported."""
        return self


@dataclass(frozen=True)
class Together(How):
    """All pulls at once, on even shares of the whole pool; results are reported as they come in."""

    each: bool = False


@dataclass(frozen=True, eq=False)
class Shares(How):
    """Each pull gets its `share` of the pool: one number for all, or one per arm.

    A pull starts as soon as its share is free, in the order of the round: `Shares(1.0)` runs one
    pull after the other.
    """

    share: float | Floats

    def keeping(self, some: Bools | slice, pulls: Ints) -> How:
        """Keep the shares of those arms."""
        return Shares(self.share[some]) if isinstance(self.share, np.ndarray) else self


@dataclass(frozen=True, eq=False)
class Looks(How):
    """All at once, on even shares; the policy is next told `due[i]` pulls of each arm.

    It is told these together, and no others with them.
    """

    due: Ints
    each: bool = False

    def keeping(self, some: Bools | slice, pulls: Ints) -> How:
        """No arm has more due than it has left."""
        return Looks(np.minimum(self.due[some], pulls), self.each)

    def after(self, told: Ints) -> How:
        """What was told is no longer due."""
        return Looks(np.maximum(self.due - told, 0), self.each)


@dataclass(frozen=True)
class Until(How):
    """All at once, on even shares, until `moment`, in seconds since the start of the race.

    The round then ends with whatever is back: some arms may have more pulls than were asked for,
    others fewer. The policy is told once.
    """

    moment: float


TOGETHER = Together()
_ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Pulls decided together: `pulls[i]` of `arms[i]`; no arm appears twice.

    >>> Round(np.array([0, 1]), np.array([4, 8]), Until(60.0)).total
    12
    """

    arms: Ints
    pulls: Ints
    how: How = TOGETHER
    total: int = field(init=False)  # how many pulls these are in all

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", _total(self.pulls))

    def keeping(self, pulls: Ints) -> "Round":
        """The same round with other numbers of pulls, without the arms that have none left."""
        some = pulls > 0
        if some.all():  # the same arms: the caller sees at once that all of it is answered
            return Round(self.arms, pulls, self.how.keeping(_ALL, pulls))
        left = pulls[some]
        return Round(self.arms[some], left, self.how.keeping(some, left))

    def after(self, told: Ints) -> "Round":
        """What is left of the round after `told[i]` pulls of `arms[i]` were told.

        >>> Round(np.array([5, 7]), np.array([4, 8])).after(np.array([4, 2])).pulls
        array([6])
        """
        return Round(self.arms, self.pulls, self.how.after(told)).keeping(self.pulls - told)

    def within(self, most: float) -> "Round":
        """The same round, scaled down in proportion if it has more than `most` pulls.

        >>> Round(np.array([0, 1]), np.array([4, 8])).within(7).pulls
        array([2, 4])
        """
        if self.total <= most:
            return self
        part = self.keeping((self.pulls * (most / self.total)).astype(np.int64))
        if isinstance(part.how, Looks) and not part.how.due.any():
            return NOTHING  # the policy would be told none of it
        return part


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Finished pulls as sufficient statistics: for `arms[i]` their number, sum and squares.

    `spreads`, if given, are the sums of squares around the arm's own mean: taken around 0, they
    would drown in the square of a large mean. `cubes` are the third powers around that mean, which
    show how skewed the values are. `values` has a row per arm, if the round asks for each value.
    `last` says that the round has ended, whatever is missing from it.
    """

    arms: Ints
    pulls: Ints
    sums: Floats
    squares: Floats
    spreads: Floats | None = None
    values: Floats | None = None
    last: bool = False
    cubes: Floats | None = None

    @property
    def total(self) -> int:
        """How many pulls these are in all."""
        return _total(self.pulls)


def _total(pulls: Ints) -> int:
    # Sequential policies have rounds of one pull, which numpy takes 20 times as long to sum.
    return int(pulls[0]) if pulls.size == 1 else int(pulls.sum())


NOTHING = Round(NO_ARMS, NO_ARMS)


class Ahead(NamedTuple):
    """What cores may do that would idle: at most `pulls` pulls of `arms` beyond those wanted."""

    arms: Ints
    pulls: float = math.inf


NOT_AHEAD = Ahead(NO_ARMS, 0)
NO_RESULTS = Results(NO_ARMS, NO_ARMS, np.zeros(0), np.zeros(0))


class Conditions(NamedTuple):
    """The state of the pool when a round is complete: seconds since the start, and λ as now known.

    `delays` says how the times of pulls spread; None if they are exactly what λ says. `costs` has
    the time of a pull of each arm, relative to the mean; nothing if all are alike, or not known.
    """

    seconds: float
    scaling: Scaling
    delays: Delays | None = None
    costs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Interruption:
    """Why a runner ends a race before its policy does.

    Each runner subclasses this for its own reasons, for example for arms that failed.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How a race ended: the best arm or the best few, or those among which it is undecided.

    `confidence` is what is guaranteed about `arms`; None if nothing is.
    """

    arms: Ints
    decided: bool
    confidence: float | None
    reason: str = field(default="")
