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
from typing import Any, Literal, NamedTuple

from paceline.engines.local.descriptors import away, pair, standard
from paceline.engines.local.groups import Group
from paceline.engines.local.leftovers import MARK, end_marked
from paceline.engines.local.process.killing import state
from paceline.engines.local.process.watching import pidfds
from paceline.errors import InvalidInput, RaceFailed

LARGEST_MESSAGE = 1 << 20

_PROGRAM = Path(__file__).with_name("process")
_CLOSING_SECONDS = 0.5  # a deadline must hold: what takes longer ends after the answer
_REPLACING_SECONDS = 2.0
_MOST_REPLACED = 20

_still_ending: list["subprocess.Popen[bytes]"] = []  # supervisors of races that are over


class Ended(NamedTuple):
    """The supervisor says that a worker is gone, with everything it had started."""

    worker: int
    status: int  # negative: the signal that ended it
    # It ended; its keeper, its template or the supervisor was killed; or it never began.
    why: Literal["exit", "keeper", "template", "supervisor", "no fork"] = "exit"
    text: str = ""  # why it never began


class Supervision:
    """Starts a supervisor, tells it what to do, and replaces it if it is killed."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        self._driver = os.getpid()
        self._replaced = 0
        self._group = Group.create()
        self.control, self._process = self._start()

    def spawn(self, worker: int, cores: int, files: Sequence[int], *, share: bool) -> None:
        """Have a worker started with these files: channel, log, and what it loads or prints.

        It may `share` what it loads with other workers.
        """
        path = [entry for entry in sys.path if isinstance(entry, str)]  # imports heed no others
        self._tell({"spawn": worker, "cores": cores, "path": path, "share": share}, files)

    def kill(self, worker: int) -> None:
        """Have a worker killed, with everything it has started."""
        self._tell({"kill": worker})

    def hear(self) -> Ended | None:
        """Its next message; None if it is gone."""
        message = receive(self.control)
        if not message:
            return None
        news = json.loads(message)
        if "over" in news:  # it was told to end, by a signal
            return None
        return Ended(news["ended"], news["status"], news["why"], news["text"])

    def replace(self) -> None:
        """Start another supervisor after one was killed; end what that one had started."""
        self._end(_REPLACING_SECONDS)
        self._replaced += 1
        if self._replaced > _MOST_REPLACED:
            raise RaceFailed(
                f"the process that starts the workers died {self._replaced} times: is memory, or "
                "the number of processes, limited? The results so far are kept"
            )
        self.control, self._process = self._start()

    def close(self, *, wait: bool = True) -> None:
        """End everything: a supervisor without its driver kills all that is left.

        On a calm machine all is gone when this returns. What takes longer is not waited for, nor
        anything if not `wait`: the supervisor goes on until it is done.
        """
        if os.getpid() != self._driver:  # a process that the driver forked: it owns no workers
            self.control.close()
            self._process.poll()
            return
        self._end(_CLOSING_SECONDS if wait else 0.0)
        if self._group is not None:
            self._group.close()

    def _start(self) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
        _still_ending[:] = [one for one in _still_ending if one.poll() is None]
        mine, its = pair()
        driver = [away(file) for file in pidfds(os.getpid())]
        files = [its.fileno(), *driver]
        group = "" if self._group is None else str(self._group.folder)
        try:
            with its:
                process = subprocess.Popen(
                    [sys.executable, "-P", _PROGRAM, *map(str, [*files, -1][:2]), group],
                    pass_fds=files,
                    stdin=subprocess.DEVNULL,
                    stdout=standard(1),
                    stderr=standard(2),
                    env=os.environ | {MARK: self._mark},
                )
        finally:
            for file in driver:
                os.close(file)
        return mine, process

    def _end(self, seconds: float) -> None:
        """Have the supervisor end everything; if it is dead, end what it left."""
        if self.control.fileno() < 0:  # it was not replaced any more
            return
        until = time.monotonic() + seconds
        self._process.send_signal(signal.SIGCONT)  # it may have been stopped
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)  # what the driver forked may hold it too
        if self._is_killed(until):
            if self._group is not None:
                self._group.kill(until)
            end_marked(self._mark, until)
        self.control.close()
        try:
            self._process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            if state(self._process.pid) == "T":  # stopped again: the keepers end everything then
                self._process.kill()
            _still_ending.append(self._process)

    def _is_killed(self, until: float) -> bool:
        """Wait until the supervisor says that all is over; whether it ends without saying so."""
        with contextlib.suppress(TimeoutError):
            while (left := until - time.monotonic()) > 0:
                self.control.settimeout(left)
                message = receive(self.control)
                if not message or "over" in json.loads(message):
                    return not message
        return False

    def _tell(self, order: dict[str, Any], files: Sequence[int] = ()) -> None:
        self._process.send_signal(signal.SIGCONT)  # it may have been stopped
        # If it is gone, the next `hear` notices, and it is replaced.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self.control, [json.dumps(order).encode()], list(files))


def receive(channel: socket.socket, largest: int = LARGEST_MESSAGE) -> bytes:
    """The next message; empty if there is none, or if the other end is gone."""
    try:
        return channel.recv(largest)
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
