"""The Ray engine on this machine: its rate beside raw Ray tasks, and a round beside λ.

Two nodes of 20 logical cores are made up for the second: pulls only sleep.
"""

import contextlib
import os
import statistics
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

import paceline
from paceline.core.rounds import Results, Round
from paceline.display.table import Table
from paceline.engines.base import Workers
from paceline.engines.events import Failed, Finished, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.workload import Workload
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races import prepare

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # it listens on the loopback device only
    "RAY_AUTH_MODE": "disabled",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_STORE_BYTES = 80 << 20
_GROUPS = {1: 600, 128: 600, 1024: 300}  # pulls of a job, and how many jobs
_SLOTS = 2  # for no-ops: what this machine really has
_REPEATS = 3
_NODES = (20, 20)
_ARMS, _PULLS_EACH = 64, 2
_RATE_PROMISE, _MAKESPAN_PROMISE = 0.8, 1.15


def no_op(_: int) -> float:
    return 0.0


def no_ops(count: int) -> list[float]:
    return [no_op(0) for _ in range(count)]


def sleep(_: int, *, cores: int) -> float:
    time.sleep(cores**-0.5)
    return 0.0


def no_seeds(_arm: int, _first: int, pulls: int) -> list[int]:
    return [0] * pulls


@contextlib.contextmanager
def cluster(*nodes: int) -> Iterator[Any]:
    """Ray on the loopback device, with nodes of that many logical cores; its head has none."""
    os.environ.update(_QUIET)
    ray: Any = import_module("ray")
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE_BYTES}
    made = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=head)
    try:
        for cores in nodes:
            made.add_node(num_cpus=cores, object_store_memory=_STORE_BYTES)
        ray.init(made.address, log_to_driver=False, logging_level="ERROR")
        yield ray
    finally:
        ray.shutdown()
        made.shutdown()


def raw_rate(ray: Any, group: int, jobs: int) -> float:
    """No-ops a second of plain Ray tasks, `_SLOTS` of them under way at a time."""
    task = ray.remote(max_retries=0, num_cpus=1)(no_ops)
    began = time.perf_counter()
    running = [task.remote(group) for _ in range(_SLOTS)]
    sent = _SLOTS
    while running:
        done, running = ray.wait(running, num_returns=1)
        for values in ray.get(done):
            assert len(values) == group
        fresh = min(len(done), jobs - sent)
        running += [task.remote(group) for _ in range(fresh)]
        sent += fresh
    return jobs * group / (time.perf_counter() - began)


def engine_rate(workers: Workers, group: int, jobs: int, first: int) -> float:
    """No-ops a second of the engine, as many jobs under way."""
    began = time.perf_counter()
    running, sent = 0, 0
    while running or sent < jobs:
        while running < _SLOTS and sent < jobs:
            workers.start(Job(first + sent, (Run(0, sent * group, group),), 1))
            running, sent = running + 1, sent + 1
        for event in workers.wait(None):
            assert not isinstance(event, Failed | Lost), event
            running -= isinstance(event, Finished)
    return jobs * group / (time.perf_counter() - began)


def rates() -> list[tuple[object, ...]]:
    """The engine beside raw tasks, in turn, so that the load of the machine is that of both."""
    from paceline.engines.ray import RayEngine

    rows: list[tuple[object, ...]] = []
    with cluster(_SLOTS) as ray:
        engine = RayEngine()
        engine.available()
        workers = engine.open(Workload(no_op, [0], no_seeds), _SLOTS)
        number = 0
        for group, jobs in _GROUPS.items():
            raw, mine = [], []
            for repeat in range(_REPEATS + 1):
                one, other = raw_rate(ray, group, jobs), engine_rate(workers, group, jobs, number)
                number += jobs
                if repeat:  # the first warms up
                    raw.append(one)
                    mine.append(other)
            ratio = statistics.median(b / a for a, b in zip(raw, mine, strict=True))
            seen = f"{statistics.median(mine):,.0f}/s, raw {statistics.median(raw):,.0f}/s"
            promise = f"at least {_RATE_PROMISE}"
            rows.append(("ray", f"no-ops in groups of {group}", ratio, promise, seen))
        workers.close()
    return rows


