"""Ends what a supervisor has left behind that was killed itself."""

import contextlib
import os
import signal
import time
from pathlib import Path

from paceline.engines.local.process.killing import KEEPER

MARK = "PACELINE_WORKERS"  # an environment variable that marks every process started


def end_marked(mark: str, until: float, variable: str = MARK, number: int = signal.SIGKILL) -> None:
    """Kill the processes that carry the mark in their environment, until none is left.

    Keepers are spared, but waited for: they know of processes that have lost the mark.
    """
    while (marked := _marked(mark, variable)) and time.monotonic() < until:
        for process in marked:
            if _read(process, "comm").strip() != KEEPER.encode():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        time.sleep(0.001)


def _marked(mark: str, variable: str) -> list[int]:
    """The processes with that mark, except this one; dead ones have no environment."""
    wanted = f"{variable}={mark}".encode()
    others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [
        process
        for process in others
        if process != os.getpid() and wanted in _read(process, "environ").split(b"\0")
    ]


def _read(process: int, file: str) -> bytes:
    try:
        return Path("/proc", str(process), file).read_bytes()
    except OSError:
        return b""
