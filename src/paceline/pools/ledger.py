"""The values of all pulls so far, and the order in which a policy hears of them.

It hears of each arm's pulls in the order of their numbers, and of equally many for all arms of a
round: the next look depends on the round alone. So the same values lead to the same race, whichever
pull was quick, and quick pulls, which may well be the bad ones, get no extra weight. Only a round
that ends at a given time (`Until`) ends with whatever is back; its other pulls count later, if they
come.
"""

import math
from array import array
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import NO_RESULTS, Looks, Results, Round, Until
from paceline.engines.jobs import Run

_LOOK_SHARE = 0.05  # how much an arm's pulls grow between two looks in a round

# Which pulls have a value, arm by arm: where they end, and the gaps before that.
Snapshot = list[tuple[int, list[int]]]


class Ledger:
    """Values by arm and by the number of the pull; `sign` is −1 where low values are good.

    >>> ledger = Ledger(arms=2)
    >>> ledger.expect(Round(np.array([0, 1]), np.array([1, 1])))
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
        # Beyond a gap: the values of consecutive pulls, by the number of the first.
        self._ahead: list[dict[int, Sequence[float]]] = [{} for _ in range(arms)]
        self._counts = [0] * arms  # of all values
        self.begin(np.arange(arms))

    def begin(self, racing: Ints) -> None:
        """Start a policy that has heard of nothing, and calls the arms `racing` 0, 1, …"""
        self._racing: list[int] = racing.tolist()
        # All pulls of an arm below this were told, except those that were not back in time.
        self._told: Ints = np.zeros(racing.size, dtype=np.int64)
        self._skipped: list[list[int]] = [[] for _ in self._racing]
        self._round = Round(racing[:0], racing[:0])
        self._due: Ints = racing[:0]
        self._lacking = 0  # a place in the round where values were missing when last checked

    # Values come in.

    def put(self, arm: int, first: int, values: Sequence[float]) -> None:
        """Note the values of consecutive pulls; ignore them if those pulls have values already."""
        known, ahead = self._values[arm], self._ahead[arm]
        if first == len(known) and not ahead:  # nearly always
            known.extend(values)
            self._counts[arm] += len(values)
            return
        if first < len(known) or first in ahead:
            return
        ahead[first] = values
        self._counts[arm] += len(values)
        while len(known) in ahead:
            known.extend(ahead.pop(len(known)))

    def values(self, arm: int, *, in_order: bool = True) -> Floats:
        """The values of an arm, without `sign`: up to the first pull without one, or all."""
        beyond = [] if in_order else self._beyond(arm)
        return np.array([*self._values[arm], *beyond]) if beyond else np.array(self._values[arm])

    def gaps(self, arm: int) -> tuple[int, list[int]]:
        """One more than the last pull with a value, and the pulls before it without one."""
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

    def due_after(self, wanted: Round, arms: Ints) -> list[tuple[int, int]]:
        """Each of these arms, and the number of its first pull that a round does not ask for."""
        due = self._told.copy()
        due[wanted.arms] += wanted.pulls
        return [(self._racing[arm], int(due[arm])) for arm in arms.tolist()]

    def wanted_until(self, wanted: Round) -> list[tuple[int, int]]:
        """Every arm of a round, and the number below which its pulls are asked for."""
        until = self._told[wanted.arms] + wanted.pulls
        return [(self._racing[a], end) for a, end in zip(wanted.arms, until.tolist(), strict=True)]

    def expect(self, wanted: Round) -> None:
        """Note the pulls that the policy still waits for."""
        self._round = wanted
        if isinstance(wanted.how, Looks):
            self._due = wanted.how.due
        else:
            told = self._told[wanted.arms]
            step = max(1, int(_LOOK_SHARE * int(told.min()))) if told.size else 1
            self._due = np.minimum(wanted.pulls, step)
        self._lacking = 0

    @property
    def skipped(self) -> int:
        """How many pulls were asked for but not back when their rounds ended."""
        return sum(map(len, self._skipped))

    @property
    def racing(self) -> Ints:
        """The arms that the policy knows, by their numbers in the race."""
        return np.array(self._racing, dtype=np.int64)

    def told_until(self) -> Ints:
        """For every arm of the race, the number below which its pulls were told."""
        until = np.zeros(len(self._values), dtype=np.int64)
        until[self._racing] = self._told
        return until

    def asked_until(self) -> Ints:
        """For every arm of the race, the number below which rounds have asked for its pulls."""
        asked = self._told.copy()
        asked[self._round.arms] += self._round.pulls
        until = np.zeros(len(self._values), dtype=np.int64)
        until[self._racing] = asked
        return until

    def spent(self, kept: Set[int], under_way: Iterable[Run] = ()) -> int:
        """How many pulls count against a cap: told, skipped, or of arms that are not `kept`.

        Those of fallen arms that are `under_way` may come back before they are ended.
        """
        told = {arm: self._told.item(place) for place, arm in enumerate(self._racing)}
        fallen = {arm for place, arm in enumerate(self._racing) if place not in kept}
        late = sum(
            run.first + run.pulls - max(run.first, told[run.arm])
            for run in under_way
            if run.arm in fallen and run.first + run.pulls > told[run.arm]
        )
        # Those skipped are among those told; fewer may have values than were told.
        unheard = sum(max(0, self._counts[arm] - told[arm]) for arm in fallen)
        return int(self._told.sum()) + unheard + late

    def next_level(self) -> Results | None:
        """The results up to the next look, if all arms of the round have them."""
        if isinstance(self._round.how, Until):
            return self._all_of_round()
        arms, count = self._round.arms, self._round.arms.size
        for place in range(self._lacking, count):
            arm = arms[place]
            if len(self._values[self._racing[arm]]) < self._told[arm] + self._due[place]:
                self._lacking = place  # those before it have theirs, and will keep them
                return None
        some = self._due > 0
        return self._tell(arms[some], self._due[some]) if some.any() else None

    # Rounds that end with what is back.

    def _all_of_round(self) -> Results | None:
        """All that is back, if every arm has as many pulls as were asked for."""
        for i in range(self._lacking, self._round.arms.size):
            place, pulls = self._round.arms[i], self._round.pulls[i]
            heard = self._told[place] - len(self._skipped[place])
            # Counting them is quick; finding out which ones they are is not.
            too_few = self._counts[self._racing[place]] < heard + pulls
            if too_few or len(self._back(place, pulls)) < pulls:
                self._lacking = i
                return None
        return self.close()

    def _back(
        self, place: int, pulls: int, known: tuple[int, Sequence[int]] | None = None
    ) -> list[int]:
        """The pulls that are back, among those skipped before and the next `pulls`."""
        end, gaps = known or self.gaps(self._racing[place])
        first = int(self._told[place])
        asked = [*self._skipped[place], *range(first, first + int(pulls))]
        missing = set(gaps)
        return [pull for pull in asked if pull < end and pull not in missing]

    def close(self, known: Snapshot | None = None) -> Results:
        """End the round with all that is back; or, if it ended before, with what was back then."""
        arms, rows = [], []
        for place, pulls in zip(self._round.arms.tolist(), self._round.pulls.tolist(), strict=True):
            arm = self._racing[place]
            back = self._back(place, pulls, known[arm] if known else None)
            first, heard = int(self._told[place]), set(back)
            asked = [*self._skipped[place], *range(first, first + pulls)]
            self._skipped[place] = [pull for pull in asked if pull not in heard]
            self._told[place] += pulls
            if back:
                arms.append(place)
                rows.append(self._values_of(arm, back))
        return replace(self._summed(np.array(arms, dtype=np.int64), rows), last=True)

    def snapshot(self) -> Snapshot:
        """Which pulls have a value now."""
        return [self.gaps(arm) for arm in range(len(self._values))]

    def _values_of(self, arm: int, pulls: Sequence[int]) -> list[float]:
        values, known = self._values[arm], len(self._values[arm])
        if pulls[-1] < known:
            return [values[pull] for pull in pulls]
        ahead = {
            pull: value
            for first, some in self._ahead[arm].items()
            for pull, value in enumerate(some, start=first)
        }
        return [values[pull] if pull < known else ahead[pull] for pull in pulls]

    def leftovers(self, *, in_order: bool) -> Results:
        """All that is back of the round, level or not; beyond gaps only if not `in_order`."""
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
        rows = []
        places = zip(arms.tolist(), self._told[arms].tolist(), pulls.tolist(), strict=True)
        for place, first, count in places:
            arm = self._racing[place]
            found: Sequence[float] = self._values[arm][first : first + count]
            if len(found) < count:
                found = [*found, *self._beyond(arm)][:count]
            rows.append(found)
        self._told[arms] += pulls
        return self._summed(arms, rows)

    def _summed(self, arms: Ints, rows: Sequence[Sequence[float]]) -> Results:
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        spreads, cubes = np.zeros(arms.size), np.zeros(arms.size)
        rewards = [self.sign * np.array(row) for row in rows]
        pulls = np.array([row.size for row in rewards], dtype=np.int64)
        for i, row in enumerate(rewards):
            with np.errstate(over="ignore", invalid="ignore"):  # too large to square: no bound on σ
                sums[i] = row.sum()
                squares[i] = row @ row
                apart = row - sums[i] / row.size
                spreads[i] = apart @ apart
                cubes[i] = (apart * apart) @ apart
        level = self._round.how.each and arms.size and pulls.min() == pulls.max()
        values = np.array(rewards) if level else None
        return Results(arms, pulls, sums, squares, spreads, values, cubes=cubes)
