"""Which pulls to give out next: in order for each arm, the arms taking turns."""

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from paceline.engines.jobs import Run


class Backlog:
    """The pulls that are wanted, or may be done ahead, and are neither done nor under way.

    >>> backlog = Backlog(arms=2)
    >>> backlog.want([(0, 3), (1, 1)])
    >>> backlog.take(1), backlog.take(2), backlog.waiting
    ([Run(arm=0, first=0, pulls=1)],
     [Run(arm=0, first=1, pulls=1), Run(arm=1, first=0, pulls=1)], 1)
    """

    def __init__(self, arms: int) -> None:
        self._next = [0] * arms  # the first pull of each arm that was never given out
        self._until = [0] * arms  # pulls below this are wanted
        self._beyond = [0] * arms  # pulls below this may be done ahead
        self._order: list[int] = []
        self._ahead: list[int] = []  # the arms that may be ahead
        self._limits: dict[int, int] = {}  # below which pulls of arms were useful when last asked
        # For each arm with pulls to give out: the share of them done at its next turn, its place
        # among arms with the same share, the arm, and the share of one pull.
        self._turns: list[tuple[float, int, int, float]] = []
        self._fresh = 0  # how many pulls are wanted and were never given out
        self._spare: list[tuple[int, int]] = []  # how far ahead arms are that may be further
        self._again: deque[Run] = deque()  # single pulls that came back without a value,
        self._alone: deque[Run] = deque()  # those that must run one by one,
        self._quiet: deque[Run] = deque()  # and those that must run when nothing else does
        # Arms of which nothing is given out for now, and their entries in `_turns` and `_spare`.
        self._held: frozenset[int] = frozenset()
        self._held_turns: list[tuple[float, int, int, float]] = []
        self._held_spare: list[tuple[int, int]] = []

    def hold(self, arms: frozenset[int]) -> None:
        """Give out no pulls of these arms from now on; those held before are free again.

        >>> backlog = Backlog(arms=2)
        >>> backlog.want([(0, 3), (1, 1)])
        >>> backlog.hold(frozenset({0}))
        >>> backlog.waiting, backlog.take(2)
        (1, [Run(arm=1, first=0, pulls=1)])
        >>> backlog.hold(frozenset())
        >>> backlog.waiting
        3
        """
        if arms != self._held:
            self._held = arms
            self._sort_out()

    def _sort_out(self) -> None:
        """Set aside the entries of arms that are held, and bring back those of others."""
        held = self._held
        turns, spare = self._turns + self._held_turns, self._spare + self._held_spare
        self._held_turns = [turn for turn in turns if turn[2] in held]
        self._held_spare = [one for one in spare if one[1] in held]
        self._turns = [turn for turn in turns if turn[2] not in held]
        self._spare = [one for one in spare if one[1] not in held]
        heapq.heapify(self._turns)
        heapq.heapify(self._spare)
        self._fresh = sum(self.left(turn[2]) for turn in self._turns)

    def want(
        self, asked: Sequence[tuple[int, int]], starting: Mapping[int, float] | None = None
    ) -> None:
        """Want all pulls of these arms below these numbers from now on, and no others.

        `starting` says in which part of the time, from now on, the pulls of an arm start. Without
        it, those of all arms start until the end.
        """
        for arm in self._order:
            self._until[arm] = 0
        for arm, until in asked:
            self._until[arm] = until
        self._order = [arm for arm, _ in asked]
        # The arm with the most to do comes first: the arms stay level however often this is called.
        left = [(self.left(arm), arm) for arm in self._order]
        self._turns = []
        for pulls, arm in left:
            if pulls > 0:
                share = (starting[arm] if starting else 1.0) / pulls
                self._turns.append((0.5 * share, self._place(arm), arm, share))
        self._held_turns = []
        self._sort_out()

    def allow_ahead(self, due: Sequence[tuple[int, int]], more: int) -> int:
        """Of these arms, pulls from these numbers on may be done before they are wanted.

        An arm gets at most `more` ahead, or as many as it has; no other arm may be ahead. How many
        such pulls were given out already is returned.
        """
        for arm in self._ahead:
            self._beyond[arm] = 0
        self._ahead, self._spare, given = [arm for arm, _ in due], [], 0
        for arm, number in due:
            self._beyond[arm] = number + max(number, more)
            ahead = self._next[arm] - number
            given += max(0, ahead)
            if self._next[arm] < self._beyond[arm]:
                self._spare.append((ahead, arm))
        self._held_spare = []
        self._sort_out()
        return given

    @property
    def may_be_ahead(self) -> bool:
        """Whether there are pulls that could be done before they are wanted."""
        return bool(self._spare)

    def has_shrunk(self) -> bool:
        """Whether a pull that was useful when this was last asked is so no more."""
        before = self._limits
        arms = {*self._order, *self._ahead}
        self._limits = {arm: max(self._until[arm], self._beyond[arm]) for arm in arms}
        return any(self._limits.get(arm, 0) < limit for arm, limit in before.items())

    def take_ahead(self, most: int) -> list[Run]:
        """At most `most` pulls that are not wanted yet, of the arms that are least ahead."""
        useful = lambda run: run.arm not in self._held and self.is_useful(run)  # noqa: E731
        runs = _take_from(self._again, useful, most) if self._again else []
        while len(runs) < most and self._spare:
            ahead, arm = self._spare[0]
            runs.append(Run(arm, self._next[arm], 1))
            self._next[arm] += 1
            if self._next[arm] < self._beyond[arm]:
                heapq.heapreplace(self._spare, (ahead + 1, arm))
            else:
                heapq.heappop(self._spare)
        return runs

    def left(self, arm: int) -> int:
        """How many pulls of the arm are still to be given out; negative if too many were."""
        return self._until[arm] - self._next[arm]

    def is_wanted(self, run: Run) -> bool:
        """Whether at least the first of these pulls is wanted."""
        return run.first < self._until[run.arm]

    def is_useful(self, run: Run) -> bool:
        """Whether at least the first of these pulls is wanted, or may be done ahead."""
        return run.first < max(self._until[run.arm], self._beyond[run.arm])

    def _is_due(self, run: Run) -> bool:
        return run.arm not in self._held and self.is_wanted(run)

    @property
    def waiting(self) -> int:
        """How many pulls are waiting to be given out, besides those that must run in quiet."""
        back = sum(map(self._is_due, self._alone)) + sum(map(self._is_due, self._again))
        return self._fresh + back

    def take(self, most: int) -> list[Run]:
        """At most `most` pulls: those that came back, if any; else new ones, the arms in turn."""
        alone = _take_from(self._alone, self._is_due, 1)
        again = alone or _take_from(self._again, self._is_due, most)
        if again:
            return again
        most = min(most, self._fresh)
        self._fresh -= most
        counts = self._take_rounds(most)
        for _ in range(most - sum(counts.values())):
            arm = self._next_arm()
            counts[arm] = counts.get(arm, 0) + 1
        return _level([Run(arm, self._next[arm] - n, n) for arm, n in counts.items()])

    @property
    def wants_quiet(self) -> bool:
        """Whether a pull is wanted that must run when nothing else does."""
        return any(map(self.is_wanted, self._quiet))

    def take_quiet(self) -> list[Run]:
        """The next pull that must run when nothing else does, if there is one."""
        return _take_from(self._quiet, self.is_wanted, 1)

    def _take_rounds(self, most: int) -> dict[int, int]:
        """Equally many pulls of every arm, if all are level: the same as taking them one by one."""
        rounds = most // max(1, len(self._turns))
        if rounds < 2:
            return {}
        done, _, _, share = self._turns[0]
        if any(turn[0] != done or turn[3] != share for turn in self._turns):
            return {}
        arms = [arm for _, _, arm, _ in sorted(self._turns)]
        for arm in arms:
            self._next[arm] += rounds
        done += rounds * share
        self._turns = [(done, self._place(arm), arm, share) for arm in arms if self.left(arm) > 0]
        heapq.heapify(self._turns)
        return dict.fromkeys(arms, rounds)

    def _next_arm(self) -> int:
        """Take a pull of the arm that is furthest behind, by its share of what it has to do.

        Pull by pull, so that a machine that slows down or warms up affects all arms alike; an arm
        with twice as many pulls to do is pulled twice as often, not longer than the others.
        """
        done, _, arm, share = self._turns[0]
        self._next[arm] += 1
        if self.left(arm) > 0:
            heapq.heapreplace(self._turns, (done + share, self._place(arm), arm, share))
        else:
            heapq.heappop(self._turns)
        return arm

    def _place(self, arm: int) -> int:
        """Back and forth: if the first arm were always first, a steady drift would favour it."""
        return -arm if self._next[arm] % 2 else arm

    def give_back(self, runs: Sequence[Run], *, alone: bool = False, quiet: bool = False) -> None:
        """Take back pulls that were not done.

        If `alone`, each will be a job by itself; if `quiet`, while no other job is under way.
        """
        back = self._quiet if quiet else self._alone if alone else self._again
        for run in runs:
            back.extend(Run(run.arm, run.first + i, 1) for i in range(run.pulls))

    def restore(self, arm: int, end: int, gaps: Sequence[int]) -> None:
        """Note that earlier sessions gave out pulls of an arm up to `end`, and lost `gaps`."""
        self._next[arm] = end
        self._again.extend(Run(arm, pull, 1) for pull in gaps)


