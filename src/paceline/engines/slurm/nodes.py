"""The nodes of the allocation as a race sees them: those that it has, and those that are gone.

The controller takes minutes to find that a node is down. So a node on which a step could not be
started is left alone for a while.
"""

import math
from collections.abc import Sequence

from paceline.engines.events import Resized
from paceline.engines.slurm.allocation import Node

_FIRST_PAUSE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 600.0


class Nodes:
    """The nodes in the order of their places, which they keep.

    >>> nodes = Nodes([Node("n1", 20), Node("n2", 20)])
    >>> nodes.update([Node("n1", 20)])
    ['n2 is gone from the job']
    >>> nodes.sizes(), nodes.update([Node("n1", 20)])
    ((20, 0), [])
    >>> nodes.suspect(0, now=100.0, why="no route to host")
    'n1 does not answer (no route to host)'
    >>> nodes.sizes(), nodes.next_moment
    ((0, 0), 130.0)
    >>> nodes.revive(131.0)
    ['n1 is tried again']
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.all = list(nodes)
        self.gone: set[int] = set()
        self._paused: dict[int, float] = {}  # until when, for a node that did not answer
        self._pauses: dict[int, int] = {}  # how often it was left alone

    def update(self, present: Sequence[Node]) -> list[str]:
        """The job has these nodes now; returns what has changed."""
        names = {node.name for node in present}
        known = {node.name: place for place, node in enumerate(self.all)}
        news = []
        for name, place in known.items():
            if name not in names and place not in self.gone:
                self.gone.add(place)
                news.append(f"{name} is gone from the job")
            elif name in names and place in self.gone:
                self.gone.discard(place)
                news.append(f"{name} is back")
        for node in present:
            if node.name not in known:
                self.all.append(node)
                news.append(f"{node.name} has come")
        return news

    def suspect(self, place: int, now: float, why: str) -> str:
        """No step could be started on a node: leave it alone for a while; returns the news."""
        if place in self._paused or place in self.gone:
            return ""
        times = self._pauses[place] = self._pauses.get(place, 0) + 1
        pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** (times - 1), _LONGEST_PAUSE_SECONDS)
        self._paused[place] = now + pause
        return f"{self.all[place].name} does not answer ({why})"

    def trust(self, place: int) -> None:
        """A step has been started on a node: all is well with it."""
        self._pauses.pop(place, None)

    @property
    def next_moment(self) -> float:
        """When a node is to be tried again; infinite if there is none."""
        return min(self._paused.values(), default=math.inf)

    def revive(self, now: float) -> list[str]:
        """Try those again whose pause is over; returns the news."""
        over = [place for place, until in self._paused.items() if until <= now]
        for place in over:
            del self._paused[place]
        back = [place for place in over if place not in self.gone]
        return [f"{self.all[place].name} is tried again" for place in back]

    def usable(self) -> list[Node]:
        """Those on which steps can be started."""
        away = self.gone | self._paused.keys()
        return [node for place, node in enumerate(self.all) if place not in away]

    def sizes(self, unit: str = "cores") -> tuple[int, ...]:
        """The cores or devices of each, 0 for those that are away."""
        away = self.gone | self._paused.keys()
        return tuple(
            0 if place in away else node.gpus if unit == "gpus" else node.cores
            for place, node in enumerate(self.all)
        )

    def resized(self, why: str, unit: str, *, spans: bool) -> Resized:
        """What is reported when they have changed; with `spans` they are one pool."""
        sizes, memory = self.sizes(unit), tuple(node.memory for node in self.all)
        if spans:
            sizes, memory = (sum(sizes),), (sum(node.memory for node in self.usable()),)
        return Resized(sizes, why, memory if all(memory) else ())
