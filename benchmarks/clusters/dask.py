"""The Dask engine: pulls a second beside Dask's own futures, and how long rounds of pulls take.

The cluster is on this machine: two workers with twenty logical cores each.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import paceline
from paceline.core.arrays import Floats
from paceline.core.pool import Wave
from paceline.core.rounds import Results, Round
from paceline.display.table import Table
from paceline.engines.base import Engine
from paceline.engines.dask import DaskEngine
from paceline.engines.dask.workers import DaskWorkers
from paceline.engines.events import Failed, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.local import LocalEngine
from paceline.engines.workload import Workload
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races import prepare

_NODES = (20, 20)
_CORES = sum(_NODES)
_ARMS = 64
_PULLS = 400_000  # no-ops
_ALONE = 2_000  # jobs of one no-op
_REPEATS = 5
_HALVINGS = ((64, 4), (32, 4), (16, 4), (8, 4), (4, 4), (2, 4))  # arms, and pulls of each


def _root(cores: int) -> float:
    return float(cores**-0.5)


_POOL = paceline.CorePool(_CORES, _root, _NODES)


def no_op(_: int) -> float:
    return 0.0


def sleep(arm: int, *, cores: int) -> float:
    time.sleep(_root(cores))
    return float(arm)


def _group(pulls: int) -> Floats:
    # Not a list: Dask serializes those item by item, which made its own futures ten times slower.
    return np.array([no_op(0) for _ in range(pulls)])


def raw_rate(client: Any, size: int, pulls: int) -> float:
    """Pulls a second of Dask's own futures: groups of `size`, one for each core at a time."""
    from distributed import as_completed

    workers = list(client.scheduler_info()["workers"])
    sent = 0

    def submit() -> Any:
        nonlocal sent
        sent += 1
        where = workers[sent % len(workers)]
        return client.submit(_group, size, pure=False, workers=[where], resources={"cores": 1})

    began = time.perf_counter()
    done, jobs = 0, pulls // size
    running = as_completed([submit() for _ in range(_CORES)], loop=client.loop, with_results=True)
    for _, values in running:
        done += len(values)
        if sent < jobs:
            running.add(submit())
    return done / (time.perf_counter() - began)


@contextmanager
def dispatcher_for(
    engine: Engine, function: Callable[..., float], pool: paceline.CorePool, group: int
) -> Iterator[Dispatcher]:
    how = {"deadline": 1e6, "engine": engine, "scaling": pool, "cores": _CORES}
    settings = prepare(function, range(_ARMS), **how).settings
    dispatcher = Dispatcher(
        engine.open(settings.workload(), _CORES),
        settings.rules,
        Books(arms=_ARMS),
        clock=RaceClock(engine.now),
        model=PoolModel(settings.rules, pool),
        largest_group=group,
        group_seconds=engine.abilities.group_seconds,
    )
    try:
        yield dispatcher
    finally:
        dispatcher.finish()


def pull(dispatcher: Dispatcher, arms: Sequence[int], each: int) -> None:
    """Have `each` pulls of these arms done, as the loop would."""
    left = np.zeros(_ARMS, dtype=int)
    left[list(arms)] = each
    while left.any():
        some = np.flatnonzero(left)
        dispatcher.pursue(Round(some, left[some]))
        results = dispatcher.wait(1e6)
        assert isinstance(results, Results)
        left[results.arms] -= results.pulls


