"""Which pulls are to be given out next: numbers for each arm, the arms taking turns."""

from collections import deque
from collections.abc import Sequence

from paceline.engines.crew import Run


class Backlog:
    """The pulls that are wanted and neither done nor under way.

    >>> backlog = Backlog(arms=2)
    >>> backlog.want([(0, 3), (1, 1)])
    >>> backlog.take(1), backlog.take(2), backlog.waiting
    ([Run(arm=0, first=0, pulls=1)],
     [Run(arm=1, first=0, pulls=1), Run(arm=0, first=1, pulls=1)], 1)
    """

    def __init__(self, arms: int) -> None:
        self._next = [0] * arms  # the first pull of each arm that was never given out
        self._until = [0] * arms  # pulls below this are wanted
        self._order: list[int] = []
        self._turn = 0
        self._fresh = 0  # how many pulls are wanted and were never given out
        self._again: deque[Run] = deque()  # what came back undone; each goes out as it is

    def want(self, asked: Sequence[tuple[int, int]]) -> None:
        """From now on of these arms all pulls below these numbers are wanted, and no others."""
        for arm in self._order:
            self._until[arm] = 0
        for arm, until in asked:
            self._until[arm] = until
        # Whoever has the most to do comes first: the arms stay level, however often this is called.
        self._order = sorted((arm for arm, _ in asked), key=self._left, reverse=True)
        self._turn = 0
        self._fresh = sum(max(0, self._left(arm)) for arm in self._order)

    def _left(self, arm: int) -> int:
        """How many pulls of the arm are still to be given out; below 0 if too many were."""
        return self._until[arm] - self._next[arm]

    def is_wanted(self, run: Run) -> bool:
        """Whether the first of these pulls, at least, is wanted."""
        return run.first < self._until[run.arm]

    @property
    def waiting(self) -> int:
        """How many pulls are to be given out."""
        again = (min(run.pulls, self._until[run.arm] - run.first) for run in self._again)
        return self._fresh + sum(pulls for pulls in again if pulls > 0)

    def take(self, most: int) -> list[Run]:
        """What came back first, as it is; then so many pulls at most of the arms in turn."""
        for place, run in enumerate(self._again):
            if self.is_wanted(run):
                del self._again[place]
                (wanted,), rest = split([run], min(run.pulls, self._until[run.arm] - run.first))
                self._again.extend(rest)
                return [wanted]
        most = min(most, self._fresh)
        self._fresh -= most
        each = max(1, most // max(1, len(self._order)))
        runs: list[Run] = []
        while most > 0:
            arm = self._order[self._turn]
            self._turn = (self._turn + 1) % len(self._order)
            pulls = min(each, most, self._left(arm))
            if pulls > 0:
                runs.append(Run(arm, self._next[arm], pulls))
                self._next[arm] += pulls
                most -= pulls
        return runs

    def give_back(self, runs: Sequence[Run], *, singly: bool = False) -> None:
        """These were not done, and are to be done if they are wanted; or one by one."""
        for run in runs:
            if singly:
                self._again.extend(Run(run.arm, run.first + i, 1) for i in range(run.pulls))
            elif run.pulls:
                self._again.append(run)

    def restore(self, arm: int, end: int, gaps: Sequence[int]) -> None:
        """An earlier session gave out the pulls of an arm up to `end`, and lost those in `gaps`."""
        self._next[arm] = end
        self._again.extend(Run(arm, pull, 1) for pull in gaps)


def split(runs: Sequence[Run], pulls: int) -> tuple[list[Run], list[Run]]:
    """The first so many pulls of these runs, and the others.

    >>> split([Run(0, 5, 2), Run(1, 0, 3)], 3)
    ([Run(arm=0, first=5, pulls=2), Run(arm=1, first=0, pulls=1)], [Run(arm=1, first=1, pulls=2)])
    """
    first: list[Run] = []
    for place, run in enumerate(runs):
        if pulls < run.pulls:
            rest = Run(run.arm, run.first + pulls, run.pulls - pulls)
            if pulls:
                first.append(Run(run.arm, run.first, pulls))
            return first, [rest, *runs[place + 1 :]]
        first.append(run)
        pulls -= run.pulls
    return first, []
