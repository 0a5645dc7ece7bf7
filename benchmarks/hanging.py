"""Five arms, one of which always hangs: is the best of the others named? Really timed.

The arm that hangs is at every place in turn. Once there is a deadline and nothing else; once a
confidence and a timeout.
"""

import random
import time
from functools import partial

import paceline
from paceline.display.table import Table

_ARMS = 5
_RACES = 20
_DEADLINE_SECONDS = 8.0
_TIMEOUT_SECONDS = 1.0


def evaluate(arm: int, *, seed: int, hanging: int) -> float:
    """A higher number is a better arm."""
    if arm == hanging:
        time.sleep(3600.0)
    time.sleep(0.02)
    return arm + random.Random(seed).gauss(0.0, 1.0)


def _right(number: int, **options: object) -> tuple[bool, float]:
    hanging = number % _ARMS
    best = max(arm for arm in range(_ARMS) if arm != hanging)
    function = partial(evaluate, hanging=hanging)
    began = time.perf_counter()
    result = paceline.race(
        function,
        range(_ARMS),
        seed=number,
        progress=False,
        **options,  # type: ignore[arg-type]
    )
    return result.best == best, time.perf_counter() - began


def run() -> Table:
    """How often the best of the others was named, and the longest race."""
    rows: list[tuple[object, ...]] = []
    for name, options in (
        (f"deadline {_DEADLINE_SECONDS:g} s", {"deadline": _DEADLINE_SECONDS}),
        (
            f"confidence 0.95, timeout {_TIMEOUT_SECONDS:g} s",
            {"confidence": 0.95, "timeout": _TIMEOUT_SECONDS},
        ),
    ):
        found = [_right(number, **options) for number in range(_RACES)]
        right, longest = sum(one for one, _ in found), max(seconds for _, seconds in found)
        rows.append((name, f"{right} of {_RACES}", longest, f"{_RACES} of {_RACES}"))
    return Table(("goal", "right", "longest race, s", "promise"), rows)
