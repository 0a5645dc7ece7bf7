"""Pulls for the tests: processes that run them import this module, and must not import Dask."""

import random
import time


def long(arm: float) -> float:
    time.sleep(600.0)
    return arm


def noisy(arm: float, *, seed: int) -> float:
    return arm + seed % 100 / 10


def slow(arm: float, *, seed: int, cores: int) -> float:
    time.sleep(0.1 * cores**-0.5)
    return arm + seed % 100 / 20


def hangs_at_one(arm: int, *, seed: int) -> float:
    while arm == 1:
        time.sleep(1.0)
    time.sleep(0.02)
    return arm + random.Random(seed).gauss(0.0, 0.5)
