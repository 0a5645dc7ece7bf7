"""A pool of whole cores, seen as a scaling: pulls run in waves, each on a whole number of cores."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints, positive, whole
from paceline.core.scaling import MOST_PULLS_AT_ONCE, ROUNDING, Tabulated
from paceline.errors import InvalidInput

Runtime = Callable[[int], float] | Mapping[int, float]


MOST_CORES = 100_000  # the table below has an entry per core


@dataclass(frozen=True)
class Wave:
    """Pulls that start together, each on `cores` cores; `repeat` such waves follow each other."""

    pulls: int
    cores: int
    seconds: float
    repeat: int = 1


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CorePool(Tabulated):
    """λ of a pool of whole cores, where one pull on c cores takes `runtime(c)` seconds.

    m pulls run in waves; a wave of w pulls gives each ⌊cores/w⌋ cores, and λ(m) is the least
    time of any sequence of waves for m pulls. So λ steps up wave by wave, is subadditive but
    not concave, and past `cores` pulls a bigger round buys no more throughput. `runtime` may be
    measured seconds, {cores: seconds}: between two of these counts, the smaller one is used.

    The cores may be those of several `nodes`, given as the cores of each. A pull runs within one
    node, so pulls on c cores run Σ⌊node/c⌋ at a time:

    >>> CorePool(8, lambda cores: 12 / cores, nodes=(4, 4)).waves(2)
    (Wave(pulls=2, cores=4, seconds=3.0, repeat=1),)
    >>> CorePool(8, lambda cores: 12 / cores, nodes=(5, 3)).waves(2)
    (Wave(pulls=2, cores=3, seconds=4.0, repeat=1),)

    >>> pool = CorePool(4, lambda cores: 8 / cores**0.5)
    >>> [pool.seconds(m) for m in (1, 4, 5, 8)]
    [4.0, 8.0, 12.0, 16.0]
    >>> pool.pulls(12.0)
    5.0
    >>> pool.waves(5)
    (Wave(pulls=4, cores=1, seconds=8.0, repeat=1), Wave(pulls=1, cores=4, seconds=4.0, repeat=1))
    """

    cores: int
    nodes: tuple[int, ...]  # the cores of each, the largest first
    runtime_seconds: Floats  # of one pull on 1, 2, … cores, up to those of the largest node
    # Among waves that give each pull the same cores, only the full one is kept; of those with
    # equally many pulls, the one with the most cores. The best has the highest throughput.
    _per_pull: Ints
    _widths: Ints
    _wave_seconds: Floats
    _best_width: int
    _best_seconds: float

    def __init__(self, cores: int, runtime: Runtime, nodes: Sequence[int] = ()) -> None:
        count = whole(cores, "cores of CorePool")
        if count > MOST_CORES:
            raise InvalidInput(f"CorePool takes at most {MOST_CORES} cores, got {cores}")
        sizes = tuple(sorted((whole(node, "a node") for node in nodes), reverse=True)) or (count,)
        if sum(sizes) != count:
            raise InvalidInput(f"nodes of CorePool have {sum(sizes)} cores in all, not {cores}")
        seconds = _tabulate(sizes[0], runtime)
        seconds.flags.writeable = False
        per_pull, widths = _full_waves(sizes)
        wave_seconds = seconds[per_pull - 1]
        best = int(np.argmin(wave_seconds / widths))
        vars(self).update(
            cores=count,
            nodes=sizes,
            runtime_seconds=seconds,
            _per_pull=per_pull,
            _widths=widths,
            _wave_seconds=wave_seconds,
            _best_width=int(widths[best]),
            _best_seconds=float(wave_seconds[best]),
        )

    @cached_property
    def table(self) -> tuple[tuple[int, ...], bytes]:
        """The cores of each node, and the seconds of a pull on each count."""
        return self.nodes, self.runtime_seconds.tobytes()

    @cached_property
    def _least_seconds(self) -> Floats:
        """The least seconds of 0, 1, … pulls, up to where only waves of the best kind are added.

        Take as many other waves as the best one is wide: some of them make up a multiple of its
        width and can be exchanged for it. So cores² pulls suffice. The cap keeps huge pools quick.
        """
        most = min(self.cores**2, max(4 * self.cores, 10_000))
        least = np.zeros(most + 1)
        for pulls in range(1, most + 1):
            before = np.maximum(pulls - self._widths, 0)
            least[pulls] = (least[before] + self._wave_seconds).min()
        return least

    def _split(self, pulls: Ints) -> tuple[Ints, Ints]:
        """How many waves of the best kind come first, and how many pulls are left after them."""
        over = np.maximum(pulls - (self._least_seconds.size - 1), 0)
        bulk = -(-over // self._best_width)
        return bulk, pulls - bulk * self._best_width

    def _seconds(self, pulls: Floats) -> Floats:
        countable = np.minimum(np.ceil(pulls * (1 - ROUNDING)), MOST_PULLS_AT_ONCE)
        bulk, rest = self._split(countable.astype(np.int64))
        return bulk * self._best_seconds + self._least_seconds[rest]

    def _pulls(self, seconds: Floats) -> Floats:
        slack = seconds * (1 + ROUNDING)
        over = np.maximum(slack - self._least_seconds[-1], 0.0)
        bulk = np.ceil(over / self._best_seconds)
        left = slack - bulk * self._best_seconds
        rest = np.searchsorted(self._least_seconds, left, side="right") - 1
        pulls: Floats = bulk * self._best_width + np.maximum(rest, 0)
        return pulls

    def waves(self, pulls: int) -> tuple[Wave, ...]:
        """The waves that complete `pulls` pulls in λ(pulls) seconds, the widest first."""
        total = whole(pulls, "pulls", least=0)
        bulk, rest = (int(part) for part in self._split(np.asarray(total)))
        widths = Counter({self._best_width: bulk})
        while rest > 0:
            before = np.maximum(rest - self._widths, 0)
            chosen = int(np.argmin(self._least_seconds[before] + self._wave_seconds))
            widths[min(int(self._widths[chosen]), rest)] += 1
            rest = int(before[chosen])
        falling = sorted(widths.items(), reverse=True)
        return tuple(self._wave(width, repeat) for width, repeat in falling if repeat)

    def _wave(self, pulls: int, repeat: int) -> Wave:
        most = self._per_pull[self._widths >= pulls].max()  # cores that each of them can have
        seconds = float(self.runtime_seconds[most - 1])
        # Cores that do not shorten a pull stay idle.
        cores = 1 + int(np.argmax(self.runtime_seconds <= seconds))
        return Wave(pulls, cores, seconds, repeat)

    @property
    def widest(self) -> float:
        """The number of pulls in the wave with the highest throughput."""
        return float(self._best_width)

    @property
    def least_seconds_per_pull(self) -> float:
        """Seconds per pull in the wave with the highest throughput."""
        return self._best_seconds / self._best_width

    def to_json(self) -> dict[str, Any] | list[float | None]:
        """The seconds of a pull on 1, 2, … cores; None where that is too few for a pull.

        Several nodes are written beside them.

        >>> CorePool.from_json(CorePool(2, {1: 3.0, 2: 2.0}).to_json()).seconds(1)
        2.0
        >>> CorePool(3, {1: 3.0, 2: 2.0}, nodes=(2, 1)).to_json()
        {'nodes': [2, 1], 'seconds': [3.0, 2.0]}
        """
        seconds = [one if math.isfinite(one) else None for one in self.runtime_seconds.tolist()]
        return seconds if len(self.nodes) == 1 else {"nodes": [*self.nodes], "seconds": seconds}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any] | Sequence[float | None]) -> "CorePool":
        """Undo `to_json`."""
        seconds = plain["seconds"] if isinstance(plain, Mapping) else plain
        nodes = plain["nodes"] if isinstance(plain, Mapping) else [len(plain)]
        table = [math.inf if one is None else one for one in seconds]
        return cls(sum(nodes), lambda cores: table[cores - 1], nodes)

    def __repr__(self) -> str:
        one, most = self.runtime_seconds[0], self.runtime_seconds[-1]
        if len(self.nodes) == 1:
            return f"CorePool({self.cores} cores: a pull takes {one:g} s on 1, {most:g} s on all)"
        size = f"{self.cores} cores on {len(self.nodes)} nodes"
        return f"CorePool({size}: a pull takes {one:g} s on 1, {most:g} s on {self.nodes[0]})"


def _full_waves(nodes: Sequence[int]) -> tuple[Ints, Ints]:
    """The core counts of pulls worth a wave, rising, and how many such pulls run at once."""
    per_pull = np.arange(1, nodes[0] + 1)
    widths = np.zeros(nodes[0], dtype=np.int64)
    for node, equal in Counter(nodes).items():
        widths += equal * (node // per_pull)
    last = np.append(widths[1:] < widths[:-1], True)  # more cores mean fewer pulls
    return per_pull[last], widths[last]


def _tabulate(cores: int, runtime: Runtime) -> Floats:
    """Seconds of one pull on 1, 2, … cores. They never rise: a pull may leave cores idle."""
    if isinstance(runtime, Mapping):
        points = {whole(c, "a core count of CorePool"): t for c, t in runtime.items()}
        if 1 not in points:
            raise InvalidInput(f"runtime must say how long a pull takes on 1 core: {runtime!r}")
        times = [points.get(c, math.inf) for c in range(1, cores + 1)]
    elif not callable(runtime):
        raise InvalidInput(
            f"runtime must be a function of a core count, or {{cores: seconds}}: {runtime!r}"
        )
    else:
        times = [float(runtime(c)) for c in range(1, cores + 1)]
    for used, seconds in enumerate(times, start=1):
        if seconds != math.inf:
            positive(seconds, f"the runtime on {used} cores")
    return np.minimum.accumulate(np.asarray(times, dtype=np.float64))