def latency(workers: Workers, pulls: int = 40) -> float:
    """What a job of one pull on all cores of a node takes beside its pull, in seconds."""
    spent = []
    for number in range(pulls):
        began = time.perf_counter()
        workers.start(Job(number, (Run(0, number, 1),), 1, node=number % 2))
        while not any(isinstance(event, Finished) for event in workers.wait(None)):
            pass
        spent.append(time.perf_counter() - began)
    return statistics.median(spent[2:])  # of the first, Ray's processes start


def raw_round(ray: Any, pool: paceline.CorePool) -> float:
    """Seconds that plain Ray tasks take for the waves of which λ is made, each after the other."""
    strategies = import_module("ray.util.scheduling_strategies")
    places = [
        strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    task = ray.remote(max_retries=0)(sleep)
    began = time.perf_counter()
    for wave in pool.waves(_ARMS * _PULLS_EACH):
        tasks = [task.options(num_cpus=wave.cores, scheduling_strategy=one) for one in places]
        for _ in range(wave.repeat):
            ray.get([tasks[k % 2].remote(0, cores=wave.cores) for k in range(wave.pulls)])
    return time.perf_counter() - began


def makespan() -> list[tuple[object, ...]]:
    """A round of 64 arms whose pulls sleep, beside plain Ray tasks, which Ray's workers hold up.

    Ray starts a process for each task at a time, two at once on a machine with two cores, and ends
    those that idle while wider pulls run.
    """
    from paceline.engines.ray import RayEngine

    pool = paceline.CorePool(sum(_NODES), lambda cores: cores**-0.5, _NODES)
    predicted = pool.seconds(_ARMS * _PULLS_EACH)
    rows: list[tuple[object, ...]] = []
    with cluster(*_NODES) as ray:
        engine = RayEngine()
        engine.available()
        idle = engine.open(Workload(no_op, [0], no_seeds), 2)
        overhead = latency(idle)
        idle.close()
        given: dict[str, Any] = {"engine": engine, "deadline": 1e6, "scaling": pool}
        settings = prepare(sleep, list(range(_ARMS)), **given).settings
        dispatcher = Dispatcher(
            engine.open(settings.workload(), sum(_NODES)),
            settings.rules,
            Books(arms=_ARMS),
            clock=RaceClock(engine.now),
            model=PoolModel(settings.rules, pool),
            largest_group=engine.abilities.group,
            group_seconds=engine.abilities.group_seconds,
        )
        allowed = _MAKESPAN_PROMISE * predicted + overhead * _ARMS * _PULLS_EACH
        for when in ("cold", "warm", "warm"):
            raw = raw_round(ray, pool)
            began = time.perf_counter()
            _one_round(dispatcher)
            seconds = time.perf_counter() - began
            what = f"{_ARMS} arms x {_PULLS_EACH} pulls on 2 nodes x 20 cores, {when}: s / λ"
            note = f"{seconds:.2f} s, λ = {predicted:.2f} s, {1000 * overhead:.1f} ms a pull"
            promise = f"at most {allowed / predicted:.2f}" if when == "warm" else "-"
            rows.append(("ray", what, seconds / predicted, promise, note))
            note = f"{raw:.2f} s, {raw / predicted:.2f} λ"
            rows.append(("ray", "… seconds / those of plain tasks", seconds / raw, "-", note))
        dispatcher.finish()
    return rows


def _one_round(dispatcher: Dispatcher) -> None:
    left = np.full(_ARMS, _PULLS_EACH)
    while left.any():
        some = np.flatnonzero(left)
        dispatcher.pursue(Round(some, left[some]))
        results = dispatcher.wait(1e6)
        assert isinstance(results, Results)
        left[results.arms] -= results.pulls


def run() -> Table:
    """What the engine costs."""
    return Table(("engine", "what", "ratio", "promise", "seen"), [*rates(), *makespan()], keys=2)
