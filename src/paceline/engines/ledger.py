"""The values of all pulls so far, and in which order a policy hears of them.

Of each arm it hears the first pulls first, and all arms of a round level: where the next look is
depends on the round alone. So the same values lead to the same race, whichever pull was quick, and
quick pulls, which may well be the bad ones, get no weight of their own.
"""

import math
from array import array
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import NO_ARMS, NO_RESULTS, Results, Round

_LOOK_SHARE = 0.05  # between two looks in a round the pulls of an arm grow by so much


class Ledger:
    """Values by arm and by the number of the pull; `sign` is −1 where low values are good.

    >>> ledger = Ledger(arms=2)
    >>> unheard = ledger.expect(Round(np.array([0, 1]), np.array([1, 1])))
    >>> ledger.put(1, 0, [0.5])
    >>> ledger.next_level() is None                    # the other arm's is missing
    True
    >>> ledger.put(0, 0, [0.25])
    >>> ledger.next_level().sums
    array([0.25, 0.5 ])
    """

    def __init__(self, arms: int, sign: float = 1.0) -> None:
        self.sign = sign
        self._values = [array("d") for _ in range(arms)]  # of pulls 0, 1, … without a gap
        # Of pulls beyond a gap: by the number of the first, the values of consecutive ones.
        self._ahead: list[dict[int, Sequence[float]]] = [{} for _ in range(arms)]
        self.begin(np.arange(arms))

    def begin(self, racing: Ints) -> None:
        """A policy starts that heard of nothing; the arms `racing` it calls 0, 1, …"""
        self._racing: list[int] = racing.tolist()
        self._told: Ints = np.zeros(racing.size, dtype=np.int64)
        self._round = Round(racing[:0], racing[:0])
        self._due: Ints = racing[:0]
        self._lacking = 0  # a place in the round where values were missing when last seen

    # Values come in.

    def put(self, arm: int, first: int, values: Sequence[float]) -> None:
        """Note the values of consecutive pulls; of pulls that have theirs they are ignored."""
        known, ahead = self._values[arm], self._ahead[arm]
        if first < len(known) or first in ahead:
            return
        ahead[first] = values
        while len(known) in ahead:
            known.extend(ahead.pop(len(known)))

    def values(self, arm: int, *, in_order: bool = True) -> Floats:
        """The values of an arm, as they are, up to the first pull without one; or all."""
        beyond = [] if in_order else self._beyond(arm)
        return np.array([*self._values[arm], *beyond]) if beyond else np.array(self._values[arm])

    def gaps(self, arm: int) -> tuple[int, list[int]]:
        """One more than the last pull with a value, and those before it without one."""
        end = len(self._values[arm])
        gaps: list[int] = []
        for first, values in sorted(self._ahead[arm].items()):
            gaps += range(end, first)
            end = first + len(values)
        return end, gaps

    def _beyond(self, arm: int, until: float = math.inf) -> list[float]:
        """The values of pulls beyond a gap, and below `until`."""
        return [
            value
            for first, values in sorted(self._ahead[arm].items())
            for pull, value in enumerate(values, start=first)
            if pull < until
        ]

    # Results go out.

    def wanted_until(self, wanted: Round) -> list[tuple[int, int]]:
        """Every arm of a round, and the number of the pull up to which it is asked for."""
        until = self._told[wanted.arms] + wanted.pulls
        return [(self._racing[a], end) for a, end in zip(wanted.arms, until.tolist(), strict=True)]

    def expect(self, wanted: Round) -> int:
        """The pulls that the policy still waits for; return how many it no longer wants to hear of.

        Those are values of arms that have fallen since, which came before their turn.
        """
        gone = np.setdiff1d(self._round.arms, wanted.arms) if wanted.arms.size else NO_ARMS
        unheard = sum(len(self._values[self._racing[arm]]) - int(self._told[arm]) for arm in gone)
        self._round = wanted
        if wanted.due is None:
            told = self._told[wanted.arms]
            step = max(1, int(_LOOK_SHARE * int(told.min()))) if told.size else 1
            self._due = np.minimum(wanted.pulls, step)
        else:
            self._due = wanted.due
        self._lacking = 0
        return unheard

    def next_level(self) -> Results | None:
        """The results up to the next look, if all arms of the round have them."""
        arms, count = self._round.arms, self._round.arms.size
        for place in range(self._lacking, count):
            arm = arms[place]
            if len(self._values[self._racing[arm]]) < self._told[arm] + self._due[place]:
                self._lacking = place  # those before it have theirs, and will keep them
                return None
        some = self._due > 0
        return self._tell(arms[some], self._due[some]) if some.any() else None

    def leftovers(self, *, in_order: bool) -> Results:
        """All that is back of the round, level or not; in order only, or also beyond gaps."""
        back = []
        for (arm, until), told in zip(
            self.wanted_until(self._round), self._told[self._round.arms].tolist(), strict=True
        ):
            beyond = 0 if in_order else len(self._beyond(arm, until))
            back.append(min(len(self._values[arm]), until) - told + beyond)
        pulls = np.maximum(np.asarray(back, dtype=np.int64), 0)
        some = pulls > 0
        return self._tell(self._round.arms[some], pulls[some]) if some.any() else NO_RESULTS

    def _tell(self, arms: Ints, pulls: Ints) -> Results:
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        spreads = np.zeros(arms.size)
        rows = []
        places = zip(arms.tolist(), self._told[arms].tolist(), pulls.tolist(), strict=True)
        for i, (place, first, count) in enumerate(places):
            arm = self._racing[place]
            found: Sequence[float] = self._values[arm][first : first + count]
            if len(found) < count:
                found = [*found, *self._beyond(arm)][:count]
            rewards = self.sign * np.array(found)
            with np.errstate(over="ignore", invalid="ignore"):  # too large to square: no bound on σ
                sums[i] = rewards.sum()
                squares[i] = rewards @ rewards
                spreads[i] = ((rewards - sums[i] / count) ** 2).sum()
            rows.append(rewards)
        self._told[arms] += pulls
        level = self._round.each and pulls.min() == pulls.max()
        return Results(arms, pulls, sums, squares, spreads, np.array(rows) if level else None)
