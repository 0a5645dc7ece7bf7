"""Finding processes by a mark in their environment: what a race starts inherits it."""

import os
import subprocess
import sys
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
