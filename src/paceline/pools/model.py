"""What is known of a real pool's λ: as it was given, or as learned from the pulls so far."""

from collections.abc import Sequence

from paceline.core.delays import Delays
from paceline.core.pool import CorePool
from paceline.core.scaling import PowerLaw
from paceline.pools.allocation import Allocator
from paceline.pools.rules import Rules
from paceline.pools.timekeeping import Timekeeper

_WORTH_A_FIT = 1.2  # τ is fitted again when there are 1.2 times as many pulls

# λ before anything is known: no deadline is too short for it.
NO_IDEA = PowerLaw(1.0, unit_seconds=1e-12)


class PoolModel:
    """The pool, how pulls deviate from it (`delays`), and what gives out its cores (`allocator`).

    `given` says how long a pull takes by its cores, `shape` the same up to a factor; without either
    it is learned. All are None as long as nothing is known.
    """

    def __init__(
        self, rules: Rules, given: CorePool | None = None, shape: CorePool | None = None
    ) -> None:
        self.pool = given
        self.delays: Delays | None = None
        self.learns = given is None
        known = given or shape
        self.allocator = None if known is None else Allocator(known)
        self._rules = rules
        self._shape = shape
        self._pulls_at_fit = 0
        self._pulls_at_delays = 0

    @property
    def wants_probes(self) -> bool:
        """Whether pulls on different core counts have to show how they scale."""
        return self.pool is None and self._shape is None

    def learn(
        self, times: Timekeeper, pulls: int, under_way: Sequence[tuple[int, float]] = ()
    ) -> None:
        """Fit τ and delays to the pulls so far, if enough of them are new."""
        if not self._rules.is_usable:  # no node is left: what was known stays
            return
        if (
            pulls
            and self.learns
            and (self.pool is None or self._is_much(pulls, self._pulls_at_fit))
        ):
            self._pulls_at_fit = pulls
            runtime = times.level(self._shape) if self._shape else times.runtime()
            self.use(self._rules.pool(runtime))
        if self.pool is not None and (
            self.delays is None or self._is_much(pulls, self._pulls_at_delays)
        ):
            self._pulls_at_delays = pulls
            self.delays = times.delays(self.pool, under_way)

    def resize(self, rules: Rules) -> None:
        """The pool has another size: what is known of the times of pulls stays."""
        self._rules = rules
        known = self.pool or (self.allocator.pool if self.allocator else None)
        if known is None or not rules.is_usable:
            return
        table = known.runtime_seconds
        resized = rules.pool(lambda cores: float(table[min(cores, table.size) - 1]))
        if self._shape is not None:
            self._shape = resized
        self._pulls_at_fit = 0  # wider pulls than the old pool allowed may be known
        if self.pool is None:
            self.allocator = Allocator(resized)
        else:
            self.use(resized)

    def use(self, pool: CorePool) -> None:
        """Give out cores by this pool from now on."""
        if pool != self.pool:
            self.pool = pool
            self.delays = None  # they are relative to it
            self.allocator = Allocator(pool)

    def expected_seconds(self, cores: int) -> float | None:
        """How long a pull on `cores` cores takes; None if nothing is known."""
        return None if self.pool is None else float(self.pool.runtime_seconds[cores - 1])

    def _is_much(self, pulls: int, before: int) -> bool:
        return pulls >= _WORTH_A_FIT * before
