"""The same race of 64 arms on every engine: the same answer, the same values, and how long it took.

Pulls sleep for c^-.5 seconds on c of 40 logical cores. Half of the arms drop out after every round,
so that the rounds, and what λ says of them, are the same everywhere. What is done ahead of a round
depends on who is idle when; so the values compared are those that the rounds asked for.
"""

import contextlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paceline
from benchmarks.clusters import manual, ray, slurm
from benchmarks.clusters.manual import Halving, seconds_of
from paceline.display.table import Table
from paceline.errors import PacelineError
from paceline.journal.reading import read_records
from paceline.journal.records import PullsReturned

_NODES = (20, 20)
_ARMS, _EACH = 64, 4
_HALVINGS = [_ARMS >> number for number in range(_ARMS.bit_length() - 1)]
_MOST = 1.15  # times what λ says

Values = dict[tuple[int, int], float]  # by arm and number of the pull


def sleeper() -> Callable[..., float]:
    """The pull; made here so that it is sent by value, and no worker imports this module."""

    def pull(arm: int, *, seed: int, cores: int) -> float:
        time.sleep(cores**-0.5)
        return arm + random.Random(seed).gauss(0.0, 1.0)

    return pull


@contextlib.contextmanager
def on_ray() -> Iterator[Any]:
    """Ray on two nodes."""
    with ray.cluster(*_NODES):
        yield "ray"


@contextlib.contextmanager
def on_dask() -> Iterator[Any]:
    """Dask with two workers."""
    from distributed import Client, LocalCluster

    from paceline.engines.dask import DaskEngine

    with (
        LocalCluster(
            n_workers=len(_NODES),
            threads_per_worker=_NODES[0],
            resources={"cores": _NODES[0]},
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield DaskEngine(client)


@contextlib.contextmanager
def on_slurm() -> Iterator[Any]:
    """Slurm with two nodes, inside an allocation of both."""
    with slurm.allocation():
        yield "slurm"


@contextlib.contextmanager
def on_loky() -> Iterator[Any]:
    """A pool of 40 processes."""
    import loky

    executor = loky.ProcessPoolExecutor(sum(_NODES))
    try:
        yield executor
    finally:
        executor.shutdown(kill_workers=True)


@contextlib.contextmanager
def on_this_machine() -> Iterator[Any]:
    """The local engine, as a control."""
    yield "local"


# Each with the nodes of its pool, and the most cores that a pull may have.
ENGINES: dict[str, tuple[Callable[[], Any], tuple[int, ...], int]] = {
    "local": (on_this_machine, (), 40),
    "Ray, two nodes": (on_ray, _NODES, 20),
    "Dask, two workers": (on_dask, _NODES, 20),
    "Slurm, two nodes": (on_slurm, _NODES, 20),
    "loky": (on_loky, (), 1),
}


def pool_of(nodes: tuple[int, ...], most: int) -> paceline.CorePool:
    """What λ is on such a pool."""

    def runtime(cores: int) -> float:
        return seconds_of(cores) if cores <= most else float("inf")

    return paceline.CorePool(sum(_NODES), runtime, nodes)


def race_on(name: str, journal: Path) -> paceline.Result:
    """The race on an engine."""
    start, nodes, most = ENGINES[name]
    with start() as engine:
        return paceline.race(
            sleeper(),
            range(_ARMS),
            deadline=1e6,
            policy=Halving(_EACH),
            engine=engine,
            cores=sum(_NODES),
            scaling=pool_of(nodes, most),
            journal=journal,
            paired=False,
            backups=False,
            progress=False,
        )


def values_in(journal: Path) -> Values:
    """The values of a journal."""
    found: Values = {}
    for record in read_records(journal):
        if isinstance(record, PullsReturned):
            numbers = [(run.arm, run.first + k) for run in record.pulls for k in range(run.pulls)]
            found |= dict(zip(numbers, record.values, strict=True))
    return found


def asked_for(values: Values) -> Values:
    """What the rounds asked for, worked out from the values themselves."""
    told: Values = {}
    arms = list(range(_ARMS))
    for number, size in enumerate(_HALVINGS):
        assert len(arms) == size
        fresh = range(number * _EACH, (number + 1) * _EACH)
        told |= {(arm, k): values[arm, k] for arm in arms for k in fresh}
        sums = {arm: sum(told[arm, k] for k in range((number + 1) * _EACH)) for arm in arms}
        arms = sorted(sorted(arms, key=lambda arm: -sums[arm])[: size // 2])
    return told


def run() -> Table:
    """A row per engine; ask and tell is the one that the others are compared with."""
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = manual.by_script(folder / "asked.jsonl")
        record = asked_for(values_in(folder / "asked.jsonl"))
        rows.append(_row("ask and tell, a script", first, first, record, record, (), 40))
        for number, engine in enumerate(ENGINES):
            journal = folder / f"{number}.jsonl"
            try:
                result = race_on(engine, journal)
            except PacelineError as error:
                rows.append((engine, "–", "–", "–", "–", "–", f"not measured: {error}"))
                continue
            _, nodes, most = ENGINES[engine]
            rows.append(
                _row(engine, result, first, asked_for(values_in(journal)), record, nodes, most)
            )
    columns = ("engine", "best", "same record", "seconds", "by λ", f"ratio (≤ {_MOST})", "cores")
    return Table(columns, rows)


def _row(
    name: str,
    result: paceline.Result,
    first: paceline.Result,
    values: Values,
    record: Values,
    nodes: tuple[int, ...],
    most: int,
) -> tuple[object, ...]:
    predicted = sum(pool_of(nodes, most).seconds(_EACH * arms) for arms in _HALVINGS)
    same = "yes" if values == record and result.index == first.index else "NO"
    spent = result.core_time.describe()
    return name, result.best, same, result.elapsed, predicted, result.elapsed / predicted, spent


if __name__ == "__main__":
    from paceline.display.table import print_table

    print_table(run())
