"""Functions that are raced for real; by themselves, since every worker imports this module."""

import random
import time

SLEEP_SECONDS = 0.1  # about, for a pull on one core


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 0.5)


def sleepy(arm: float, *, seed: int, cores: int) -> float:
    """0 or 1, 1 with probability `arm`; takes log-normal times, 1 of 50 is 20 times as slow."""
    rng = random.Random(seed)
    seconds = SLEEP_SECONDS * cores**-0.5 * rng.lognormvariate(0.0, 0.3)
    time.sleep(20 * seconds if rng.random() < 0.02 else seconds)
    return float(rng.random() < arm)
