"""How late races with a deadline end: on a calm machine, and against a machine full of others."""

import json
import os
import random
import subprocess
import sys
import time

import numpy as np

import paceline
from benchmarks.engine import sleep_unevenly
from paceline.display.table import Table

_CALM_RACES, _LOADED_RACES = 200, 40
_CALM_PROMISE_SECONDS = 0.3
_NICE, _BUSY_LOOPS = 19, 3
_BUSY = "while True: pass"
_COMMAND = ": {x}; s={seed}; sleep 0.0$((s % 90 + 10)); echo $((s % 100))"


def races(count: int, seed: int, shortest: float, longest: float) -> list[tuple[float, float]]:
    """Run races of functions and of commands in turn; their deadlines, and how late each was."""
    late = []
    for number in range(count):
        deadline = random.Random(seed + number).uniform(shortest, longest)
        began = time.perf_counter()
        if number % 2:
            command = paceline.Command.parse(_COMMAND, shell=True)
            arms = [{"x": arm} for arm in range(8)]
            paceline.race(command, arms, deadline=deadline, cores=8, seed=number, progress=False)
        else:
            paceline.race(
                sleep_unevenly, range(8), deadline=deadline, cores=8, seed=number, progress=False
            )
        late.append((deadline, time.perf_counter() - began - deadline))
    return late


def loaded_races(count: int) -> list[tuple[float, float]]:
    """The same in a process that has to give way to several busy ones."""
    loops = [subprocess.Popen([sys.executable, "-S", "-c", _BUSY]) for _ in range(_BUSY_LOOPS)]
    try:
        words = [sys.executable, "-m", "benchmarks.lateness", str(count)]
        found = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
    finally:
        for one in loops:
            one.kill()
            one.wait()
    return [(deadline, late) for deadline, late in json.loads(found)]


def run() -> Table:
    """The worst and the mean of both, beside what is promised."""
    rows: list[tuple[object, ...]] = []
    calm = [late for _, late in races(_CALM_RACES, 0, 0.5, 2.5)]
    rows.append((f"{_CALM_RACES} races, mean lateness in s", float(np.mean(calm)), "–"))
    rows.append(("… worst", max(calm), f"at most {_CALM_PROMISE_SECONDS}"))
    loaded = loaded_races(_LOADED_RACES)
    what = f"{_LOADED_RACES} races at nice {_NICE} against {_BUSY_LOOPS} busy loops"
    rows.append((f"{what}, mean", float(np.mean([late for _, late in loaded])), "–"))
    rows.append(("… worst", max(late for _, late in loaded), "–"))
    share = max(late / max(1.0, 0.02 * deadline) for deadline, late in loaded)
    rows.append(("… as a share of 1 s or 2 %", share, "at most 1"))
    return Table(("what", "measured", "promise"), rows)


if __name__ == "__main__":
    races(2, 0, 2.0, 2.0)  # the first ones in a process also import much
    os.nice(_NICE)
    # A race takes some 12 ms of its process's own time, and gets one part in a hundred.
    print(json.dumps(races(int(sys.argv[1]), 1_000, 2.0, 6.0)))
