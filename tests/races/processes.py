"""Finding processes by a mark in their environment: what a race starts inherits it."""

import os
import time

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
