"""The keeper: the process between the supervisor and a worker, which ends what the worker leaves.

It adopts whatever loses its parent below it, and reaps it when it ends. When the worker has ended,
it kills all that is left. It does the same when the supervisor or the driver is gone: two processes
would have to be killed at the same moment before anything is left behind.
"""

import json
import os
import signal
import socket
import traceback
from typing import Any, NamedTuple, NoReturn

from .killing import (
    KEEPER,
    WORKER,
    adopt_orphans,
    die_with_parent,
    kill_below,
    name_process,
    wake_with_parent,
)
from .loading import Loaded
from .watching import Watch, fork
from .worker import be_worker

_PATIENCE_SECONDS = 2.0  # then the supervisor has to deal with what does not die
_KILLED = -9


class Charge(NamedTuple):
    """What a keeper is given by the supervisor."""

    supervisor: int
    above: list[int]  # pidfds of the supervisor and the driver
    reports: socket.socket
    cores: int
    path: list[str]
    files: list[int]  # of the worker: channel, log, and what it loads or prints
    loaded: Loaded | None  # by the process that the keeper is forked from


def be_keeper(charge: Charge) -> NoReturn:
    """Start a worker, watch over it, and report how it ended."""
    try:
        os.setsid()
        adopt_orphans()
        wake_with_parent()
        for stream in (1, 2):
            os.dup2(charge.files[1], stream)
        report = _keep(charge)
        charge.reports.send(json.dumps({"keeper": os.getpid(), **report}).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _keep(charge: Charge) -> dict[str, Any]:
    """Keep a worker until it has ended, with everything it started; what to report of it."""
    watch = Watch(charge.supervisor, charge.above)
    keeper = os.getpid()
    try:
        worker = fork()
    except OSError as error:
        text = f"a worker could not be started: {error}"
        return {"status": 1, "why": "no fork", "text": text}
    if worker == 0:
        watch.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _start_worker(charge, keeper)
    name_process(KEEPER)
    for file in charge.files:
        os.close(file)
    status: int | None = None
    while status is None and not watch.over:
        watch.wait()
        status = watch.ended().get(worker)
    while not kill_below(keeper, seconds=_PATIENCE_SECONDS):
        if os.getppid() == charge.supervisor:
            break  # what is left becomes the supervisor's
    if status is None:
        status = watch.ended().get(worker, _KILLED)
    return {"status": status, "why": "exit", "text": ""}


def _start_worker(charge: Charge, keeper: int) -> NoReturn:
    charge.reports.close()
    for file in charge.above:
        os.close(file)
    die_with_parent()
    if os.getppid() != keeper:  # it was killed a moment ago
        os._exit(1)
    name_process(WORKER)
    be_worker(charge.cores, charge.path, charge.loaded, *charge.files)
