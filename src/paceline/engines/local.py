"""Worker processes on this machine: the crew of `engine="local"`.

A worker serves pulls of one core count, because libraries fix their number of threads when they are
imported. The workers are started and killed by a foreman (`foreman.py`), a process of its own.
"""

import contextlib
import fcntl
import json
import os
import pickle
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from paceline.engines.crew import Failure, Job, Report
from paceline.engines.work import Work
from paceline.errors import InvalidInput, RaceFailed
from paceline.machine import AvailableCores, available_cores

_FOREMAN = Path(__file__).with_name("foreman.py")
_LARGEST_MESSAGE = 1 << 20
_LARGEST_GROUP = 128
_LOG_TAIL = 4_000  # bytes of what a pull printed that go into an error
_CLOSING_SECONDS = 5.0
_MOST_REPLACED = 20
_MARK = "PACELINE_CREW"  # an environment variable by which all that a crew started is known


class LocalHost:
    """This machine, as the `Host` of a race."""

    def available(self) -> AvailableCores:
        """What Slurm, the affinity mask and the cgroup quota leave."""
        return available_cores()

    def crew(self, work: Work, cores: int) -> "LocalCrew":
        """Workers pinned to processors, unless the pool has more cores than the machine."""
        return LocalCrew(work, self.available().cpu_ids, cores)

    def clock(self) -> float:
        """The monotonic clock."""
        return time.monotonic()


@dataclass(eq=False)
class _Worker:
    number: int
    cores: int
    channel: socket.socket
    log: BinaryIO
    output: BinaryIO | None
    processors: list[int] = field(default_factory=list)
    job: Job | None = None
    log_start: int = 0
    ready: bool = False  # whether it has loaded what it needs
    listening: bool = True
    killed: bool = False


