"""The values that policies, engines and the loop exchange: a round, its results, a verdict."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.delays import Delays
from paceline.core.scaling import Scaling


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Pulls decided together: `pulls[i]` of `arms[i]`; no arm stands twice.

    With no `share`, all of them run at once on even shares of the whole pool. With one, each
    pull gets that share of the pool (one number for all, or one per arm) and starts as soon
    as so much is free, in the order given: `share=1.0` is one pull after the other.

    `due`, if given, says of how many pulls of each arm the policy is to hear next, all at once and
    no others with them; without it, of as many as the engine likes. With `each`, it is given all
    values of those, not only their sums.

    `until`, a time of the race, ends the round: with what is back by then, whichever pulls these
    are, of some arms more and of others fewer than were asked for. Of such a round the policy
    hears once.
    """

    arms: Ints
    pulls: Ints
    share: float | Floats | None = None
    due: Ints | None = None
    each: bool = False
    until: float = math.inf
    total: int = field(init=False)  # how many pulls these are in all

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", _total(self.pulls))

    def keeping(self, pulls: Ints) -> "Round":
        """The same arms and shares with other numbers of pulls, without those left with none."""
        some = pulls > 0
        if some.all():  # the same arrays: whoever asked sees at once that all of it is answered
            due = self.due
            if due is not None and (due > pulls).any():
                due = np.minimum(due, pulls)
            return Round(self.arms, pulls, self.share, due, self.each, self.until)
        share = self.share[some] if isinstance(self.share, np.ndarray) else self.share
        due = None if self.due is None else np.minimum(self.due[some], pulls[some])
        return Round(self.arms[some], pulls[some], share, due, self.each, self.until)

    def within(self, most: float) -> "Round":
        """The same round, or so much of it, in proportion, that it has at most `most` pulls.

        >>> Round(np.array([0, 1]), np.array([4, 8])).within(7).pulls
        array([2, 4])
        """
        if self.total <= most:
            return self
        part = self.keeping((self.pulls * (most / self.total)).astype(np.int64))
        if part.due is not None and not part.due.any():  # the policy would hear of none of it
            return part.keeping(np.zeros_like(part.pulls))
        return part


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Finished pulls, as sufficient statistics: of `arms[i]`, how many, their sum and squares.

    `spreads`, where it is given, are the squares around the arm's own mean: around 0 they would
    drown in those of a large mean. `cubes` are the third powers around it, which show how skewed
    values are. `values`, where a round asks for each, has a row per arm. `last` says that the round
    has ended, whatever is missing of it.
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
    # Sequential policies have rounds of one pull, which numpy sums at 20 times the price.
    return int(pulls[0]) if pulls.size == 1 else int(pulls.sum())


class Conditions(NamedTuple):
    """How the pool is when a round is complete: the seconds since the start, and λ as now known.

    `delays` says how the times of pulls spread; None if all is exactly as λ says.
    """

    seconds: float
    scaling: Scaling
    delays: Delays | None = None


NO_ARMS: Ints = np.zeros(0, dtype=np.int64)
NO_RESULTS = Results(NO_ARMS, NO_ARMS, np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How a race ended: the best arm or the best few, or those among which it is undecided.

    `confidence` is what is guaranteed about `arms`; None where nothing is.
    """

    arms: Ints
    decided: bool
    confidence: float | None
    reason: str = field(default="")
