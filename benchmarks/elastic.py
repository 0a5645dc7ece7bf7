"""Pulls that use several cores: what more cores give, and whether rounds take what λ says."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paceline import Staged, profile, race
from paceline.commands import Command
from paceline.core.pool import CorePool
from paceline.display.table import Table
from paceline.journal import read_records
from paceline.journal.records import PullsReturned, RoundEnded
from paceline.paper.cosmology_lab import load_study
from paceline.paper.examples import example_folder, load_example
from paceline.paper.report import Setup
from paceline.races.file import read_race_file

CORES = 2
REPEATS = 10
PAIRS = 40


class Elastic(NamedTuple):
    """What is raced, and in which direction."""

    name: str
    pull: Callable[..., Any] | Command
    arms: Sequence[Any]
    direction: str


def workloads() -> list[Elastic]:
    cosmology = load_study(Setup())
    ridge = load_example("linear_algebra", "ridge")
    xz = read_race_file(example_folder("compressor") / "race.toml")
    return [
        Elastic("cosmology", cosmology.pull, cosmology.candidates, "maximize"),
        Elastic("linear algebra", ridge.evaluate, ridge.PENALTIES, "minimize"),
        Elastic("compressor", xz.command, xz.arms, "minimize"),
    ]


# Rounds.


def _races(arms: int) -> list[dict[str, Any]]:
    """One pull at a time, on all cores; rounds of many, on one core each; and cuts in between."""
    return [
        {"policy": "lil-ucb", "confidence": 0.95, "sigma": 1.0, "max_pulls": arms + 20},
        {"policy": "racing", "confidence": 0.95, "deadline": "30s"},
        {"policy": Staged(stragglers="wait"), "deadline": "20s"},
    ]


def run_rounds() -> Table:
    """The scaling is measured first, and then taken as given by three races of each workload."""
    rows: list[tuple[object, ...]] = []
    for work in workloads():
        found = profile(work.pull, work.arms, cores=CORES, repeats=REPEATS)
        pool = CorePool(CORES, found.runtime)
        means = {cores: statistics.fmean(times) for cores, times in found.measured.items()}
        errors = []
        for options in _races(len(work.arms)):
            policy = options["policy"]
            rounds = _rounds(partial(_race, work, pool, options))
            mine = [taken / pool.seconds(float(pulls)) - 1 for pulls, taken in rounds]
            errors += mine
            rows.append((work.name, str(policy), "", "", "", len(mine), *_summed(mine)))
        what = (means[1], means[CORES] / means[1], found.runtime.describe())
        rows.append((work.name, "all", *what, len(errors), *_summed(errors)))
    columns = (
        "workload",
        "races",
        "1 core s",
        "2 cores",
        "fitted",
        "rounds",
        "off",
        "signed",
        "worst",
    )
    return Table(columns, rows, keys=2)


def _summed(errors: Sequence[float]) -> tuple[float, float, float]:
    sizes = [abs(error) for error in errors]
    return statistics.median(sizes), statistics.median(errors), max(sizes)


def _race(work: Elastic, pool: CorePool, options: dict[str, Any], journal: Path) -> None:
    race(
        work.pull,
        work.arms,
        direction=work.direction,
        cores=CORES,
        scaling=pool,
        journal=journal,
        progress=False,
        **options,
    )


def _rounds(run: Callable[[Path], None]) -> list[tuple[int, float]]:
    """Pulls and seconds of the rounds of a race, from its journal.

    The first is left out: workers start in it, and load what they need.
    """
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "race.jsonl"
        run(journal)
        records = read_records(journal)
    rounds, began, pulls = [], 0.0, 0
    for record in records:
        if isinstance(record, PullsReturned):
            pulls += sum(run.pulls for run in record.pulls)
        elif isinstance(record, RoundEnded):
            rounds.append((pulls, record.at - began))
            began, pulls = record.at, 0
    return [(pulls, taken) for pulls, taken in rounds[1:] if pulls > 0]


# One pull.


def run_pull() -> Table:
    """A cosmology pull on one core and on two, by turns: seconds, cores in use, and its value."""
    work = load_study(Setup())
    arm = work.candidates[work.best]
    wall: dict[int, list[float]] = {1: [], CORES: []}
    busy: dict[int, list[float]] = {1: [], CORES: []}
    same = True
    for seed in range(PAIRS):
        values = set()
        for cores in wall:
            began, used = time.perf_counter(), time.process_time()
            values.add(work.pull(arm, seed=seed, cores=cores))
            wall[cores].append(time.perf_counter() - began)
            busy[cores].append((time.process_time() - used) / wall[cores][-1])
        same = same and len(values) == 1
    rows: list[tuple[object, ...]] = [
        (cores, statistics.median(wall[cores]), statistics.median(busy[cores])) for cores in wall
    ]
    ratios = [two / one for one, two in zip(wall[1], wall[CORES], strict=True)]
    rows += [("ratio", statistics.median(ratios), ""), ("same values", str(same), "")]
    return Table(("cores", "seconds", "cores in use"), rows)
