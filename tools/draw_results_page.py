"""Draw the pictures of docs/results.md from a race that is run now: for half a minute, on 8 cores.

Its pulls sleep, so they need no machine of that size: `python tools/draw_results_page.py`.
"""

import random
import time
from pathlib import Path

import paceline

_IMAGES = Path(__file__).parents[1] / "docs" / "images"
_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


def evaluate(arm: dict[str, float], *, seed: int, cores: int) -> float:
    """Train for a while: more cores make it quicker, never in proportion."""
    noise = random.Random(f"{seed} {arm}")
    time.sleep(0.4 * noise.uniform(0.8, 1.2) / cores**0.6)
    distance = abs(_RATES.index(arm["rate"]) - 3) + 0.4 * abs(arm["depth"] - 4)
    return 0.9 - 0.05 * distance + noise.gauss(0, 0.05)


def main() -> None:
    """Race, and draw."""
    arms = [{"rate": rate, "depth": depth} for rate in _RATES for depth in (2, 4)]
    result = paceline.race(evaluate, arms, cores=8, deadline="25s", confidence=0.95, paired=False)
    print(repr(result))
    for name, ax in (("race", result.plot.race()), ("pool", result.plot.pool())):
        ax.figure.savefig(_IMAGES / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