class LocalCrew:
    """Runs jobs in worker processes of this machine.

    Pulls are pinned to `cores` of the `processors`, those that no other crew has claimed if there
    are enough; to none if the pool has more cores than there are processors.
    """

    def __init__(self, work: Work, processors: Sequence[int], cores: int) -> None:
        self.work = work
        self.largest_job = _LARGEST_GROUP if work.grouped else 1
        self._claims: list[BinaryIO] = []
        self._free = self._claim(processors, cores)
        self._pinned = bool(self._free)
        self._most_idle = cores  # each holds the user's modules and all arms
        _allow_files(cores)
        self._workers: dict[int, _Worker] = {}
        self._idle: list[_Worker] = []  # the most recently used last
        self._by_job: dict[int, _Worker] = {}
        self._count = 0
        self._load: BinaryIO | None = None
        self._replaced = 0
        self._mark = uuid.uuid4().hex
        self._selector = selectors.DefaultSelector()
        self._control, self._foreman = self._start_foreman()

    def __enter__(self) -> "LocalCrew":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Jobs.

    def start(self, job: Job) -> bool:
        """Send a job to an idle worker for that many cores, or to a new one."""
        worker = self._worker_for(job.cores)
        worker.job = job
        worker.log_start = _size(worker.log)
        worker.processors = self._take(job.cores, worker.processors)
        self._by_job[job.number] = worker
        what, work = self.work.order(job.runs, job.cores)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is reported
            worker.channel.send(pickle.dumps((worker.processors, what, work)))
        return worker.ready

    def kill(self, job: int) -> None:
        """End a job with its worker and all that it started."""
        worker = self._by_job.get(job)
        if worker is not None and not worker.killed:
            worker.killed = True
            self._tell_foreman({"kill": worker.number})

    def wait(self, seconds: float | None) -> list[Report]:
        """Wait for reports, so many seconds at most."""
        reports: list[Report] = []
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                reports += self._hear_foreman()
            else:
                reports += self._hear(key.data)
        return reports

    def close(self) -> None:
        """End everything: without its driver the foreman kills all that is left."""
        self._control.close()
        try:
            self._foreman.wait(_CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self._foreman.kill()
            self._foreman.wait()
        for worker in self._workers.values():
            _close(worker)
        self._workers.clear()
        self._selector.close()
        for file in self._claims:
            file.close()
        if self._load is not None:
            self._load.close()

    # Processors.

    def _claim(self, processors: Sequence[int], cores: int) -> list[int]:
        """Choose processors, and lock a file for each: another race on this machine sees it."""
        if cores > len(processors):
            return []
        folder = Path(tempfile.gettempdir(), f"paceline-{os.getuid()}")
        mine: list[int] = []
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            for processor in processors:
                file = (folder / f"processor-{processor}").open("ab")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    file.close()
                    continue
                self._claims.append(file)
                mine.append(processor)
                if len(mine) == cores:
                    return mine
        others = [processor for processor in processors if processor not in mine]
        return sorted(mine + others[: cores - len(mine)])

    # Workers.

    def _worker_for(self, cores: int) -> _Worker:
        for worker in reversed(self._idle):
            if worker.cores == cores and (
                not self._pinned or set(worker.processors) <= set(self._free)
            ):
                self._idle.remove(worker)
                return worker
        for worker in reversed(self._idle):
            if worker.cores == cores:
                self._idle.remove(worker)
                return worker
        if len(self._idle) >= self._most_idle:
            self._tell_foreman({"kill": self._idle.pop(0).number})
        return self._spawn(cores)

    def _spawn(self, cores: int) -> _Worker:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115 - closed with the worker
        output: BinaryIO | None = None
        if not self.work.grouped:
            output = tempfile.TemporaryFile("wb+", buffering=0)  # noqa: SIM115
        worker = _Worker(self._count, cores, mine, log, output)
        self._count += 1
        order = {"spawn": worker.number, "cores": cores, "path": sys.path}
        files = [its.fileno(), log.fileno(), (output or self._blob()).fileno()]
        self._tell_foreman(order, files)
        its.close()
        self._workers[worker.number] = worker
        self._selector.register(mine, selectors.EVENT_READ, worker)
        return worker

    def _blob(self) -> BinaryIO:
        if self._load is None:
            self._load = tempfile.TemporaryFile("wb+", buffering=0)  # noqa: SIM115 - in close()
            self._load.write(self.work.blob)
        return self._load

    def _take(self, cores: int, before: list[int]) -> list[int]:
        """Processors for a job: those that the worker had, if they are free."""
        if not self._pinned:
            return []
        mine = before if before and set(before) <= set(self._free) else self._free[:cores]
        self._free = [one for one in self._free if one not in mine]
        return mine

    def _release(self, worker: _Worker) -> Job | None:
        """The worker has no job any more."""
        job, worker.job = worker.job, None
        if job is not None:
            del self._by_job[job.number]
            self._free = sorted(self._free + worker.processors)
        return job

    # Reports.

    def _hear(self, worker: _Worker) -> list[Report]:
        if not worker.listening:  # the foreman told of its end in the same moment
            return []
        message = _receive(worker.channel)
        if not message:  # it is gone, and the foreman says how
            self._ignore(worker)
            return []
        return self._take_in(worker, message)

    def _take_in(self, worker: _Worker, message: bytes) -> list[Report]:
        job = worker.job
        if job is None or worker.killed:
            return []
        values, seconds, failed, finished = pickle.loads(message)
        failure = None
        if failed is not None:
            kind, what, detail = failed
            failure = Failure(kind, what, detail or self._log_tail(worker))
        elif worker.output is not None and finished:
            values, failure = self._read_output(worker, job, seconds[0])
        worker.ready = True
        if finished:
            self._release(worker)
            self._idle.append(worker)
        return [Report(job.number, values, seconds[: len(values)], failure, finished)]

    def _read_output(
        self, worker: _Worker, job: Job, seconds: float
    ) -> tuple[list[float], Failure | None]:
        assert worker.output is not None
        size = _size(worker.output)
        start = max(0, size - self.work.most_output)
        output = os.pread(worker.output.fileno(), size - start, start).decode(errors="replace")
        read = self.work.read(job.runs[0], job.cores, output, seconds)
        if isinstance(read, Failure):
            return [], Failure(read.kind, read.message, read.detail or self._log_tail(worker))
        return [read], None

    def _log_tail(self, worker: _Worker) -> str:
        size = _size(worker.log)
        start = max(worker.log_start if worker.log_start <= size else 0, size - _LOG_TAIL)
        return os.pread(worker.log.fileno(), size - start, start).decode(errors="replace")

    # The foreman.

    def _start_foreman(self) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            foreman = subprocess.Popen(
                [sys.executable, "-P", str(_FOREMAN), str(its.fileno())],
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | {_MARK: self._mark},
            )
        self._selector.register(mine, selectors.EVENT_READ, None)
        return mine, foreman

    def _tell_foreman(self, order: dict[str, Any], files: Sequence[int] = ()) -> None:
        # If the foreman is gone, the next wait sees it and makes up for it.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [json.dumps(order).encode()], list(files))

    def _hear_foreman(self) -> list[Report]:
        message = _receive(self._control)
        if not message:
            return self._replace_foreman()
        news = json.loads(message)
        worker = self._workers.pop(news["ended"], None)
        return [] if worker is None else self._bury(worker, news["status"])

    def _bury(self, worker: _Worker, status: int) -> list[Report]:
        """A worker has ended: killed by us, or by itself with its pull."""
        reports: list[Report] = []
        worker.channel.setblocking(False)
        while message := _receive(worker.channel):  # what it sent before counts
            reports += self._take_in(worker, message)
        if worker in self._idle:
            self._idle.remove(worker)
        job = self._release(worker)
        if job is not None:
            failure = None
            if not worker.killed:
                how = f"signal {-status}" if status < 0 else f"status {status}"
                detail = self._log_tail(worker)
                failure = Failure("died", f"the worker process ended with {how}", detail)
            reports.append(Report(job.number, [], [], failure, finished=True))
        self._ignore(worker)
        _close(worker)
        return reports

    def _ignore(self, worker: _Worker) -> None:
        if worker.listening:
            self._selector.unregister(worker.channel)
            worker.listening = False

    def _replace_foreman(self) -> list[Report]:
        """The foreman was killed: end what it had started, and begin anew with another one."""
        self._replaced += 1
        if self._replaced > _MOST_REPLACED:
            raise RaceFailed(
                f"the process that starts the workers died {self._replaced} times: is memory, or "
                "the number of processes, limited? What was recorded is kept"
            )
        self._selector.unregister(self._control)
        self._control.close()
        self._foreman.wait()
        _kill_marked(self._mark)
        self._control, self._foreman = self._start_foreman()
        reports: list[Report] = []
        for worker in self._workers.values():
            worker.killed = True  # not by its pull
            reports += self._bury(worker, 0)
        self._workers.clear()
        return reports


def _kill_marked(mark: str) -> None:
    """Kill every process that carries the mark in its environment."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                environment = Path("/proc", name, "environ").read_bytes()
                if f"{_MARK}={mark}".encode() in environment.split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)


def _allow_files(cores: int) -> None:
    """See that there are enough file descriptors: up to three for every worker."""
    needed = 6 * cores + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InvalidInput(
            f"{cores} cores need about {needed} open files, and {hard} are allowed: raise that "
            "(ulimit -n), or lower cores"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _receive(channel: socket.socket) -> bytes:
    """The next message; nothing if there is none, or the other end is gone."""
    try:
        return channel.recv(_LARGEST_MESSAGE)
    except (ConnectionResetError, BlockingIOError):
        return b""


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _close(worker: _Worker) -> None:
    worker.channel.close()
    worker.log.close()
    if worker.output is not None:
        worker.output.close()
