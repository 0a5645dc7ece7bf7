"""`python -m benchmarks [NAME …]`: measure, print, and keep the tables as CSV."""

import csv
import sys
import time
from pathlib import Path

from benchmarks import (
    both,
    deadlines,
    driver,
    elastic,
    engine,
    errors,
    figure3,
    figure4,
    guarantee,
    hanging,
    journal,
    lateness,
    live,
    pairing,
    planner,
    planning,
    pools,
    racing,
    remaining,
    report,
    robustness,
    sleeping,
    speed,
    staged,
    startup,
    tolerance,
    unequal,
    users,
)
from benchmarks.clusters import dask as dask_engine
from benchmarks.clusters import executor as executor_engine
from benchmarks.clusters import manual as manual_engine
from benchmarks.clusters import ray as ray_engine
from benchmarks.clusters import same as same_race
from benchmarks.clusters import slurm as slurm_engine
from paceline.display.table import print_table
from paceline.errors import PacelineError

BENCHMARKS = {
    "speed": speed.run,
    "engine": engine.run,
    "figure3": figure3.run,
    "figure4": figure4.run,
    "errors": errors.run,
    "racing": racing.run,
    "family": racing.run_family,
    "noise": racing.run_noise,
    "steps": racing.run_steps,
    "streaming": racing.run_streaming,
    "startup": startup.run,
    "journal": journal.run,
    "report": report.run,
    "lateness": lateness.run,
    "live": live.run,
    "guarantee": guarantee.run,
    "guarantee-tolerance": guarantee.run_tolerance,
    "users": users.run,
    "robustness": robustness.run,
    "pairing": pairing.run,
    "tolerance": tolerance.run,
    "planner": planner.run,
    "planning": planning.run,
    "planning-real": planning.run_real,
    "time-left": remaining.run,
    "pools": pools.run,
    "unequal": unequal.run,
    "sleeping": sleeping.run,
    "driver": driver.run,
    "hanging": hanging.run,
    "both": both.run,
    "staged": staged.run,
    "staged-bounds": deadlines.run_bounds,
    "staged-real": deadlines.run_real,
    "staged-family": staged.run_family,
    "staged-plus": staged.run_plus,
    "elastic-pull": elastic.run_pull,
    "elastic-rounds": elastic.run_rounds,
    "engines-ray": ray_engine.run,
    "engines-dask": dask_engine.run,
    "engines-slurm": slurm_engine.run,
    "engines-executor": executor_engine.run,
    "engines-manual": manual_engine.run,
    "engines-same": same_race.run,
}
ENGINES = [name for name in BENCHMARKS if name.startswith("engines-")]


def main(names: list[str]) -> None:
    folder = Path("bench-results")
    folder.mkdir(exist_ok=True)
    for name in [one for given in names or BENCHMARKS for one in _meant(given)]:
        began = time.perf_counter()
        try:
            table = BENCHMARKS[name]()
        except PacelineError as error:  # a library or a cluster is missing
            print(f"\n{name}: not measured: {error}", flush=True)
            continue
        print(f"\n{name} ({time.perf_counter() - began:.0f} s)\n", flush=True)
        print_table(table)
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([table.columns, *table.rows])


def _meant(name: str) -> list[str]:
    """The benchmarks of a name: `engines` are those of all engines."""
    return ENGINES if name == "engines" else [name]


if __name__ == "__main__":
    main(sys.argv[1:])
