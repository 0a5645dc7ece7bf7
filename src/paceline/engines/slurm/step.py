"""A job step: how `srun` is called, the process that it is here, and what it says."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from paceline.engines.jobs import Job
from paceline.engines.local.process.running import core_variables
from paceline.engines.slurm.allocation import MEGABYTE, Node
from paceline.engines.workload import Workload

_KEPT_BYTES = 16_000  # of what a step prints on stderr
_READ_BYTES = 1 << 16
_KEPT_VARIABLES = ("SLURM_CONF", "SLURM_JWT")


@dataclass(frozen=True)
class Request:
    """What a step is given: its cores, memory and devices on a node, or on any nodes of a job."""

    job: str
    node: str  # empty: any nodes
    nodes: int = 1  # at most
    tasks: int = 1
    cores: int = 1  # of each task
    megabytes: int = 0  # of each task; 0: memory is not counted
    gpus: int = 0
    mpi: str | None = None

    def words(self, name: str) -> list[str]:
        """The beginning of the command line of a step.

        >>> Request("17", "n1", cores=4, megabytes=512).words("pull")
        ['--quiet', '--jobid=17', '--exact', '--ntasks=1', '--cpus-per-task=4', '--gres=none',
         '--kill-on-bad-exit=1', '--export=ALL', '--job-name=pull', '--nodelist=n1', '--nodes=1',
         '--mem=512']
        """
        words = [
            "--quiet",
            f"--jobid={self.job}",
            "--exact",  # nothing but what is asked for: steps share no cores
            f"--ntasks={self.tasks}",
            f"--cpus-per-task={self.cores}",
            # Without this, and the memory below, the first step takes all that its node has.
            f"--gres=gpu:{self.gpus}" if self.gpus else "--gres=none",
            "--kill-on-bad-exit=1",
            "--export=ALL",
            f"--job-name={name}",
        ]
        if self.node:
            return [*words, f"--nodelist={self.node}", "--nodes=1", f"--mem={self.megabytes}"]
        # Full nodes first: ranks that are close to each other talk faster.
        words += [f"--nodes=1-{self.nodes}", "--distribution=block:block:block,Pack"]
        # However many of its ranks are on a node, they have their part of its memory.
        words.append(f"--mem-per-cpu={self.megabytes}" if self.megabytes else "--mem=0")
        if self.mpi != "mpi":
            words.append(f"--mpi={self.mpi}")
        return words


def request_of(job: Job, allocated: str, node: Node, workload: Workload) -> Request:
    """What the step of a job is given on its node.

    Where no memory was asked for, it gets its cores' share of the node's.

    >>> workload = Workload(max, [[1], [2]], lambda *pulls: [])
    >>> node = Node("n1", cores=20, memory=1000 * MEGABYTE)
    >>> request = request_of(Job(0, (), cores=4), "17", node, workload)
    >>> request.cores, request.megabytes
    (4, 200)
    """
    cores, gpus = job.cores, 0
    if workload.unit == "gpus":
        gpus = job.cores
        cores = max(1, node.cores * gpus // max(node.gpus, 1))
    megabytes = node.memory * cores // node.cores // MEGABYTE
    if workload.memory is not None and node.memory:
        megabytes = -(-workload.memory // MEGABYTE)
    return Request(allocated, node.name, cores=cores, megabytes=megabytes, gpus=gpus)


def mpi_request(
    job: Job, allocated: str, nodes: Sequence[Node], workload: Workload, mpi: str
) -> Request:
    """What a step of as many ranks as the job has cores is given, on any of the nodes.

    >>> workload = Workload(max, [[1], [2]], lambda *pulls: [])
    >>> nodes = [Node("n1", 20, 1000 * MEGABYTE), Node("n2", 20, 1000 * MEGABYTE)]
    >>> request = mpi_request(Job(0, (), cores=24), "17", nodes, workload, "pmix")
    >>> request.tasks, request.nodes, request.megabytes
    (24, 2, 50)
    """
    each = min(node.memory // node.cores for node in nodes)
    if workload.memory is not None and each:
        each = -(-workload.memory // job.cores)
    most = min(len(nodes), job.cores)
    return Request(allocated, "", most, job.cores, 1, each // MEGABYTE, mpi=mpi)


def environment_of(cores: int, more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a step: that of the race, without what Slurm has put there.

    `srun` would take the variables of the batch script for options of its own.
    """
    mine = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith("SLURM_") or name in _KEPT_VARIABLES
    }
    return mine | core_variables(cores) | dict(more)


@dataclass(eq=False)
class Step:
    """A step, as the `srun` that started it; its stderr is read here, its stdout is a file."""

    process: "subprocess.Popen[bytes]"
    place: int  # of its node
    exit: int = -1  # a file that can be read when srun has ended
    said: bytes = b""  # the end of its stderr
    job: Job | None = None
    ended: bool = False  # told to end by the race
    overdue: bool = False  # ended because it did not start
    lost: str = ""  # what took it away, if that is known

    @classmethod
    def start(
        cls,
        words: Sequence[str],
        environment: Mapping[str, str],
        place: int,
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int | BinaryIO = subprocess.PIPE,
    ) -> "Step":
        """Start `srun` in a session of its own: Ctrl-C is for the race alone."""
        process = subprocess.Popen(
            words,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        return cls(process, place, os.pidfd_open(process.pid))

    @property
    def errors(self) -> int:
        """The file of its stderr."""
        assert self.process.stderr is not None
        return self.process.stderr.fileno()

    def read_errors(self) -> bytes:
        """What is new on its stderr; its end is kept."""
        new = read_available(self.errors)
        self.said = (self.said + new)[-_KEPT_BYTES:]
        return new

    def text(self) -> str:
        """The end of its stderr, as text."""
        return self.said.decode(errors="replace")

    def end(self) -> None:
        """Have srun end the step; it exits when the step is gone."""
        with contextlib.suppress(OSError):
            self.process.send_signal(signal.SIGTERM)

    def drain(self) -> None:
        """Throw away what it says, so that it need not wait."""
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                read_available(stream.fileno())

    def close(self) -> int:
        """Close its files once it has ended; returns its status."""
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        os.close(self.exit)
        return self.process.wait()


def read_available(file: int) -> bytes:
    """What can be read from a file now."""
    parts: list[bytes] = []
    with contextlib.suppress(BlockingIOError):
        while part := os.read(file, _READ_BYTES):
            parts.append(part)
            if len(parts) == 64:  # others want to be heard, too
                break
    return b"".join(parts)


@dataclass
class Lines:
    """Cuts what comes in pieces into lines; a line that is very long is cut off."""

    rest: bytes = field(default=b"")

    def take(self, piece: bytes) -> list[bytes]:
        """The lines that are complete now.

        >>> lines = Lines()
        >>> lines.take(b"one\\ntw"), lines.take(b"o\\n")
        ([b'one'], [b'two'])
        """
        *whole, rest = (self.rest + piece).split(b"\n")
        self.rest = rest[:_READ_BYTES]
        return whole
