"""A control group of its own for what a race starts, where the system allows one.

A group (version 2) can be killed as a whole, whatever the processes in it did to hide. Most systems
let users make none; there, and on old kernels, the keepers and the mark have to do. No resource is
limited or shared out by it, and none is made where it would be.
"""

import contextlib
import fcntl
import os
import time
import uuid
from pathlib import Path

_MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
_PREFIX = "paceline-"


class Group:
    """A control group, locked as long as its driver uses it."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock = lock

    @classmethod
    def create(cls) -> "Group | None":
        """Make one below the group of this process, if possible; end those of dead drivers.

        >>> group = Group.create()
        >>> if group is not None:  # few systems allow it
        ...     group.close()
        """
        above = _own_folder()
        if above is None:
            return None
        try:
            for folder in above.glob(_PREFIX + "*"):
                if (stale := _locked(folder)) is not None:
                    stale.kill(until=0.0)
                    stale.close()
            folder = above / (_PREFIX + uuid.uuid4().hex)
            folder.mkdir()
            group = _locked(folder)
        except OSError:
            return None
        if group is not None and not (folder / "cgroup.kill").exists():  # before Linux 5.14
            group.close()
            return None
        return group

    def kill(self, until: float) -> None:
        """Kill everything in it, and wait until that moment for all to be gone."""
        with contextlib.suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")
            while self._is_populated() and time.monotonic() < until:
                time.sleep(0.001)

    def close(self) -> None:
        """Remove it, unless something in it still lives: then a later race will."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        os.close(self._lock)

    def _is_populated(self) -> bool:
        return "populated 1" in (self.folder / "cgroup.events").read_text()


def _own_folder() -> Path | None:
    """The folder of the group of this process, if it can have groups of its own below."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        (path,) = (line[3:] for line in lines if line.startswith("0::"))
        for mount in _MOUNTS:
            folder = mount / path.lstrip("/")
            if (folder / "cgroup.controllers").exists() and _fits(folder):
                return folder
    except (OSError, ValueError):
        pass
    return None


def _fits(folder: Path) -> bool:
    """Whether it is ours, may be written, and shares nothing out among the groups below it."""
    return (
        os.access(folder, os.W_OK)
        and not (folder / "cgroup.subtree_control").read_text().strip()
        and str(os.getpid()) in (folder / "cgroup.procs").read_text().split()
    )


def _locked(folder: Path) -> Group | None:
    """The group in that folder, unless a living driver has it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return Group(folder, lock)
