"""What runs in the process of a Dask worker: it hands jobs to local workers, and tells of them.

Everything here runs in the event loop of the Dask worker, and nothing waits there.
"""

import asyncio
import os
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from paceline.commands import Command
from paceline.engines.events import Began, Event, Failed, Finished, Loading, Lost
from paceline.engines.jobs import Job, Run
from paceline.engines.local import wire
from paceline.engines.local.processors import Processors
from paceline.engines.local.workers import LocalWorkers
from paceline.engines.workload import Workload, stand_in
from paceline.errors import InvalidInput, RaceFailed

LEASE_SECONDS = 60.0  # a driver that has not called for so long is dead
_LOOK_SECONDS = 5.0
_BEGIN_SECONDS = 0.1  # a job that is not over by then says that it has begun

_hosts: dict[str, "Host"] = {}  # of this process, by their tokens

Messages = tuple[int, bytes]  # the number of the first event, and the events, pickled


def versions() -> str:
    """What has to be the same on both sides."""
    ours: str = sys.modules["paceline"].__version__
    return f"Python {sys.version_info[0]}.{sys.version_info[1]} and paceline {ours}"


@dataclass(frozen=True)
class Parcel:
    """What a host is sent of a race: a packed function, or a command with its arms."""

    load: bytes
    takes_seed: bool
    command: Command | None
    arms: Sequence[Any]  # of a command
    folder: str  # of the race: commands run there, if it exists on the node
    versions: str

    @classmethod
    def of(cls, workload: Workload) -> "Parcel":
        """Pack a workload, in the process of the race."""
        command = workload.evaluate if isinstance(workload.evaluate, Command) else None
        return cls(
            wire.pack(workload),
            workload.takes_seed,
            command,
            () if command is None else list(workload.arms),
            os.getcwd(),
            versions(),
        )

    def workload(self, host: "Host") -> Workload:
        """The workload of the local workers; the seeds of a job come with it."""
        if self.command is None:
            return stand_in(self.load, 0, host.seeds_of, takes_seed=self.takes_seed)
        command = self.command
        if command.cwd is None and os.path.isdir(self.folder):
            command = replace(command, cwd=self.folder)
        return Workload(command, self.arms, host.seeds_of)


