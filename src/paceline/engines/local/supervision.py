"""The driver's side of the supervisor, the process that starts and ends the workers."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paceline.errors import InvalidInput, RaceFailed

LARGEST_MESSAGE = 1 << 20

_PROGRAM = Path(__file__).with_name("process")
_MARK = "PACELINE_WORKERS"  # an environment variable that marks every process started
_CLOSING_SECONDS = 5.0
_MOST_REPLACED = 20


class Ended(NamedTuple):
    """The supervisor says that a worker is gone, with everything it had started."""

    worker: int
    status: int  # negative: the signal that ended it


class Supervision:
    """Starts a supervisor, tells it what to do, and replaces it if it is killed."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        self._replaced = 0
        self.control, self._process = self._start()

    def spawn(self, worker: int, cores: int, files: Sequence[int]) -> None:
        """Have a worker started with these files: channel, log, and what it loads or prints."""
        self._tell({"spawn": worker, "cores": cores, "path": sys.path}, files)

    def kill(self, worker: int) -> None:
        """Have a worker killed, with everything it has started."""
        self._tell({"kill": worker})

    def hear(self) -> Ended | None:
        """Its next message; None if it is gone."""
        message = receive(self.control)
        if not message:
            return None
        news = json.loads(message)
        return Ended(news["ended"], news["status"])

    def replace(self) -> None:
        """Start another supervisor after one was killed; end what that one had started."""
        self.close()
        self._replaced += 1
        if self._replaced > _MOST_REPLACED:
            raise RaceFailed(
                f"the process that starts the workers died {self._replaced} times: is memory, or "
                "the number of processes, limited? The results so far are kept"
            )
        self.control, self._process = self._start()

    def close(self) -> None:
        """End everything: a supervisor without its driver kills all that is left."""
        self.control.close()
        try:
            self._process.wait(_CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.wait() != 0:  # it was killed before it could do so
            _kill_marked(self._mark)

    def _start(self) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM), str(its.fileno())],
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | {_MARK: self._mark},
            )
        return mine, process

    def _tell(self, order: dict[str, Any], files: Sequence[int] = ()) -> None:
        # If it is gone, the next `hear` notices, and it is replaced.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self.control, [json.dumps(order).encode()], list(files))


def receive(channel: socket.socket) -> bytes:
    """The next message; empty if there is none, or if the other end is gone."""
    try:
        return channel.recv(LARGEST_MESSAGE)
    except (ConnectionResetError, BlockingIOError):
        return b""


def allow_files(cores: int) -> None:
    """Make sure that there are enough file descriptors: up to three for every worker."""
    needed = 6 * cores + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise InvalidInput(
            f"{cores} cores need about {needed} open files, but only {hard} are allowed: raise "
            "the limit (ulimit -n), or lower cores"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _kill_marked(mark: str) -> None:
    """Kill every process that carries the mark in its environment, until none is left."""
    give_up = time.monotonic() + _CLOSING_SECONDS
    while (marked := _marked(mark)) and time.monotonic() < give_up:
        for pid in marked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _marked(mark: str) -> list[int]:
    """The processes with that mark, except this one; dead ones have no environment."""
    wanted = f"{_MARK}={mark}".encode()
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found
