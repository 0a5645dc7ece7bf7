"""Runs the command of a pull to its end, and says how many threads a pull may use."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from .evaluating import Trouble, kept
from .outside import is_shortage, may_be_from_outside

# The common numeric libraries read these once, when they are imported.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


def core_variables(cores: int) -> dict[str, str]:
    """The environment variables that tell a pull its cores.

    >>> variables = core_variables(2)
    >>> variables["PACELINE_CORES"], variables["OMP_NUM_THREADS"]
    ('2', '2')
    """
    return dict.fromkeys(("PACELINE_CORES", *_THREAD_VARIABLES), str(cores))


def device_variables(devices: Sequence[str]) -> dict[str, str]:
    """The environment variables that tell a pull its devices.

    >>> device_variables(["2", "3"])
    {'CUDA_VISIBLE_DEVICES': '2,3', 'PACELINE_GPUS': '2'}
    """
    return {"CUDA_VISIBLE_DEVICES": ",".join(devices), "PACELINE_GPUS": str(len(devices))}


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    folder: str | None,
    stdout: int,
    stderr: int,
) -> float | Trouble:
    """Run a command to its end; return the seconds it took, or what went wrong.

    It has a session of its own, and what it leaves there is killed.
    """
    began = time.perf_counter()
    try:
        process = subprocess.Popen(
            argv,
            env=os.environ | environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        what = kept(f"could not be started: {error}")
        return "machine" if is_shortage(error) else "no start", what, ""
    try:
        _wait(process)
        seconds = time.perf_counter() - began
    finally:
        _kill_group(process)
        status = process.wait()
    if status == 0:
        return seconds
    what = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
    # A shell adds 128 to the signal that ended what it ran.
    killed = may_be_from_outside(-status) or may_be_from_outside(status - 128)
    return "killed" if killed else "exit status", what, ""


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Wait until it has ended; where possible, nobody else can have its number yet."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:  # some macOS, and Windows
        process.wait()


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill what a command has left in its session; Windows has no sessions."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
