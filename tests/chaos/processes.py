"""The processes of a race under attack: which there are, what each is, and what is left of them."""

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from paceline.engines.local.process.killing import TEMPLATE

MARK = "PACELINE_CHAOS_MARK"

ROLES = ("driver", "supervisor", "template", "keeper", "worker", "pull")


def new_mark(rng: random.Random) -> str:
    """Digits that no other process has in its environment or in its arguments."""
    return f"{rng.randrange(10**18):018}"


def alive(mark: str) -> list[int]:
    """The processes with that mark, but this one."""
    wanted = mark.encode()
    return [
        int(name)
        for name in os.listdir("/proc")
        if name.isdigit() and int(name) != os.getpid() and wanted in _words(name)
    ]


def gone(mark: str, seconds: float = 10.0) -> bool:
    """Whether all of them are gone, now or soon."""
    until = time.monotonic() + seconds
    while alive(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def end_all(mark: str) -> None:
    """End what an attack has left, so that it does not disturb the next one."""
    while found := alive(mark):
        for pid in found:
            send(pid, signal.SIGKILL)
        time.sleep(0.01)


def by_role(driver: int) -> dict[str, list[int]]:
    """The processes of a race, by what they are."""
    found: dict[str, list[int]] = {role: [] for role in ROLES}
    level = [(driver, "driver")]
    while level:
        for pid, role in level:
            found[role].append(pid)
        level = [(child, _role(child, role)) for pid, role in level for child in _children(pid)]
    return found


def _role(pid: int, above: str) -> str:
    """What a process is, by what is above it, and by its name below a supervisor."""
    if above == "driver":
        return "supervisor"
    if above == "supervisor":
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            return "template" if name == TEMPLATE else "keeper"
    return {"template": "keeper", "keeper": "worker"}.get(above, "pull")


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _words(pid: str) -> bytes:
    """The environment and the arguments of a process; a dead one has none."""
    with contextlib.suppress(OSError):
        return (
            Path("/proc", pid, "environ").read_bytes() + Path("/proc", pid, "cmdline").read_bytes()
        )
    return b""


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found
