"""When the leader is good enough: shown to be at most ε worse than any arm still in.

Eliminations take no account of the tolerance ε: shifting each comparison by it would let the answer
drift by ε with every elimination. A share of δ is for a second question, put to each leader L as a
fixed opponent: is arm i better than L by more than ε? For the answer L to be
wrong though the best arm i* is still in, that question, for L and i*, must have been answered
wrongly; nothing else must, so there is no union over the arms.

There is a union over leaders. The c-th arm to become leader gets the share 1/(c (c+1)) of the
level, which sums to 1; this is known when it is appointed, before the values that it is judged by.
Each question is a fair game played on fresh values of the slices in which L leads, so choosing
those by earlier values does no harm (Ville). For the top k, a wrong answer has a member that is
worse by more than ε than one of the k best left out: each pair gets 1/k of that.
"""

from collections.abc import Callable

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.betting import BETS, Betting, mixed
from paceline.core.evidence.group_sequential import GroupSequential, spreads
from paceline.core.evidence.opponents import Rival
from paceline.core.rounds import Results

# What a game wins, as logarithms (arms by bets), given fresh values, earlier means, one opponent.
Gains = Callable[[Results, Floats, Rival], Floats]


def gains_of_scores(scores: GroupSequential) -> Gains:
    """Bets on scores: e^(θ √m z − θ² m/2) is at most 1 on average if z is at most normal."""

    def gains(fresh: Results, _means: Floats, rival: Rival) -> Floats:
        cell = float(fresh.pulls.min())
        score = scores.compare(fresh, rival)
        won: Floats = cell**0.5 * score[:, None] * BETS - 0.5 * cell * BETS**2
        return won

    return gains


def gains_of_bets(betting: Betting) -> Gains:
    """Bets on values between bounds."""
    return betting.settle


class Nearness:
    """What was won against 'arm i is better than L by more than ε', for every L that has led."""

    def __init__(self, arms: int, delta: float, tolerance: float, top: int, gains: Gains) -> None:
        self.log_bar = float(np.log(top / delta))
        self.tolerance = tolerance
        self.top = top
        self.gains = gains
        self.log_stakes: dict[int, Floats] = {}  # by leader, in the order of their appointment
        self.arms = arms

    def take(self, fresh: Results, alive: Ints, means: Floats) -> None:
        """Take in fresh values of the arms alive; `means` are their means before those."""
        half = 0.5 * self.tolerance
        for leader in np.argsort(-means, kind="stable")[: self.top].tolist():
            # The leader is lifted by ε against all others: half up, half down, within the bounds.
            lift = np.full(alive.size, -half)
            lift[leader] = half
            rival = Rival(np.full(alive.size, leader))
            stakes = self.log_stakes.setdefault(
                int(alive[leader]), np.zeros((self.arms, BETS.size))
            )
            with np.errstate(all="ignore"):  # the leader against itself means nothing
                won = self.gains(_shifted(fresh, lift), means, rival)
            won[leader] = 0.0
            stakes[alive] += won

    def answer(self, alive: Ints, means: Floats) -> Ints | None:
        """The arms in front, if they are near enough to all others; `means` are the latest."""
        order = np.argsort(-means, kind="stable")
        front, others = alive[order[: self.top]], alive[order[self.top :]]
        places = {leader: place for place, leader in enumerate(self.log_stakes, start=1)}
        for leader in front.tolist():
            if leader not in places:
                return None
            share = np.log(places[leader] * (places[leader] + 1.0))
            won = mixed(self.log_stakes[leader][others])
            if not (won >= self.log_bar + share).all():  # also if one is NaN
                return None
        return front


def _shifted(fresh: Results, lift: Floats) -> Results:
    sums = fresh.sums + lift * fresh.pulls
    values = None if fresh.values is None else fresh.values + lift[:, None]
    return Results(fresh.arms, fresh.pulls, sums, fresh.squares, spreads(fresh), values)
