"""Have this Python lack what another system lacks, and run a script: `elsewhere.py mac SCRIPT`.

The libraries that were imported before keep what they have; paceline is imported after.
"""

import importlib
import importlib.abc
import io
import runpy
import sys
from collections.abc import Sequence
from typing import Any

NO_MODULES = {
    "mac": set[str](),
    "windows": {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"},
}
# By module: what neither has, then what Windows has not.
NEITHER = {
    "fcntl": "F_ADD_SEALS F_SEAL_GROW F_SEAL_SEAL F_SEAL_SHRINK F_SEAL_WRITE",
    "os": "memfd_create pidfd_open pipe2 sched_getaffinity sched_setaffinity waitid",
    "select": "POLLRDHUP epoll",
    "socket": "SOCK_SEQPACKET",
}
NOT_WINDOWS = {
    "os": """
        O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK environb fchmod fchown fork forkpty
        getegid geteuid getgid getloadavg getpgid getpriority getuid killpg mkfifo posix_spawn pread
        preadv pwrite pwritev setpgid setpriority setsid sysconf wait3 wait4
    """,
    "signal": "SIGALRM SIGCHLD SIGHUP SIGKILL SIGUSR1 pthread_sigmask setitimer",
    "socket": "AF_UNIX recv_fds send_fds",
}


# These look for what any POSIX has while they are imported; elsewhere they are others.
IMPORTED_BEFORE = (
    "concurrent.futures.process",
    "concurrent.futures.thread",
    "fcntl",
    "numpy",
    "scipy.optimize",
    "scipy.stats",
    "select",
    "signal",
    "socket",
    "subprocess",
    "tempfile",
)


class Absent(importlib.abc.MetaPathFinder):
    """Refuses to find the modules that are not there."""

    def __init__(self, modules: set[str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name in self.modules:
            raise ImportError(f"No module named {name!r}", name=name)


def take_away(system: str) -> None:
    """From here on, this process is on another system, as far as Python shows."""
    for name in IMPORTED_BEFORE:
        importlib.import_module(name)
    absent = NO_MODULES[system]
    sys.meta_path.insert(0, Absent(absent))
    for lacking in (NEITHER, NOT_WINDOWS if system == "windows" else {}):
        for module, names in lacking.items():
            for name in names.split():
                if hasattr(sys.modules.get(module), name):
                    delattr(sys.modules[module], name)
    for name in absent & sys.modules.keys():
        del sys.modules[name]
    plain = io.open

    def without_proc(file: Any, *given: Any, **more: Any) -> Any:
        if str(file).startswith(("/proc", "/sys")):
            raise FileNotFoundError(file)
        return plain(file, *given, **more)

    io.open = without_proc


if __name__ == "__main__":
    take_away(sys.argv[1])
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