def _level(runs: list[Run]) -> list[Run]:
    """The same pulls; an arm with more than the others gets several runs, spread among theirs.

    The runs of a job take turns, so the longest one would otherwise end in a block of its own.

    >>> _level([Run(0, 0, 4), Run(1, 0, 2), Run(2, 0, 2)])
    [Run(arm=0, first=0, pulls=2), Run(arm=1, first=0, pulls=2), Run(arm=0, first=2, pulls=2),
     Run(arm=2, first=0, pulls=2)]
    """
    least = min((run.pulls for run in runs), default=0)
    if all(run.pulls < 2 * least for run in runs):
        return runs
    single = [run for run in runs if run.pulls < 2 * least]
    placed = [((place + 0.5) / len(single), run) for place, run in enumerate(single)]
    for run in runs:
        parts = run.pulls // least
        for part in range(parts if parts > 1 else 0):
            start, end = part * run.pulls // parts, (part + 1) * run.pulls // parts
            placed.append((part / parts, Run(run.arm, run.first + start, end - start)))
    return [run for _, run in sorted(placed)]


def _take_from(back: deque[Run], wanted: Callable[[Run], bool], most: int) -> list[Run]:
    """Remove and return the first `most` that are wanted; the others keep their order."""
    taken: list[Run] = []
    passed: list[Run] = []
    while back and len(taken) < most:
        run = back.popleft()
        (taken if wanted(run) else passed).append(run)
    back.extendleft(reversed(passed))
    return taken
