"""Finds and kills what a process has started, however often that forked."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PATIENCE_SECONDS = 2.0  # with a process that does not die at once


def adopt_orphans() -> None:
    """Become a subreaper: orphans among the descendants become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_tree(pid: int) -> None:
    """Kill a process and everything below it; it is stopped first, so that it starts no more."""
    _signal(pid, signal.SIGSTOP)
    kill_below(pid)
    _signal(pid, signal.SIGKILL)


def kill_below(pid: int, spare: Collection[int] = ()) -> None:
    """Kill everything below `pid`, except `spare` and what is below those, until it is gone.

    Orphans of what dies move up to `pid`, a subreaper, and are found the next time.
    """
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < give_up:
        living = descendants(pid, spare)
        if not living:
            return
        for one in living:
            _signal(one, signal.SIGKILL)
        time.sleep(0.001)


def descendants(pid: int, spare: Collection[int] = ()) -> list[int]:
    """All processes below `pid`, without those that are dead but not reaped."""
    found: list[int] = []
    pending = [pid]
    while pending:
        below = [one for one in _children(pending.pop()) if one not in spare]
        found += below
        pending += below
    return [one for one in found if _state(one) not in ("Z", "")]


def _children(pid: int) -> list[int]:
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


def _state(pid: int) -> str:
    fields = _stat(str(pid))
    return fields[0] if fields else ""


def _stat(pid: str) -> list[str]:
    """State, parent and so on: what follows the name, which may contain blanks and brackets."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
