"""A supervisor: starts and ends worker processes, each with its keeper, as it is told."""

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Collection
from typing import Any

from .keeper import Charge, be_keeper
from .killing import kill_below, tell
from .loading import Loaded
from .watching import Watch, fork, pidfds

LARGEST_MESSAGE = 1 << 20

_PATIENCE_SECONDS = 0.2  # with what a killed keeper leaves: other workers wait meanwhile
_KEEPER_SECONDS = 2.0  # for the keepers to end everything, before it is done here
_KEEPER_KILLED = {"status": -9, "why": "keeper", "text": ""}


class Supervisor:
    """Forks keepers, which fork workers, and tells whoever gives the orders when one has ended.

    `above` are pidfds of those without whom there is nothing left to do. With what was `loaded`
    here, workers need not load it again.
    """

    def __init__(
        self, control: socket.socket, above: list[int], loaded: Loaded | None = None
    ) -> None:
        self.control = control
        self.loaded = loaded
        self.above = above + (pidfds(os.getpid()) if above else [])  # for the keepers
        self.watch = Watch(os.getppid(), above, [control.fileno()])
        self.keepers: dict[int, int] = {}  # by pid: the driver's number for its worker
        self.hearing, self.reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.hearing.setblocking(False)
        for file in self.above:
            os.set_inheritable(file, False)

    def serve(self) -> None:
        """Work until nobody is left who gives orders."""
        while not self.watch.over:
            ready = self.watch.wait()
            self.reap()
            if self.control.fileno() in ready and not self._obey():
                return
            self.attend(ready)

    def end(self) -> None:
        """End everything, however long it takes, and say so if somebody still listens."""
        for stream in (1, 2):
            os.dup2(0, stream)  # whoever reads what the driver prints need not wait for this
        for child in self.spared():
            end_soon(child)
        until = time.monotonic() + _KEEPER_SECONDS
        while self.spared() and time.monotonic() < until:
            time.sleep(0.002)
            self.reap()
        while not kill_below(os.getpid()):
            pass
        self.say({"over": True})
        os._exit(0)

    def attend(self, ready: set[int]) -> None:
        """Look after other files that can be read."""

    def spared(self) -> Collection[int]:
        """The children that end by themselves, with all that is below them."""
        return list(self.keepers)

    def spawn(self, order: dict[str, Any], files: list[int]) -> None:
        """Start a worker."""
        supervisor = os.getpid()
        try:
            keeper = fork()
        except OSError as error:
            text = f"a worker could not be started: {error}"
            self.say({"ended": order["spawn"], "status": 1, "why": "no fork", "text": text})
        else:
            if keeper == 0:
                self.leave()
                charge = (self.reports, order["cores"], order["path"], files, self.loaded)
                be_keeper(Charge(supervisor, self.above, *charge))
            self.keepers[keeper] = order["spawn"]
        for file in files:
            os.close(file)

    def leave(self) -> None:
        """In a child: close what is not its own."""
        self.watch.close()
        self.control.close()
        self.hearing.close()

    def kill(self, worker: int) -> None:
        """Have a worker ended, with all that it has started."""
        for keeper in [one for one, number in self.keepers.items() if number == worker]:
            end_soon(keeper)

    def reap(self) -> None:
        """See which children have ended."""
        self.bury(self.watch.ended())

    def bury(self, ended: dict[int, int]) -> None:
        """Tell of workers whose keepers have ended, with these exit codes."""
        found = {one: self.keepers.pop(one) for one in ended if one in self.keepers}
        if not found:
            return
        reports = self._reports()
        self.kill_orphans()
        for keeper, worker in found.items():
            self.say({"ended": worker, **reports.get(keeper, _KEEPER_KILLED)})

    def kill_orphans(self) -> None:
        """Kill what a child leaves, because it was killed or lost patience: it is below here."""
        kill_below(os.getpid(), spare=self.spared(), seconds=_PATIENCE_SECONDS)

    def say(self, message: dict[str, Any]) -> None:
        """Tell whoever gives the orders."""
        with contextlib.suppress(OSError):  # it is gone: the next read says so
            self.control.send(json.dumps(message).encode())

    def _obey(self) -> bool:
        try:
            message, files, _, _ = socket.recv_fds(self.control, LARGEST_MESSAGE, 3)
        except ConnectionResetError:
            message = b""
        if not message:  # there is nobody any more
            return False
        order = json.loads(message)
        if "spawn" in order:
            self.spawn(order, files)
        else:
            self.kill(order["kill"])
        return True

    def _reports(self) -> dict[int, dict[str, Any]]:
        """What keepers have said, each just before its end."""
        found: dict[int, dict[str, Any]] = {}
        with contextlib.suppress(BlockingIOError):
            while True:
                report = json.loads(self.hearing.recv(LARGEST_MESSAGE))
                found[report.pop("keeper")] = report
        return found


def end_soon(child: int) -> None:
    """Have it end all that is below it; it may have been stopped."""
    tell(child, signal.SIGTERM)
    tell(child, signal.SIGCONT)
