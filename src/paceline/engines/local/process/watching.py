"""What the supervisor and the keepers wait for: children, orders, and the end of those above.

A process *above* is one without which there is nothing left to do: for a keeper the supervisor and
the driver, for the supervisor the driver. Each is known by a pidfd, which no other process can take
over and which no forked copy of the other keeps open. (A pipe is kept open by whatever the driver
forks, and the signal that announces a parent's death comes when the *thread* ends that forked.)
Where the kernel has no pidfd, the parent's number is looked at now and then.
"""

import contextlib
import os
import select
import signal
import socket
from collections.abc import Iterable

from .killing import state, tell

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PATIENCE_SECONDS = 0.1  # with a stopped child: whoever stops a whole race stops its parent too
_LOOK_SECONDS = 0.5  # how often to look for the parent, without a pidfd


def pidfds(*processes: int) -> list[int]:
    """A file for each process, which can be read when it has ended; none on an old kernel."""
    try:
        return [os.pidfd_open(process) for process in processes]
    except (AttributeError, OSError):
        return []


def start_clean() -> None:
    """Let signals do what they do in a fresh Python, whatever those above have set or blocked."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def fork() -> int:
    """Fork; the child has all signals blocked, so that it loses none before it is ready for them.

    A `Watch` lets them in.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    child = -1
    try:
        child = os.fork()
    finally:
        if child != 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return child


class Watch:
    """Waits until something happens, and knows when this process has nothing left to do."""

    def __init__(self, parent: int, above: Iterable[int], files: Iterable[int] = ()) -> None:
        self.told = False  # by a signal to end
        self.alone = False  # because one of those above is gone
        self._parent = parent
        self._above = set(above)
        self._stopped: set[int] = set()
        self._alarm, self._wake = socket.socketpair()
        for end in (self._alarm, self._wake):
            end.setblocking(False)
        self._poll = select.poll()
        for file in (self._alarm.fileno(), *self._above, *files):
            self._poll.register(file, select.POLLIN)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _ENDING:
            signal.signal(number, self._end)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def add(self, file: int) -> None:
        """Watch another file."""
        self._poll.register(file, select.POLLIN)

    def remove(self, file: int) -> None:
        """Watch a file no longer; it may not have been watched."""
        with contextlib.suppress(KeyError):
            self._poll.unregister(file)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do but to end everything below."""
        return self.told or self.alone

    def wait(self) -> set[int]:
        """Wait until something happens; the files that can be read."""
        ready = {file for file, _ in self._poll.poll(self._most_milliseconds())}
        if not ready:
            self._wake_stopped()
        with contextlib.suppress(BlockingIOError):
            self._alarm.recv(4096)
        self.alone = bool(self._above & ready) or os.getppid() != self._parent
        return ready

    def ended(self) -> dict[int, int]:
        """The children that have ended since, own and adopted ones, with their exit codes."""
        found: dict[int, int] = {}
        with contextlib.suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
                if child == 0:
                    break
                if os.WIFSTOPPED(status):
                    self._stopped.add(child)
                else:
                    found[child] = os.waitstatus_to_exitcode(status)
        self._stopped -= found.keys()
        return found

    def close(self) -> None:
        """Forget everything, and let signals do again what they did before: for a child."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *_ENDING):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._alarm.close()
        self._wake.close()

    def _most_milliseconds(self) -> float | None:
        if self._stopped:
            return 1000 * _PATIENCE_SECONDS
        return None if self._above else 1000 * _LOOK_SECONDS

    def _wake_stopped(self) -> None:
        """Let stopped children go on; end one that has made this process its tracer."""
        for child in self._stopped:
            tell(child, signal.SIGKILL if state(child) == "t" else signal.SIGCONT)
        self._stopped.clear()

    def _end(self, *_: object) -> None:
        self.told = True
