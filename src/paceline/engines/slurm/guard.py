"""Ends the steps of a race whose process was killed: a program of its own.

It is told the number of every `srun` that is started ("+17") and that has ended ("-17") on its
stdin. When that closes without a word, the race is gone, and whatever still runs is ended. A step
would hold its cores, and a race that resumes in the same allocation would wait for them.
"""

import contextlib
import os
import signal
import sys


def main() -> None:
    """Listen until the race has ended, or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the race decides when it is over
    running: dict[int, int] = {}
    for line in sys.stdin:
        process = int(line[1:])
        if line[0] == "+":
            with contextlib.suppress(OSError):  # it has ended already
                running[process] = os.pidfd_open(process)
        elif process in running:
            os.close(running.pop(process))
    for file in running.values():
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(file, signal.SIGTERM)  # srun ends its step then


if __name__ == "__main__":
    main()
