"""The rules for pulls: how many cores they may have, for how long, and how often they are tried."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from paceline.core.pool import CorePool
from paceline.pools.room import Asked


@dataclass(frozen=True)
class Rules:
    """The pool, what a pull may have of it, and what counts as its failure."""

    cores: int
    least_cores: int
    most_cores: int  # of a pull: what was asked for, or what the largest node has
    nodes: tuple[int, ...] = ()  # the cores of each, 0 for one that is gone; none: a single one
    asked: Asked = Asked()  # noqa: RUF009 - it is frozen
    retries: int = 2
    timeout: float = math.inf  # seconds
    allowed: Callable[[float], bool] | None = None  # values that were declared possible
    keeps_prints: bool = True  # what pulls print
    backups: bool = False  # whether a slow pull may run twice: its value depends on its seed alone

    def pool(self, runtime: Callable[[int], float]) -> CorePool:
        """The pool on which a pull on c cores takes `runtime(c)`, with only the cores it may have.

        >>> Rules(cores=4, least_cores=2, most_cores=2).pool(lambda cores: 8 / cores).seconds(1)
        4.0
        """
        least, most = self.least_cores, self.most_cores
        return CorePool(
            self.cores,
            lambda cores: math.inf if cores < least else runtime(min(cores, most)),
            [node for node in self.nodes if node],
        )

    def on(self, nodes: tuple[int, ...], memory: tuple[int, ...] = ()) -> "Rules":
        """The same rules on these nodes, as far as the race may use them.

        >>> rules = Rules(cores=12, least_cores=1, most_cores=8, nodes=(8, 4))
        >>> rules.on((0, 4, 2)).most_cores
        4
        """
        room = self.asked.room(nodes, memory)
        return replace(
            self,
            cores=sum(room.nodes),
            nodes=room.nodes,
            least_cores=room.least,
            most_cores=room.most,
        )

    @property
    def is_usable(self) -> bool:
        """Whether a pull fits anywhere: nodes may be gone."""
        return max(self.nodes, default=self.cores) >= self.least_cores

    def within(self, cores: int) -> int:
        """`cores`, or the nearest number that a pull may have."""
        return min(max(cores, self.least_cores), self.most_cores)

    def core_levels(self) -> list[int]:
        """The core counts to try: halved from the most to the least, so that they pack well.

        >>> Rules(cores=12, least_cores=1, most_cores=12).core_levels()
        [12, 6, 3, 1]
        """
        levels = [self.most_cores]
        while levels[-1] > self.least_cores:
            levels.append(max(self.least_cores, levels[-1] // 2))
        return levels

    def first_widths(self) -> list[int]:
        """The cores of the first pulls: two on each count but all, side by side.

        While nothing is known, no pull has the whole pool: it might never end; and to free it takes
        time. Only where there is no other count to compare with, a last one gets it.

        >>> Rules(cores=12, least_cores=1, most_cores=12).first_widths()
        [6, 3, 1, 6, 3, 1]
        >>> Rules(cores=2, least_cores=1, most_cores=2).first_widths()
        [1, 1, 2]
        """
        levels = self.core_levels()
        if levels[0] < self.cores or len(levels) == 1:
            return levels * 2
        return levels[1:] * 2 + (levels[:1] if len(levels) == 2 else [])
