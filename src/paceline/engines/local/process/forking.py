"""Whether a process that has loaded the user's modules may be forked, and for which core counts.

A worker that is forked shares whatever its modules made while they were imported; one that imports
them itself has its own. Most of that is the same either way. This finds what is not: threads, which
a fork loses; child processes, open files and shared memory, which several workers would then use at
once; handlers of signals; temporary files; and random generators (`generators.py`). If in doubt,
nothing is forked.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time
from _thread import _count as python_threads
from collections.abc import Iterator
from typing import Any, ClassVar

from .generators import Generators
from .killing import children, tell
from .running import core_variables
from .threads import can_be_told, libraries

# Folders of compiled modules that are known to read no number of threads when they are imported,
# except by the libraries in `threads.py`, and to draw nothing at random, except with numpy.
_KNOWN = frozenset(
    ("lib-dynload", "numpy", "numpy.libs", "scipy", "scipy.libs", "sklearn", "scikit_learn.libs")
)
_ALSO_KNOWN = frozenset(
    [
        "pandas",
        "pandas.libs",
        "matplotlib",
        "kiwisolver",
        "contourpy",
        "PIL",
        "pillow.libs",
        "yaml",
        "charset_normalizer",
    ]  # numpy.f2py imports it where it is installed
)
_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", os.path.join(sys.base_prefix, "lib/lib"))
_HANDLED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)  # by our own processes
_NEEDED = (
    *((os, name) for name in ("fork", "waitpid", "kill")),
    *((time, name) for name in ("sleep", "monotonic")),
    *((select, "poll"), (socket, "socket"), (signal, "signal")),
)
_TRIAL_SECONDS = 1.0
_FAREWELL_SECONDS = 0.05  # a thread that was joined may still be listed for a moment


class _WatchedEnvironment(os._Environ[str]):
    """What `os.environ` is while modules are loaded: it notes whether they look for cores."""

    asked: ClassVar[bool] = False
    _names: ClassVar[dict[str, str]] = core_variables(1)

    def __getitem__(self, name: str) -> str:
        _WatchedEnvironment.asked |= name in self._names
        return super().__getitem__(name)


class Witness:
    """Watches what the user's modules do while they are loaded."""

    def __init__(self) -> None:
        self.generators = Generators()
        self.asks_for_cores = False
        self.asks_for_processors = False
        self._before: dict[str, object] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what is done within this block."""
        plain, affinity = type(os.environ), os.sched_getaffinity

        def asking(process: int, /) -> set[int]:
            self.asks_for_processors = True
            return affinity(process)

        self._before = _traces()
        _WatchedEnvironment.asked = False
        os.environ.__class__ = _WatchedEnvironment
        os.sched_getaffinity = asking
        try:
            with self.generators.watching():
                yield
        finally:
            os.environ.__class__ = plain
            os.sched_getaffinity = affinity
            self.asks_for_cores = _WatchedEnvironment.asked

    def hindrance(self, *, takes_seed: bool) -> str:
        """What hinders forks of this process; empty if nothing does.

        `takes_seed` says that the function is given a seed. If it is not, it draws its random
        numbers from somewhere else: in a compiled module, nobody would see that.
        """
        if self.asks_for_processors:
            return "processors"  # each worker has its own
        if _has_threads():
            return "threads"
        if children(os.getpid()):
            return "child processes"
        after = _traces()
        for what, before in self._before.items():
            if after[what] != before:
                return what
        if not self.generators.find():
            return "random generators"
        if not takes_seed and _has_unknown_libraries():
            return "compiled modules"
        return ""

    @property
    def fits_any_cores(self) -> bool:
        """Whether workers for any number of cores may be forked, and told their threads then."""
        return not (self.asks_for_cores or _has_unknown_libraries()) and can_be_told()


def _traces() -> dict[str, object]:
    """What may not change while modules are loaded."""
    with open("/proc/self/maps") as stream:
        mapped = [line.split() for line in stream]
    temporary: Any = sys.modules.get("tempfile")
    return {
        "open files": _open_files(),
        "shared memory": [words[0] for words in mapped if words[1].startswith("rw-s")],
        "handlers of signals": [signal.getsignal(number) for number in _HANDLED],
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "timers": signal.getitimer(signal.ITIMER_REAL),
        # Our own processes need these. Some libraries replace them, to switch between tasks.
        "replaced functions": [getattr(module, name, None) for module, name in _NEEDED],
        # It is made with the first name of a temporary file.
        "temporary files": getattr(temporary, "_name_sequence", None),
    }


def _open_files() -> dict[str, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the file with this list is closed again
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found


def _has_unknown_libraries() -> bool:
    return not all(map(_is_known, libraries()))


def _is_known(path: str) -> bool:
    if path.startswith(_SYSTEM) and "-packages/" not in path:  # Debian has modules there
        return True
    return bool((_KNOWN | _ALSO_KNOWN).intersection(path.split("/")))


def _has_threads() -> bool:
    """Whether a fork would lose threads.

    OpenBLAS stops its threads before a fork, and starts them again when it needs them. So a trial
    shows whose they are: those that know of forks are gone after one.
    """
    if python_threads():
        return True
    if _threads() == 1:
        return False
    trial = os.fork()
    if trial == 0:
        os._exit(0)
    give_up = time.monotonic() + _TRIAL_SECONDS
    while os.waitpid(trial, os.WNOHANG)[0] == 0:
        if time.monotonic() > give_up:  # it waits for a thread that it has lost
            tell(trial, signal.SIGKILL)
            os.waitpid(trial, 0)
            return True
        time.sleep(0.001)
    give_up = time.monotonic() + _FAREWELL_SECONDS
    while _threads() > 1 and time.monotonic() < give_up:
        time.sleep(0.001)
    return _threads() > 1


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))