class Host:
    """The local workers of one race in this Dask worker."""

    def __init__(self, token: str, topic: str, parcel: Parcel, cores: int, worker: Any) -> None:
        self.barred: set[int] = set()  # jobs that were ended before they had begun
        self.jobs: dict[int, asyncio.Future[None]] = {}
        self.loading: set[int] = set()  # jobs whose worker says itself when they begin
        self._token = token
        self._topic = topic
        self._worker = worker
        self._cores = cores
        self._loop = asyncio.get_running_loop()
        self._seeds: dict[Run, list[int]] | None = None  # of the job that begins
        self._unheard: list[Event] = []
        self._heard = 0  # how many events before these
        self._called = time.monotonic()
        # Several Dask workers may share a machine: no processors are kept for one of them.
        self._local = LocalWorkers(parcel.workload(self), Processors((), cores), cores)
        self._loop.add_reader(self._local.fileno(), self._hear)
        self._lease = self._loop.call_later(_LOOK_SECONDS, self._look)

    def seeds_of(self, arm: int, first: int, pulls: int) -> list[int]:
        """The seeds of these pulls, which came with their job."""
        if self._seeds is None:  # before the first, it is only seen how long commands get
            return [0] * pulls
        return self._seeds[Run(arm, first, pulls)]

    def step_aside(self, key: str) -> None:
        """Let Dask begin other tasks beside this one, if it has fewer threads than cores.

        The task needs no thread. It keeps its resources.
        """
        from distributed.worker_state_machine import SecedeEvent

        if self._worker.state.nthreads < self._cores:
            event = SecedeEvent(key=key, compute_duration=0.0, stimulus_id=f"paceline-{key}")
            self._loop.call_soon(self._worker.handle_stimulus, event)

    async def run(self, job: Job, seeds: list[list[int]]) -> None:
        """Have a job done; return when it is over."""
        if job.number in self.barred:
            self.barred.remove(job.number)
            return
        over = self.jobs[job.number] = self._loop.create_future()
        self._seeds = dict(zip(job.runs, seeds, strict=bool(seeds)))
        try:
            self._local.start(job)
        except Exception as error:  # whatever it is, the job is over, and its pulls did nothing
            self._tell([Lost(job.number, f"its worker could not be started: {error}")])
        self._hear()
        # To the driver, a job in silence may be one that Dask has not begun.
        self._loop.call_later(_BEGIN_SECONDS, self._say_begun, job.number)
        await over

    def _say_begun(self, job: int) -> None:
        if job in self.jobs and job not in self.loading:
            self._tell([Began(job)])

    def end(self, job: int) -> bool:
        """End a job; False if it has not begun, and then it never will."""
        if job in self.jobs:
            self._local.end(job)
            return True
        self.barred.add(job)
        return False

    def call(self, heard: int) -> Messages:
        """Take note that the driver lives, and has heard so many events; return the others."""
        self._called = time.monotonic()
        del self._unheard[: heard - self._heard]
        self._heard = heard
        return self._heard, pickle.dumps(self._unheard)

    def close(self) -> None:
        """End everything."""
        _hosts.pop(self._token, None)
        self._lease.cancel()
        self._loop.remove_reader(self._local.fileno())
        self._local.close()
        for over in self.jobs.values():
            _resolve(over)
        self.jobs.clear()

    def _hear(self) -> None:
        try:
            events = self._local.wait(0)
        except RaceFailed as error:  # no supervisor can be kept alive on this node
            events = [Lost(job, str(error)) for job in self.jobs]
            self._tell(events)
            self.close()
            return
        if events:
            self._tell(events)

    def _tell(self, events: list[Event]) -> None:
        first = self._heard + len(self._unheard)
        self._unheard += events
        self._worker.log_event(self._topic, [self._token, first, pickle.dumps(events)])
        for event in events:
            if isinstance(event, Loading):
                self.loading.add(event.job)
            elif isinstance(event, Finished | Failed | Lost):
                self.loading.discard(event.job)
                _resolve(self.jobs.pop(event.job))

    def _look(self) -> None:
        if time.monotonic() - self._called > LEASE_SECONDS:
            self.close()
        else:
            self._lease = self._loop.call_later(_LOOK_SECONDS, self._look)
            self._hear()  # and see that what pulls print does not fill the disk


def _resolve(over: "asyncio.Future[None]") -> None:
    if not over.done():  # Dask may have cancelled it
        over.set_result(None)


async def open_host(token: str, topic: str, parcel: Parcel, cores: int, dask_worker: Any) -> None:
    """Have a host in this Dask worker; refuse what could not be loaded here."""
    here = versions()
    if here != parcel.versions:
        raise InvalidInput(
            f"the Dask worker {dask_worker.address} has {here}, and the race has "
            f"{parcel.versions}: functions can be sent only if both are the same"
        )
    _hosts[token] = Host(token, topic, parcel, cores, dask_worker)


async def call_host(token: str, heard: int) -> Messages | None:
    """Call a host; None if there is none, because it was restarted or has given up."""
    host = _hosts.get(token)
    return None if host is None else host.call(heard)


async def end_job(token: str, job: int) -> bool:
    """End a job; False if it has not begun, and then it never will."""
    host = _hosts.get(token)
    return host is not None and host.end(job)


async def close_host(token: str) -> None:
    """Close a host, if it is there."""
    host = _hosts.get(token)
    if host is not None:
        host.close()


async def do_job(token: str, key: str, job: Job, seeds: list[list[int]]) -> None:
    """Do a job: this is the Dask task, which ends when the job is over."""
    host = _hosts.get(token)
    if host is None:  # the driver knows: it calls now and then
        return
    host.step_aside(key)
    await host.run(job, seeds)
