"""Finds and kills what a process has started, however often that forked."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection
from typing import Any

# The names of our processes, as `ps` shows them.
KEEPER = "paceline-keeper"  # not killed from outside: keepers end by themselves
TEMPLATE = "pace-template"
WORKER = "paceline-worker"

_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
_LIBRARY = ctypes.CDLL(None)
_DEAD = ("Z", "X", "")  # zombie, being removed, gone
_LONGEST_PAUSE_SECONDS = 0.05  # between two looks at what does not die at once


def adopt_orphans() -> None:
    """Become a subreaper: orphans among the descendants become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def wake_with_parent() -> None:
    """Have this process go on, if it was stopped, when its parent ends: it has things to end."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def name_process(name: str) -> None:
    """Set the name that `ps` and /proc show, of at most 15 characters."""
    _prctl(_PR_SET_NAME, ctypes.create_string_buffer(name.encode()))


def kill_below(pid: int, spare: Collection[int] = (), seconds: float = 2.0) -> bool:
    """Kill everything below `pid`, except `spare` and what is below those; whether it is gone.

    Orphans of what dies move up to `pid`, a subreaper, and are found the next time. Whole process
    groups are killed: one that forks and exits again and again is never seen in time itself.
    """
    give_up = time.monotonic() + seconds
    pause = 0.001
    while living := descendants(pid, spare):
        if time.monotonic() > give_up:
            return False
        for one in living:
            group = _group(one)
            tell(one, signal.SIGKILL)
            if group > 1 and group != os.getpgrp():
                tell(-group, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    return True


def descendants(pid: int, spare: Collection[int] = ()) -> list[int]:
    """All processes below `pid`, without those that are dead but not reaped."""
    found: list[int] = []
    pending = [pid]
    while pending:
        below = [one for one in children(pending.pop()) if one not in spare]
        found += below
        pending += below
    return [one for one in found if _lives(one)]


def tell(pid: int, number: int) -> None:
    """Send a signal to a process, or to the process group `-pid`, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def state(pid: int | str) -> str:
    """The letter by which `ps` shows what a process does; empty if there is none."""
    fields = _stat(pid)
    return fields[0] if fields else ""


def _lives(pid: int) -> bool:
    """Whether any of its threads does: the main one may have ended before the others."""
    if state(pid) not in _DEAD:
        return True
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return any(state(f"{pid}/task/{thread}") not in _DEAD for thread in threads)


def children(pid: int) -> list[int]:
    """The children of a process, dead ones too."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as stream:
                found += [int(word) for word in stream.read().split()]
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):  # a kernel without that file
                return _children_by_walking(pid)
        except OSError:
            continue
    return found


def _children_by_walking(parent: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == parent]


def _parent(pid: str) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _group(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[2]) if fields else 0


def _stat(pid: int | str) -> list[str]:
    """State, parent, group and so on: what follows the name, which may hold blanks and brackets."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def _prctl(option: int, value: Any) -> None:
    _LIBRARY.prctl(option, value, 0, 0, 0)
