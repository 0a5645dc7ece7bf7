"""What Slurm costs: steps per second against srun itself, and a race against the pool's λ.

It starts a Slurm of two made-up nodes with 20 CPUs each on this machine, which takes root. Raw
steps are given out as the engine does, on the same nodes and as many at once.
"""

import os
import random
import re
import selectors
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import paceline
from paceline.commands import Command
from paceline.display.table import Table
from paceline.engines.events import Finished
from paceline.engines.jobs import Job, Run
from paceline.engines.slurm import SlurmEngine
from paceline.engines.slurm.allocation import read_allocation
from paceline.engines.slurm.step import Request, environment_of
from paceline.engines.workload import Workload
from tools.slurm_cluster import CORES_PER_NODE, NODES, running

_STEPS = 200
_AT_ONCE, _CORES_PER_STEP = 10, 4
_TIMES = 3
_ARMS, _PULLS = 64, 320
_SECONDS = 1.0  # of a pull on one core


@contextmanager
def allocation() -> Iterator[None]:
    """A Slurm and a job with both of its nodes; this process is a part of it."""
    before = dict(os.environ)
    with running() as cluster:
        words = ["salloc", "--no-shell", f"--nodes={len(NODES)}", "--exclusive", "--mem=0"]
        done = subprocess.run(
            words, env=cluster.environment(), capture_output=True, text=True, check=True
        )
        found = re.search(r"job allocation (\d+)", done.stderr)
        assert found is not None
        os.environ.update(cluster.environment() | {"SLURM_JOB_ID": found[1]})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def raw_steps(steps: int) -> float:
    """The steps per second of srun, so many at once."""
    job = read_allocation().job
    selector = selectors.DefaultSelector()
    began, places = time.perf_counter(), list(range(_AT_ONCE))
    started = 0
    processes: dict[int, tuple[subprocess.Popen[bytes], int]] = {}
    while started < steps or processes:
        while started < steps and places:
            place = places.pop()
            node = NODES[place % len(NODES)]
            request = Request(job, node, cores=_CORES_PER_STEP, megabytes=100)
            process = subprocess.Popen(
                ["srun", *request.words("raw"), "--input=none", "sh", "-c", "echo 1"],
                env=environment_of(_CORES_PER_STEP, {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            file = os.pidfd_open(process.pid)
            processes[file] = process, place
            selector.register(file, selectors.EVENT_READ)
            started += 1
        for key, _ in selector.select():
            process, place = processes.pop(key.fd)
            selector.unregister(key.fd)
            os.close(key.fd)
            assert process.wait() == 0
            places.append(place)
    return steps / (time.perf_counter() - began)


@dataclass
class Given:
    """Jobs per second of the engine, so many at once; a job may have many pulls."""

    workload: Workload
    at_once: int = _AT_ONCE
    cores: int = _CORES_PER_STEP

    def per_second(self, jobs: int, pulls: int = 1, warm: int = 0) -> float:
        """Give out so many jobs, after some that start the workers."""
        with SlurmEngine().open(self.workload, 40) as workers:
            rate = 0.0
            for number, count in ((0, warm), (warm, jobs)):
                began, places, given, over = time.perf_counter(), list(range(self.at_once)), 0, 0
                where: dict[int, int] = {}
                while over < count:
                    while given < count and places:
                        place = where[number + given] = places.pop()
                        runs = (Run(given % 2, given, pulls),)
                        node = place % len(NODES)
                        workers.start(Job(number + given, runs, self.cores, node=node))
                        given += 1
                    for event in workers.wait(None):
                        if isinstance(event, Finished):
                            places.append(where.pop(event.job))
                            over += 1
                rate = count / (time.perf_counter() - began) if count else 0.0
        return rate


def _seeds(arm: int, first: int, pulls: int) -> list[int]:
    return [arm + first + k for k in range(pulls)]


def sleeper(arm: float, *, seed: int, cores: int) -> float:
    """A pull that takes a second on one core, and scales with the root of its cores."""
    time.sleep(_SECONDS * cores**-0.5)
    return arm + random.Random(seed).gauss(0.0, 1.0)


def makespan() -> tuple[float, float, float]:
    """Seconds of a race of 64 arms, what λ predicts for it, and the seconds to start workers."""
    nodes = [CORES_PER_NODE] * len(NODES)
    pool = paceline.CorePool(sum(nodes), lambda cores: _SECONDS * cores**-0.5, nodes)
    nothing = Workload(lambda arm: arm, [0.0, 1.0], _seeds)
    began = time.perf_counter()
    Given(nothing, at_once=sum(nodes), cores=1).per_second(sum(nodes))
    starting = time.perf_counter() - began
    arms = [k / 100 for k in range(_ARMS)]
    result = paceline.race(
        sleeper,
        arms,
        policy="uniform",
        max_pulls=_PULLS,
        engine="slurm",
        scaling=pool,
        backups=False,
        progress=False,
    )
    pulls = sum(arm.pulls for arm in result.arms)
    return result.elapsed, float(pool.seconds(pulls)), starting


def run() -> Table:
    """Rates of steps and of functions, and the makespan of a race."""
    rows: list[tuple[object, ...]] = []
    command = Workload(Command.parse("echo {x}", shell=True), [{"x": 1}, {"x": 2}], _seeds)
    function = Workload(lambda arm: arm, [0.0, 1.0], _seeds)
    with allocation():
        raw, ours = [], []
        for _ in range(_TIMES):  # in turn: the machine may be busy with other things
            raw.append(raw_steps(_STEPS))
            ours.append(Given(command).per_second(_STEPS))
        best, mine = max(raw), max(ours)
        rows.append(("commands per second, srun steps per second", mine, best, mine / best))
        alone = Given(function).per_second(2000, warm=4 * _AT_ONCE)
        rows.append(("functions per second, a pull a job", alone, best, alone / best))
        many = 64 * Given(function).per_second(500, pulls=64, warm=4 * _AT_ONCE)
        rows.append(("functions per second, 64 pulls a job", many, best, many / best))
        seconds, predicted, starting = makespan()
        rows.append(("race of 64 arms: seconds, λ", seconds, predicted, seconds / predicted))
        expected = predicted + starting
        rows.append(("… and with workers started", seconds, expected, seconds / expected))
    return Table(("what", "paceline", "compared with", "ratio"), rows)
