"""What the driver of a race costs: its CPU time for each job, by the size of the pool.

Pulls take a virtual second on any number of cores, and nothing else happens: what is left after the
time of the simulated workers is the driver's own. PACELINE_BEFORE may name the folder of another
checkout, which is then measured as well.
"""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import paceline
from paceline.core.pool import CorePool
from paceline.display.table import Table
from paceline.engines.simulated import SimulatedEngine

_ROUNDS = 3  # the least of several runs counts: machines are shared
_PULLS = {40: 20_000, 1_000: 60_000, 10_000: 200_000}
_NODE = 50  # cores: pools that are larger are also measured as a cluster of such nodes


class _Timed:
    """Workers that note how much CPU time goes into them."""

    def __init__(self, workers: Any) -> None:
        self.workers = workers
        self.seconds = 0.0
        self.jobs = 0

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.workers, name)
        if name not in ("start", "end", "wait"):
            return member

        def call(*given: Any) -> Any:
            began = time.process_time()
            try:
                return member(*given)
            finally:
                self.seconds += time.process_time() - began
                self.jobs += name == "start"

        return call


class _Engine(SimulatedEngine):
    def open(self, workload: Any, cores: int) -> Any:
        self.timed = _Timed(super().open(workload, cores))
        return self.timed


def _evaluate(_: int, *, seed: int) -> float:
    return random.Random(seed).gauss(0.0, 1.0)


def measure(cores: int, pulls: int, nodes: tuple[int, ...] = ()) -> dict[str, float]:
    """A race of 64 arms that tie, up to that many pulls."""
    more: dict[str, Any] = {"nodes": nodes} if nodes else {}
    engine = _Engine(cores, seconds=lambda _: 1.0, group=1, **more)
    began = time.process_time()
    result = paceline.race(
        _evaluate,
        range(64),
        engine=engine,
        scaling=CorePool(cores, lambda _: 1.0, *([nodes] if nodes else [])),
        noise="normal",
        max_pulls=pulls,
        progress=False,
    )
    seconds = time.process_time() - began - engine.timed.seconds
    return {
        "jobs": engine.timed.jobs,
        "ms a job": 1000 * seconds / engine.timed.jobs,
        "cores": seconds / result.elapsed,
    }


def _best(source: Path, cores: int, *, nodes: bool = False) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.driver", str(cores), *["nodes"] * nodes]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(source / "src"), "."))}
    found = [
        json.loads(subprocess.run(words, check=True, capture_output=True, env=environment).stdout)
        for _ in range(_ROUNDS)
    ]
    return min(found, key=lambda one: one["ms a job"])


def run() -> Table:
    """CPU time a job, and the share of a core that the driver needs for pulls of a second."""
    sources = {"now": Path(".")}
    if before := os.environ.get("PACELINE_BEFORE"):
        sources["before"] = Path(before)
    rows: list[tuple[object, ...]] = []
    for name, source in sources.items():
        least = _best(source, 40)["ms a job"]
        for cores in _PULLS:
            one = _best(source, cores)
            rows.append((name, cores, one["ms a job"], one["ms a job"] / least, one["cores"]))
        if name == "now":
            one = _best(source, cores, nodes=True)
            what = f"{cores} on nodes of {_NODE}"
            rows.append((name, what, one["ms a job"], one["ms a job"] / least, one["cores"]))
    columns = ("code", "cores", "ms of CPU a job", "against 40 cores", "cores used by the driver")
    return Table(columns, rows)


if __name__ == "__main__":
    size = int(sys.argv[1])
    cluster = (_NODE,) * (size // _NODE) if sys.argv[2:] else ()
    print(json.dumps(measure(size, _PULLS[size], cluster)))
