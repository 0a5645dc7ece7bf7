"""Finding processes by a mark in their environment: what a race starts inherits it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable

MARK = "PACELINE_TEST_MARK"


def marked(mark: str) -> list[int]:
    """The living processes that carry the mark, but this one."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                carries = wanted in stream.read().split(b"\0")
            with open(f"/proc/{name}/stat") as stat:
                dead = stat.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if carries and not dead:
            found.append(int(name))
    return found


def gone(mark: str, seconds: float = 5.0) -> bool:
    """Whether all of them are gone, now or soon."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not marked(mark):
            return True
        time.sleep(0.02)
    return False


def all_die_with_the_driver(script: str, mark: str, processes: int) -> bool:
    """Kill a script as soon as there are so many processes; whether all of them are gone then."""
    driver = subprocess.Popen([sys.executable, "-c", script])
    until = time.monotonic() + 20
    while len(marked(mark)) < processes and time.monotonic() < until:
        time.sleep(0.05)
    assert len(marked(mark)) >= processes
    driver.kill()
    driver.wait()
    return gone(mark)


def alive(pid: int) -> bool:
    """Whether any thread of a process lives: its main one may have ended before the others."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return any(_state(f"{pid}/task/{thread}") not in "ZX" for thread in threads)


def children(pid: int) -> list[int]:
    """The children of a process, the dead ones too."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == pid]


def below(pid: int, name: str) -> list[int]:
    """The living processes below this one that have that name, as `ps` shows it."""
    found = [one for one in children(pid) if alive(one)]
    mine = [one for one in found if _name(one) == name]
    return mine + [deeper for one in found for deeper in below(one, name)]


def dead_below(pid: int) -> int:
    """How many processes below this one are dead, and not reaped."""
    return sum((not alive(child)) + dead_below(child) for child in children(pid))


def soon(holds: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether something holds, now or soon."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _state(path: str) -> str:
    fields = _stat(path)
    return fields[0] if fields else "X"


def _parent(path: str) -> int:
    fields = _stat(path)
    return int(fields[1]) if fields else 0


def _stat(path: str) -> list[str]:
    try:
        with open(f"/proc/{path}/stat") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []
