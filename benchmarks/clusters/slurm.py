"""What Slurm costs: steps per second against srun itself, and a race against the pool's λ.

It starts a Slurm of two made-up nodes with 20 CPUs each on this machine, which takes root. Raw
steps are given out as the engine does, on the same nodes and as many at once. They have sessions of
their own, as the engine's have: a kernel with autogroups gives those more of a busy machine, and
without them the engine looked faster than srun itself. Ratios are those of pairs measured in turn.

Functions run in steps that stay, so they are compared with messages to steps of `cat`.
"""

import os
import random
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import paceline
from paceline.commands import Command
from paceline.display.table import Table
from paceline.engines.events import Finished
from paceline.engines.jobs import Job, Run
from paceline.engines.slurm import SlurmEngine
from paceline.engines.slurm.allocation import read_allocation
from paceline.engines.slurm.step import Request, environment_of
from paceline.engines.workload import Workload
from paceline.errors import PacelineError
from tools.slurm_cluster import CORES_PER_NODE, NODES, Cluster, Unavailable, running

_STEPS = 120
_MESSAGES, _MESSAGE_BYTES = 2000, 64
_AT_ONCE, _CORES_PER_STEP = 10, 4
_TIMES = 5
_ARMS, _PULLS = 64, 320
_SECONDS = 1.0  # of a pull on one core


@contextmanager
def allocation() -> Iterator[None]:
    """A Slurm and a job with both of its nodes; this process is a part of it."""
    before = dict(os.environ)
    with _cluster() as cluster:
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


@contextmanager
def _cluster() -> Iterator[Cluster]:
    try:
        with running() as cluster:
            yield cluster
    except Unavailable as error:
        raise PacelineError(f"no Slurm here: {error}") from error


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
                start_new_session=True,
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


def raw_messages(messages: int) -> float:
    """How many messages per second go to steps of `cat` and back, one at a time to each."""
    job = read_allocation().job
    words = ["--unbuffered", "cat"]
    selector = selectors.DefaultSelector()
    cats = []
    for place in range(_AT_ONCE):
        node = NODES[place % len(NODES)]
        request = Request(job, node, cores=_CORES_PER_STEP, megabytes=100)
        cat = subprocess.Popen(
            ["srun", *request.words("raw"), *words],
            env=environment_of(_CORES_PER_STEP, {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert cat.stdin is not None
        assert cat.stdout is not None
        cat.stdin.write(b"x" * _MESSAGE_BYTES)
        assert len(cat.stdout.read(_MESSAGE_BYTES) or b"") == _MESSAGE_BYTES  # it is up
        selector.register(cat.stdout, selectors.EVENT_READ, cat)
        cats.append(cat)
    began, sent, back = time.perf_counter(), 0, 0
    for cat in cats:
        assert cat.stdin is not None
        sent += bool(cat.stdin.write(b"x" * _MESSAGE_BYTES))
    while back < messages:
        for key, _ in selector.select():
            assert len(os.read(key.fd, 1 << 16)) == _MESSAGE_BYTES
            back += 1
            if sent < messages:
                sent += bool(key.data.stdin.write(b"x" * _MESSAGE_BYTES))
    rate = messages / (time.perf_counter() - began)
    for cat in cats:
        cat.communicate()
    return rate


def sleeper() -> Callable[..., float]:
    """A pull that takes a second on one core, and scales with the root of its cores.

    It is made here so that it is sent by value: otherwise every worker would import this module,
    and paceline with it, and the race would measure that.
    """
    seconds = _SECONDS

    def pull(arm: float, *, seed: int, cores: int) -> float:
        time.sleep(seconds * cores**-0.5)
        return arm + random.Random(seed).gauss(0.0, 1.0)

    return pull


def makespan(cores_per_pull: int | None) -> tuple[float, float, float]:
    """Seconds of a race of 64 arms, what λ predicts for it, and the seconds to start workers.

    Where widths are free, workers of one width are ended for those of another.
    """
    nodes = [CORES_PER_NODE] * len(NODES)
    pool = paceline.CorePool(sum(nodes), lambda cores: _SECONDS * cores**-0.5, nodes)
    pull = sleeper()
    began = time.perf_counter()
    Given(Workload(pull, [0.0, 1.0], _seeds), sum(nodes), 1).per_second(sum(nodes))
    starting = time.perf_counter() - began - _SECONDS
    result = paceline.race(
        pull,
        [arm / 100 for arm in range(_ARMS)],
        policy="uniform",
        max_pulls=_PULLS,
        engine="slurm",
        scaling=pool,
        cores_per_pull=cores_per_pull,
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
        pairs = [(Given(command).per_second(_STEPS), raw_steps(_STEPS)) for _ in range(_TIMES)]
        rows.append(("commands, srun steps: per second", *_medians(pairs)))
        pairs = [
            (Given(function).per_second(_MESSAGES, warm=4 * _AT_ONCE), raw_messages(_MESSAGES))
            for _ in range(_TIMES)
        ]
        rows.append(("functions, messages: per second", *_medians(pairs)))
        for name, width in (("one core a pull", 1), ("free widths", None)):
            seconds, predicted, starting = makespan(width)
            expected = predicted + starting
            what = f"race of 64 arms, {name}"
            rows.append((f"{what}; λ: seconds", seconds, predicted, seconds / predicted))
            rows.append((f"{what}; λ + start", seconds, expected, seconds / expected))
    return Table(("what", "paceline", "compared with", "ratio"), rows)


def _medians(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The medians of both, and of their ratios, which were measured at about the same time."""
    ours, raw = zip(*pairs, strict=True)
    return median(ours), median(raw), median(one / other for one, other in pairs)
