"""Jobs: pulls that one worker does, and how they are split and put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Run(NamedTuple):
    """Consecutive pulls of one arm: numbers `first`, `first + 1`, … of them."""

    arm: int
    first: int
    pulls: int


@dataclass(frozen=True)
class Job:
    """Pulls that one worker does, its runs taking turns, on `cores` cores of a node.

    `fresh` asks for a worker in which no pull of another arm has run. `node` is the place of its
    node among those of the pool.
    """

    number: int
    runs: tuple[Run, ...]
    cores: int
    fresh: bool = False
    node: int = 0

    @property
    def pulls(self) -> int:
        """How many pulls it has."""
        return sum(run.pulls for run in self.runs)


def in_turn(runs: Sequence[Run]) -> list[tuple[int, int]]:
    """The pulls of a job, as (arm, number), in the order in which they are done.

    The runs take turns, pull by pull: a machine that slows down then affects all arms alike.

    >>> in_turn([Run(0, 5, 3), Run(1, 0, 1)])
    [(0, 5), (1, 0), (0, 6), (0, 7)]
    """
    longest = max((run.pulls for run in runs), default=0)
    return [
        (run.arm, run.first + turn) for turn in range(longest) for run in runs if turn < run.pulls
    ]


def split(runs: Sequence[Run], pulls: int) -> tuple[list[Run], list[Run]]:
    """The first `pulls` pulls of these runs, and the others.

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


class Advance(NamedTuple):
    """What is done of a job, run by run with values and seconds; and what is left of it."""

    done: list[Run]
    values: list[float]
    seconds: list[float]
    left: list[Run]  # the next pull first


def advance(runs: Sequence[Run], values: Sequence[float], seconds: Sequence[float]) -> Advance:
    """How far a job is after the next values, which come in the order of its turns.

    >>> done = advance([Run(0, 5, 3), Run(1, 0, 2)], [0.5, 1.0, 0.6], [1.0, 2.0, 3.0])
    >>> done.done, done.values, done.seconds
    ([Run(arm=0, first=5, pulls=2), Run(arm=1, first=0, pulls=1)], [0.5, 0.6, 1.0], [1.0, 3.0, 2.0])
    >>> done.left
    [Run(arm=1, first=1, pulls=1), Run(arm=0, first=7, pulls=1)]
    """
    number, most = len(values), sum(run.pulls for run in runs)
    places = range(len(runs))
    if number == most and len({run.pulls for run in runs}) == 1:  # all, and equally many of each
        told: list[float] = []
        took: list[float] = []
        for place in places:
            told += values[place :: len(runs)]
            took += seconds[place :: len(runs)]
        return Advance(list(runs), told, took, [])
    longest = max((run.pulls for run in runs), default=0)
    turns = [place for turn in range(longest) for place in places if turn < runs[place].pulls]
    mine: list[list[int]] = [[] for _ in runs]  # for each run, where its values are
    for at, place in enumerate(turns[:number]):
        mine[place].append(at)
    done = [Run(run.arm, run.first, len(at)) for run, at in zip(runs, mine, strict=True) if at]
    order = [at for some in mine for at in some]
    following = turns[number] if number < most else 0
    left = []
    for place in [*places[following:], *places[:following]]:
        run, count = runs[place], len(mine[place])
        if count < run.pulls:
            left.append(Run(run.arm, run.first + count, run.pulls - count))
    return Advance(done, [values[at] for at in order], [seconds[at] for at in order], left)
