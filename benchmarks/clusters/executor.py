"""Executors as engines: their rate beside raw futures, and a race of sleeping pulls beside λ.

Forty workers only sleep. Every pull has one core: executors give no more.
"""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

import numpy as np
from loky import get_reusable_executor

from paceline.core.pool import CorePool
from paceline.core.rounds import Results, Round
from paceline.display.table import Table
from paceline.engines.base import Workers
from paceline.engines.events import Failed, Finished, Lost
from paceline.engines.executor import ExecutorEngine
from paceline.engines.jobs import Job, Run
from paceline.engines.workload import Workload
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.model import PoolModel
from paceline.races import prepare

_GROUPS = {1: 3_000, 128: 2_000}  # pulls of a job, and how many jobs
_SLOTS = 2  # what this machine really has
_REPEATS = 5
_CORES, _ARMS = 40, 64
_STAGES = ((64, 5), (32, 5), (8, 10), (2, 20))  # arms still in, and pulls of each
_RATE_PROMISE, _TIME_PROMISE = 0.8, 1.15


def _forked(workers: int) -> Executor:
    return ProcessPoolExecutor(workers, get_context("fork"))


def _loky(workers: int) -> Executor:
    executor: Executor = get_reusable_executor(max_workers=workers, timeout=600)
    return executor


MAKERS: dict[str, Callable[[int], Executor]] = {"ProcessPoolExecutor": _forked, "loky": _loky}


def no_op(_: int) -> float:
    return 0.0


def no_ops(count: int) -> list[float]:
    return [no_op(0) for _ in range(count)]


def sleep(_: int, *, cores: int) -> float:
    time.sleep(cores**-0.5)
    return 0.0


def no_seeds(_arm: int, _first: int, pulls: int) -> list[int]:
    return [0] * pulls


def raw_rate(executor: Executor, group: int, jobs: int) -> float:
    """No-ops a second of plain futures, `_SLOTS` of them under way at a time."""
    began = time.perf_counter()
    running: set[Future[Any]] = {executor.submit(no_ops, group) for _ in range(_SLOTS)}
    sent = _SLOTS
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            assert len(future.result()) == group
            if sent < jobs:
                running.add(executor.submit(no_ops, group))
                sent += 1
    return jobs * group / (time.perf_counter() - began)


def engine_rate(workers: Workers, group: int, jobs: int, first: int) -> float:
    """No-ops a second of the engine, with as many jobs under way."""
    began = time.perf_counter()
    numbers = iter(range(first, first + jobs))
    running = 0
    while True:
        while running < _SLOTS and (number := next(numbers, None)) is not None:
            workers.start(Job(number, (Run(0, 0, group),), 1))
            running += 1
        if not running:
            return jobs * group / (time.perf_counter() - began)
        for event in workers.wait(None):
            assert not isinstance(event, Failed | Lost), event
            running -= isinstance(event, Finished)


def rates(name: str) -> list[tuple[object, ...]]:
    """The engine beside raw futures, in turn, so that the load of the machine is that of both."""
    rows: list[tuple[object, ...]] = []
    executor = MAKERS[name](_SLOTS)
    workers = ExecutorEngine(executor).open(Workload(no_op, [0], no_seeds), _SLOTS)
    number = 0
    for group, jobs in _GROUPS.items():
        raw, ours = [], []
        for repeat in range(_REPEATS + 1):
            pair = raw_rate(executor, group, jobs), engine_rate(workers, group, jobs, number)
            number += jobs
            if repeat:  # the first one starts the processes
                raw.append(pair[0])
                ours.append(pair[1])
        ratio = statistics.median(mine / bare for mine, bare in zip(ours, raw, strict=True))
        seen = f"{statistics.median(ours):,.0f}/s, raw {statistics.median(raw):,.0f}/s"
        promise = f"at least {_RATE_PROMISE}"
        rows.append((name, f"no-ops in groups of {group}", ratio, promise, seen))
    workers.close()
    executor.shutdown()
    return rows


def makespan(name: str) -> tuple[object, ...]:
    """How long stages of a race take beside what the pool predicts; their workers are warm."""
    executor = MAKERS[name](_CORES)
    engine = ExecutorEngine(executor)
    pool = CorePool(_CORES, lambda cores: cores**-0.5 if cores == 1 else np.inf)
    given: dict[str, Any] = {"engine": engine, "deadline": 1e6, "scaling": pool}
    settings = prepare(sleep, list(range(_ARMS)), **given).settings
    dispatcher = Dispatcher(
        engine.open(settings.workload(), _CORES),
        settings.rules,
        Books(arms=_ARMS),
        clock=RaceClock(engine.now),
        model=PoolModel(settings.rules, pool),
        largest_group=engine.abilities.group,
        group_seconds=engine.abilities.group_seconds,
        can_end=engine.abilities.kill,
    )
    try:
        _stage(dispatcher, _ARMS, 2)  # the processes start, and load what they are sent
        began = time.perf_counter()
        for arms, pulls in _STAGES:
            _stage(dispatcher, arms, pulls)
        seconds = time.perf_counter() - began
    finally:
        dispatcher.finish()
        executor.shutdown()
    predicted = sum(pool.seconds(arms * pulls) for arms, pulls in _STAGES)
    pulls = sum(arms * pulls for arms, pulls in _STAGES)
    what = f"{_ARMS} arms, {pulls} pulls in {len(_STAGES)} stages on {_CORES} workers: s / λ"
    seen = f"{seconds:.2f} s, λ = {predicted:.2f} s"
    return name, what, seconds / predicted, f"at most {_TIME_PROMISE}", seen


def _stage(dispatcher: Dispatcher, arms: int, pulls: int) -> None:
    """Have pulls of the first arms done, as the loop would."""
    left = np.full(arms, pulls)
    while left.any():
        some = np.flatnonzero(left)
        dispatcher.pursue(Round(some, left[some]))
        results = dispatcher.wait(1e6)
        assert isinstance(results, Results)
        left[results.arms] -= results.pulls


def run() -> Table:
    """What the engine costs, for each executor."""
    rows = [row for name in MAKERS for row in (*rates(name), makespan(name))]
    return Table(("engine", "what", "ratio", "promise", "seen"), rows)
