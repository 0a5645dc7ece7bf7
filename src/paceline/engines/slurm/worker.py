"""The worker of a step: evaluates the pulls that come on its stdin, and answers on its stdout.

`python -P worker.py CORES FOLDER` runs on a node. It uses the standard library and the worker of
local processes, which is in FOLDER: neither imports paceline. Each message follows its length, in
eight bytes. The first one says where modules are; the second has the function and the arms.

What pulls print goes into a file, as on one machine. The process that `srun` has started forks the
worker, and waits: when that has died, it says on stderr what was printed last, and ends likewise.
"""

import faulthandler
import fcntl
import importlib
import importlib.util
import json
import os
import resource
import select
import signal
import struct
import sys
import tempfile
import traceback
from typing import Any, NoReturn

LENGTH = struct.Struct("<Q")
HELLO = b"hello"
_TAIL_BYTES = 4_000  # of what a worker printed that has died
_LOOK_SECONDS = 1.0


class Channel:
    """Looks to the local worker like the socket that it usually has."""

    def __init__(self, source: int, target: int, log: int) -> None:
        self._source = source
        self._target = target
        self._log = log

    def recvmsg(self, *_: int, truncate: Any = os.ftruncate) -> tuple[bytes, list[Any], int, None]:
        """The next job; nothing when the driver has closed the stream."""
        job = self.receive()
        truncate(self._log, 0)  # what earlier jobs have printed was told
        return job, [], 0, None

    def receive(self, *, read: Any = os.read) -> bytes:
        """The next message."""
        head = self._exactly(LENGTH.size, read)
        return self._exactly(LENGTH.unpack(head)[0], read) if head else b""

    def send(self, message: bytes, *, write: Any = os.write) -> None:
        """Send a message."""
        left = memoryview(LENGTH.pack(len(message)) + message)
        while left:
            left = left[write(self._target, left) :]

    def _exactly(self, number: int, read: Any) -> bytes:
        parts = []
        while number:
            part = read(self._source, min(number, 1 << 20))
            if not part:
                return b""
            parts.append(part)
            number -= len(part)
        return b"".join(parts)


def main(cores: int, folder: str) -> None:
    """Work until the driver closes the stream."""
    # What pulls print must not get between the answers.
    source, target, errors = os.dup(0), os.dup(1), os.dup(2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    spec = importlib.util.spec_from_file_location("_paceline_start", f"{folder}/__main__.py")
    assert spec is not None
    assert spec.loader is not None
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    name = start.load().__package__
    killing, printing, worker = (
        importlib.import_module(f"{name}.{one}") for one in ("killing", "printing", "worker")
    )
    log = _log()
    keeper = os.getpid()
    if child := os.fork():
        os.close(source)
        os.close(target)
        _keep(child, log, errors, printing)
    killing.die_with_parent()
    if os.getppid() != keeper:  # it was killed a moment ago
        os._exit(1)
    os.close(errors)
    printing.print_into(log)
    faulthandler.enable(2)
    channel = Channel(source, target, log)
    channel.send(HELLO)
    sys.path[:] = json.loads(channel.receive() or b"[]")
    load = os.memfd_create("paceline")
    content = memoryview(channel.receive())
    while content:
        content = content[os.write(load, content) :]
    worker.Worker(channel, cores, None, log, load).serve()


def _log() -> int:
    """A file to print into, on the node; everything is appended."""
    try:
        with tempfile.TemporaryFile(buffering=0) as file:
            log = os.dup(file.fileno())
    except OSError:  # the disk is full
        log = os.memfd_create("paceline")
    fcntl.fcntl(log, fcntl.F_SETFL, os.O_APPEND)
    return log


def _keep(worker: int, log: int, errors: int, printing: Any) -> NoReturn:
    """Wait for the end of the worker, say what it had printed last, and end as it did."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda what, _: os.kill(worker, what))
    ended = [os.pidfd_open(worker)] if hasattr(os, "pidfd_open") else []
    while not os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        if select.select(ended, [], [], _LOOK_SECONDS) == ([], [], []):
            printing.limit(log, may_cut=True)
    _, status = os.waitpid(worker, 0)
    size = os.fstat(log).st_size
    os.write(errors, os.pread(log, _TAIL_BYTES, max(0, size - _TAIL_BYTES)))
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), sys.argv[2])
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
