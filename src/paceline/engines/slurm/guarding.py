"""The driver's side of the guard, which ends the steps of a race whose process was killed."""

import contextlib
import subprocess
import sys
from pathlib import Path


class Guard:
    """A process that outlives this one just long enough to end what is left of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )

    def started(self, process: int) -> None:
        """Tell it of a new `srun`."""
        self._say(f"+{process}\n")

    def ended(self, process: int) -> None:
        """Tell it that an `srun` has ended."""
        self._say(f"-{process}\n")

    def close(self) -> None:
        """Send it home: nothing is left to end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # somebody killed it: the race goes on without
            self._process.stdin.write(line.encode())
