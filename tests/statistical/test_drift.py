"""A machine that slows down does so for all arms alike: they take turns, pull by pull.

Half of the variance is the machine's, and changes slowly. If an arm had the machine for a while,
its luck would pass for merit.
"""

import random
from collections.abc import Callable

import pytest

from benchmarks import inprocess
from benchmarks.inprocess import in_process
from paceline import race
from paceline.pools.backlog import Backlog
from tests.statistical.test_guarantee import refutes

ARMS = 4
RACES = 100
CONFIDENCE = 0.95


def drifting(place: int, entropy: int) -> Callable[[int], float]:
    """The arm at `place` is a little better than the others."""
    rng = random.Random(entropy)
    machine = 0.0

    def evaluate(arm: int) -> float:
        nonlocal machine
        machine = 0.9 * machine + (1 - 0.9**2) ** 0.5 * rng.gauss(0, 1)
        return float(0.02 * (arm == place) + machine + rng.gauss(0, 1))

    return evaluate


def errors() -> int:
    found = 0
    for number in range(RACES):
        place = number % ARMS
        result = race(
            drifting(place, number),
            list(range(ARMS)),
            confidence=CONFIDENCE,
            max_pulls=1200,
            engine=in_process(),
            progress=False,
        )
        found += place not in (result.chosen if result.decided else result.still_in)
    return found


def test_a_drifting_machine_puts_nobody_out() -> None:
    assert not refutes(errors(), RACES, 1 - CONFIDENCE)


def test_control_turns_of_sixteen_pulls_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    single = Backlog._next_arm

    def by_sixteens(self: Backlog) -> int:
        """Whoever was last goes on, until it has had sixteen."""
        last = getattr(self, "last", None)
        if last is not None and self._next[last] % 16:
            for turn in self._turns:
                if turn[2] == last:
                    self._turns.remove(turn)
                    self._turns.insert(0, turn)
        self.last = single(self)  # type: ignore[attr-defined]
        return int(self.last)  # type: ignore[attr-defined]

    monkeypatch.setattr(Backlog, "_next_arm", by_sixteens)
    # Nor do the pulls of a group take turns then.
    monkeypatch.setattr(inprocess, "GROUP", 1)
    assert refutes(errors(), RACES, 1 - CONFIDENCE)
