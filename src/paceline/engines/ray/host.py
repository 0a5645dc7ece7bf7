"""What runs inside the worker processes of Ray: the pulls of a job, in processes below.

The local workers do the pulls. So a pull can be ended with all that it has started, while Ray's
process lives on (a new one takes a second to start); and how a pull has died is known, which Ray
does not tell.
"""

import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from paceline.engines.events import Began, Failed, Failure, Finished, Loading, Lost, Values
from paceline.engines.jobs import Job
from paceline.engines.local.leftovers import end_marked
from paceline.engines.local.process.messages import encode
from paceline.engines.local.processors import Processors
from paceline.engines.local.workers import LocalWorkers
from paceline.engines.working import Answer
from paceline.engines.workload import Workload

MARK = "PACELINE_RAY_RACE"  # an environment variable of all processes that a race has on a node
BEGAN = None  # what a job that is not short says before its answer, once it has begun
NEEDS_PARCEL = "needs the parcel"  # what a job says instead if this process has none of the race

Said = bytes | Answer | str | None

_LOOK_SECONDS = 0.1  # how often a job looks whether it was told to end
_ENDING_SECONDS = 5.0
_UNUSED_SECONDS = 30.0  # then the race is taken to be over
_MOST_IDLE = 2  # processes of a job's host that are kept for other core counts


@dataclass
class _Host:
    """The local workers of a race in this process, and when they were last used."""

    workers: LocalWorkers
    used: float


_hosts: dict[str, _Host] = {}  # by race


def do(order: bytes, parcel: Sequence[Any] = ()) -> Iterator[Said]:
    """Do the pulls of a job; say that it has begun, unless it is short, and then how it went.

    `parcel` holds a reference to the pickled workload, or nothing: only the first job here needs
    it, and to keep track of references costs Ray a seventh of a task. What went well is said in
    bytes, as the local workers say it: to pickle as many numbers takes Ray as long as the rest.
    """
    race, job = pickle.loads(order)
    if not parcel and race not in _hosts:
        yield NEEDS_PARCEL
        return
    with _told_to_end() as told:
        workers = _workers_of(race, parcel)
        try:
            yield from _follow(workers, job, told)
        finally:
            _hosts[race].used = time.monotonic()
            if "CUDA_VISIBLE_DEVICES" in os.environ and _is_on_devices():
                # Others may get these devices next, and this process others.
                _hosts.pop(race).workers.close()


def _follow(workers: LocalWorkers, job: Job, told: threading.Event) -> Iterator[Said]:
    values: list[float] = []
    seconds: list[float] = []
    printed: list[tuple[int, str]] = []
    loading = said = ended = False
    workers.start(job)
    while True:
        events = workers.wait(_LOOK_SECONDS)
        for event in events:
            if isinstance(event, Loading | Began):
                loading = isinstance(event, Loading)
            elif isinstance(event, Values):
                printed += [(len(values) + place, text) for place, text in event.printed]
                values += event.values
                seconds += event.seconds
            elif isinstance(event, Finished):
                yield encode("finished", job.number, values, seconds, printed=printed)
                return
            elif isinstance(event, Failed | Lost):
                yield Answer(values, seconds, _failure(event), printed)
                return
        if told.is_set() and not ended:
            ended = True
            workers.end(job.number)
        # A short job does not say that it has begun, for that costs as much as its answer.
        if not (events or loading or said or ended):
            said = True
            try:
                yield BEGAN
            except GeneratorExit:  # Ray was told to cancel it in this moment, and goes no further
                _end(workers, job)
                raise


def _end(workers: LocalWorkers, job: Job) -> None:
    workers.end(job.number)
    until = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < until:
        for event in workers.wait(_LOOK_SECONDS):
            if isinstance(event, Finished | Failed | Lost):
                return


def _failure(event: Failed | Lost) -> Failure:
    if isinstance(event, Failed):
        return event.failure
    return Failure("machine", event.why or "was told to end", printed=event.printed)


def sweep(race: str, seconds: float) -> None:
    """End all that a race has left on this node."""
    if race in _hosts:
        _hosts.pop(race).workers.close()
    # Those that start the others end them in order if they are told to, and reap them.
    end_marked(race, time.monotonic() + seconds / 2, MARK, signal.SIGTERM)
    end_marked(race, time.monotonic() + seconds / 2, MARK)


def _workers_of(race: str, parcel: Sequence[Any]) -> LocalWorkers:
    """Those of the race, or new ones; those of races that seem to be over are closed."""
    if race not in _hosts:
        import ray

        now = time.monotonic()
        for name in [name for name, one in _hosts.items() if one.used + _UNUSED_SECONDS < now]:
            _hosts.pop(name).workers.close()
        workload: Workload = pickle.loads(ray.get(parcel[0]))
        os.environ[MARK] = race  # it is inherited
        try:
            nothing = Processors((), _MOST_IDLE)  # Ray counts cores, and pins nothing
            _hosts[race] = _Host(LocalWorkers(workload, nothing, _MOST_IDLE), now)
        finally:
            del os.environ[MARK]
    return _hosts[race].workers


def _is_on_devices() -> bool:
    import ray

    return bool(ray.get_gpu_ids())


@contextlib.contextmanager
def _told_to_end() -> Iterator[threading.Event]:
    """Ray tells a task to end by an interrupt: it is noted, for it must not tear anything apart."""
    told = threading.Event()

    def note(_signal: int, _frame: FrameType | None) -> None:
        told.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield told
    finally:
        signal.signal(signal.SIGINT, before)
