"""What the driver holds of one worker process."""

import contextlib
import os
import pickle
import socket
import tempfile
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from paceline.engines.jobs import Job
from paceline.engines.local.wire import LOG_TAIL, tail


@dataclass(eq=False)
class Handle:
    """A worker: the channel to it, its files, and what it is doing."""

    number: int
    cores: int
    channel: socket.socket
    log: BinaryIO  # what functions print; for commands, their stderr
    output: BinaryIO | None  # what a command prints to stdout
    processors: list[int] = field(default_factory=list)
    job: Job | None = None
    log_start: int = 0
    ready: bool = False  # whether it has loaded what it needs
    listening: bool = True
    ended: bool = False  # by us: what it still says does not count

    @classmethod
    def create(cls, number: int, cores: int, *, command: bool) -> tuple["Handle", socket.socket]:
        """The handle of a worker to be started, and the other end of its channel."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The files are closed with the worker.
        log = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115
        output = tempfile.TemporaryFile("wb+", buffering=0) if command else None  # noqa: SIM115
        return cls(number, cores, mine, log, output), its

    def send(self, job: Job, order: tuple[str, Any]) -> None:
        """Send it a job, to run on its `processors`."""
        self.job = job
        self.log_start = os.fstat(self.log.fileno()).st_size
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end is reported
            self.channel.send(pickle.dumps((self.processors, *order)))

    def log_tail(self) -> str:
        """The end of what its job has printed."""
        return tail(self.log, LOG_TAIL, self.log_start)

    def close(self) -> None:
        """Close the channel and the files."""
        self.channel.close()
        self.log.close()
        if self.output is not None:
            self.output.close()
