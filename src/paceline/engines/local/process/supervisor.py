"""The supervisor: starts and ends worker processes when the driver says so."""

import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from .killing import adopt_orphans, kill_below, kill_tree
from .worker import be_worker

_LARGEST_MESSAGE = 1 << 20


def main(control_file: int) -> None:
    """Be the supervisor until the driver is gone, then end everything."""
    os.setsid()  # a Ctrl-C in the terminal is for the driver
    adopt_orphans()
    control = socket.socket(fileno=control_file)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        Supervisor(control).serve()
    finally:
        signal.set_wakeup_fd(-1)
        kill_below(os.getpid())


class Supervisor:
    """Forks workers when the driver says so, and tells it when one has ended."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.workers: dict[int, int] = {}  # by pid: the driver's number for it

    def serve(self) -> None:
        """Work until the driver is gone."""
        alarm, wake = socket.socketpair()
        alarm.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([self.control, alarm], [], [])
            if alarm in ready:
                with contextlib.suppress(BlockingIOError):
                    alarm.recv(4096)
                self._reap()
            if self.control in ready and not self._obey():
                return

    def _obey(self) -> bool:
        try:
            message, files, _, _ = socket.recv_fds(self.control, _LARGEST_MESSAGE, 3)
        except ConnectionResetError:
            message = b""
        if not message:  # the driver is gone
            return False
        order = json.loads(message)
        if "spawn" in order:
            self._spawn(order, files)
        else:
            for pid in [pid for pid, number in self.workers.items() if number == order["kill"]]:
                kill_tree(pid)
        return True

    def _spawn(self, order: dict[str, Any], files: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.write(files[1], f"a worker could not be started: {error}\n".encode())
            self._tell({"ended": order["spawn"], "status": 1})
        else:
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self.control.close()
                be_worker(order["cores"], order["path"], *files)
            self.workers[pid] = order["spawn"]
        for file in files:
            os.close(file)

    def _reap(self) -> None:
        ended: list[tuple[int, int]] = []
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self.workers:
                    ended.append((self.workers.pop(pid), status))
        if ended:
            # What a worker had started is below the supervisor now, if the worker died by itself.
            kill_below(os.getpid(), spare=self.workers)
        for number, status in ended:
            self._tell({"ended": number, "status": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the driver is gone: the next read says so
            self.control.send(json.dumps(message).encode())
