"""Keep the machine busy now and then, so that everything else happens at odd moments."""

import random
import subprocess
import sys
import threading

_BUSY = "import os, time\nuntil = time.monotonic() + 20\nwhile time.monotonic() < until: pass"


def busy_loops(count: int) -> list["subprocess.Popen[bytes]"]:
    """Processes that use a core each, and end by themselves after a while."""
    return [subprocess.Popen([sys.executable, "-S", "-c", _BUSY]) for _ in range(count)]


def disturb(done: threading.Event, rng: random.Random) -> None:
    """Start and end busy loops until it is done."""
    while not done.wait(rng.uniform(2, 10)):
        loops = busy_loops(rng.randrange(1, 4))
        done.wait(rng.uniform(1, 5))
        for one in loops:
            one.kill()
            one.wait()
