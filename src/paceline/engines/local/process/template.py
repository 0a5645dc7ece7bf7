"""A template: a process that has loaded the user's modules, from which workers are forked.

It loads the function and the arms once, for all workers. If forks may share that (`forking.py`),
it becomes a supervisor, under the one that has started it: it forks keepers, and they fork workers,
in milliseconds, and the memory is shared. If not, it says so and ends, and workers load by
themselves.

It tells the supervisor `{"loaded": true, "any": …}`, where `any` says whether workers of any core
count may be forked from it; or `{"loaded": false, "why": …}`, where `why` is empty if the load has
failed, as every worker then finds out by itself.
"""

import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from .forking import Witness
from .killing import (
    TEMPLATE,
    adopt_orphans,
    die_with_parent,
    kill_below,
    name_process,
    wake_with_parent,
)
from .loading import Loaded, load
from .printing import print_into
from .running import core_variables
from .supervisor import Supervisor


class Cast(NamedTuple):
    """What a template is made from."""

    supervisor: int
    above: list[int]  # pidfds of the supervisor and the driver
    control: socket.socket
    cores: int
    path: list[str]
    files: list[int]  # of its first worker: channel, log, and what it loads


def be_template(cast: Cast) -> NoReturn:
    """Load, and fork workers until the supervisor is gone."""
    supervisor: Supervisor | None = None
    try:
        loaded = _prepare(cast)
        if loaded is not None:
            supervisor = Supervisor(cast.control, cast.above, loaded)
            supervisor.serve()
    finally:
        if supervisor is not None:
            supervisor.end()
        kill_below(os.getpid())
        os._exit(0)


def _prepare(cast: Cast) -> Loaded | None:
    """Load; None if that failed, or workers cannot be forked from here."""
    os.setsid()
    adopt_orphans()  # else what a module starts would not be noticed
    die_with_parent()
    if os.getppid() != cast.supervisor:  # it was killed a moment ago
        return None
    name_process(TEMPLATE)
    channel, log, file = cast.files
    os.close(channel)
    print_into(log)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    faulthandler.enable(2)
    os.environ.update(core_variables(cast.cores))
    sys.path[:] = cast.path
    witness, process = Witness(), os.getpid()
    try:
        with _little_collecting(), witness.watching():
            loaded = load(file, cast.cores, witness.generators)
        if os.getpid() != process:  # a child that a module forked has returned here
            os._exit(0)
        why = witness.hindrance(takes_seed=loaded.takes_seed)
    except BaseException:
        _say(cast, {"loaded": False, "why": ""})
        return None
    if why:
        _say(cast, {"loaded": False, "why": why})
        return None
    # What is in a buffer now would be written by each worker.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    ctypes.CDLL(None).fflush(None)
    gc.freeze()  # else the first collection in a worker copies all that is shared
    for one in (log, file):
        os.close(one)
    wake_with_parent()
    _say(cast, {"loaded": True, "any": witness.fits_any_cores})
    return loaded


@contextlib.contextmanager
def _little_collecting() -> Iterator[None]:
    """Collect no garbage within this block: imports make little, and take a tenth longer with it.

    A module may set this as it likes; that lasts.
    """
    before, never = gc.get_threshold(), 1_000_000_000
    gc.set_threshold(never)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == never:
            gc.set_threshold(*before)


def _say(cast: Cast, message: dict[str, Any]) -> None:
    cast.control.send(json.dumps(message).encode())