def engine_rate(client: Any, size: int, pulls: int) -> float:
    """Pulls a second through the engine alone: groups of `size`, one for each core at a time."""
    engine = DaskEngine(client)
    workload = Workload(no_op, range(_ARMS), lambda *run: [0] * run[2])
    with engine.open(workload, _CORES) as workers:
        _finish(workers, size, _CORES)  # the workers start here
        began = time.perf_counter()
        jobs = _finish(workers, size, pulls // size, first=_CORES)
        return jobs * size / (time.perf_counter() - began)


def _finish(workers: DaskWorkers, size: int, jobs: int, first: int = 0) -> int:
    started = ended = 0
    while ended < jobs:
        while started < jobs and started - ended < _CORES:
            node = started % len(_NODES)
            workers.start(Job(first + started, (Run(0, 0, size),), cores=1, node=node))
            started += 1
        events = workers.wait(None)
        assert not any(isinstance(event, Failed | Lost) for event in events)
        ended += sum(isinstance(event, Finished) for event in events)
    return jobs


def race_rate(client: Any, group: int, pulls: int) -> float:
    """Pulls a second of a race, with all that it keeps of them, in groups of `group` at most."""
    pool = paceline.CorePool(_CORES, lambda _: 1e-6, _NODES)
    with dispatcher_for(DaskEngine(client), no_op, pool, group) as dispatcher:
        pull(dispatcher, range(_ARMS), 2)  # the workers start here
        began = time.perf_counter()
        pull(dispatcher, range(_ARMS), pulls // _ARMS)
        return pulls / (time.perf_counter() - began)


def wave_seconds(client: Any) -> float:
    """How long the waves take of which λ is made, given to the engine as they are."""
    workload = Workload(sleep, range(_ARMS), lambda *run: [0] * run[2])
    waves = [wave for arms, each in _HALVINGS for wave in _POOL.waves(arms * each)]
    with DaskEngine(client).open(workload, _CORES) as workers:
        number = 0
        for wave in (Wave(_CORES, 1, 1.0), *waves):  # the workers start in the first
            if number == _CORES:
                began = time.perf_counter()
            for _ in range(wave.repeat):
                places = [n for n, size in enumerate(_NODES) for _ in range(size // wave.cores)]
                for node in places[: wave.pulls]:
                    workers.start(Job(number, (Run(0, number, 1),), wave.cores, node=node))
                    number += 1
                left = wave.pulls
                while left:
                    left -= sum(isinstance(event, Finished) for event in workers.wait(None))
        return time.perf_counter() - began


def race_seconds(engine: Engine, pool: paceline.CorePool) -> float:
    """How long the same pulls take if the dispatcher gives them out."""
    with dispatcher_for(engine, sleep, pool, 1) as dispatcher:
        pull(dispatcher, range(_ARMS), 1)  # the workers start here
        began = time.perf_counter()
        for arms, each in _HALVINGS:
            pull(dispatcher, range(arms), each)
        return time.perf_counter() - began


def run() -> Table:
    """Rates and their shares of Dask's own; the makespan and its share of what is promised."""
    from distributed import Client, LocalCluster

    rows: list[tuple[object, ...]] = []
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
        alone = 0.0
        for size, pulls in ((DaskEngine.abilities.group, _PULLS), (1, _ALONE)):
            raw_rate(client, size, pulls // 10)
            measured = np.array(
                [
                    [rate(client, size, pulls) for rate in (raw_rate, engine_rate, race_rate)]
                    for _ in range(_REPEATS)
                ]
            )
            raw, engine, race = np.median(measured, axis=0).tolist()
            shares = np.median(measured[:, 1:] / measured[:, :1], axis=0).tolist()
            rows.append((f"no-op pulls a second, {size} a task: Dask's futures", raw, "–"))
            rows.append(("… of the engine", engine, "–"))
            rows.append(("… as a share of Dask's (median of 5)", shares[0], "at least 0.8"))
            rows.append(("… of a race, with its bookkeeping", race, "–"))
            rows.append(("… as a share of Dask's (median of 5)", shares[1], "–"))
            alone = 1 / engine
        predicted = sum(_POOL.seconds(arms * each) for arms, each in _HALVINGS)
        pulls = sum(arms * each for arms, each in _HALVINGS)
        promised = 1.15 * predicted + pulls * alone
        by_waves = wave_seconds(client)
        raced = race_seconds(DaskEngine(client), _POOL)
        local = race_seconds(LocalEngine(), paceline.CorePool(_CORES, _root))
        rows.append(("overhead of a pull that is a task, in ms", 1000 * alone, "–"))
        rows.append((f"{_ARMS} arms, {pulls} pulls that sleep: seconds by λ", predicted, "–"))
        rows.append(("… in λ's own waves", by_waves, "–"))
        rows.append(("… as a share of 1.15 λ and overhead", by_waves / promised, "at most 1"))
        rows.append(("… as a race gives them out", raced, "–"))
        rows.append(("… as a share of 1.15 λ and overhead", raced / promised, "at most 1"))
        rows.append(("… the same on the local engine, as a control", local, "–"))
    return Table(("what", "measured", "promise"), rows)


if __name__ == "__main__":
    from paceline.display.table import print_table

    print_table(run())
