"""One pull of a command, done in this process, with all that it printed: to be looked at."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from paceline.commands import Invocation, NoValue, Value
from paceline.commands.finding import Found, look, read_at
from paceline.durations import say_seconds
from paceline.engines.local.process.running import core_variables, run
from paceline.engines.local.wire import remove_stale

_KEPT_BYTES = 4_000  # of what the pull printed


@dataclass(frozen=True)
class Attempt:
    """A pull that was run: how it ended, and what it left."""

    seconds: float
    trouble: str  # how it ended, if it did not end well
    printed: dict[str, str]  # the end of each stream
    found: Found | None = None
    why_not: str = ""  # if there is no value


def try_once(invocation: Invocation, value: Value, cores: int, timeout: float) -> Attempt:
    """Run the command to its end, or to its timeout, and read its value.

    >>> from paceline.commands import Command
    >>> command = Command.parse("echo score {x}")
    >>> invocation = command.fill({"x": 0.5}, seed=7, cores=1)
    >>> attempt = try_once(invocation, command.value, cores=1, timeout=60.0)
    >>> attempt.found.number, attempt.printed["stdout"]
    (0.5, 'score 0.5\\n')
    """
    remove_stale(invocation.file)
    environment = core_variables(cores) | invocation.environment
    began = time.perf_counter()
    with _file() as stdout, _file() as stderr:
        files = stdout.fileno(), stderr.fileno()
        try:
            with _limited(timeout):
                ran = run(invocation.argv, environment, invocation.cwd, *files)
        except TimeoutError:
            ran = "killed", f"took longer than the timeout of {say_seconds(timeout)}", ""
        printed = {"stdout": _end_of(stdout), "stderr": _end_of(stderr)}
        if not isinstance(ran, float):
            return Attempt(time.perf_counter() - began, ran[1], printed)
        try:
            output = files[value.stream == "stderr"]
            found = look(value.where, invocation.file, output, ran)
        except NoValue as error:
            return Attempt(ran, "", printed, why_not=str(error))
    return Attempt(ran, "", printed, found)


def _file() -> BinaryIO:
    return tempfile.TemporaryFile(buffering=0)


def _end_of(file: BinaryIO) -> str:
    size = os.fstat(file.fileno()).st_size
    return read_at(file.fileno(), _KEPT_BYTES, max(0, size - _KEPT_BYTES)).decode(errors="replace")


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if this takes longer; only the main thread can be interrupted."""
    if seconds == float("inf") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: Any) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
