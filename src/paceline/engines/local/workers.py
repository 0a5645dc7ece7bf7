"""The worker processes of one race.

A worker serves pulls of one core count, because libraries fix their number of threads when they are
imported. Idle workers are kept and reused.
"""

import math
import selectors
import time
from collections.abc import Sequence
from dataclasses import replace

from paceline.engines.events import Event, Failed, Failure, Loading, Lost
from paceline.engines.jobs import Job
from paceline.engines.local import wire
from paceline.engines.local.answers import told
from paceline.engines.local.blame import blame
from paceline.engines.local.descriptors import file_with, is_hung_up
from paceline.engines.local.handle import Handle
from paceline.engines.local.process.messages import LARGEST_ANSWER, Malformed, decode
from paceline.engines.local.process.outside import is_shortage
from paceline.engines.local.processors import Place, Processors
from paceline.engines.local.promptness import Promptness
from paceline.engines.local.replacing import Replacing
from paceline.engines.local.starvation import Starvation
from paceline.engines.local.supervision import Ended, Supervision, allow_files, receive
from paceline.engines.workload import Workload

_STARVED_SECONDS = 0.1  # on a calm machine it is a thousandth


class LocalWorkers:
    """Runs jobs in worker processes on this machine, pinned to some of the `processors`.

    They `share` what they load where that is safe: the first imports it, the others are forked.
    """

    def __init__(
        self,
        workload: Workload,
        processors: Processors,
        cores: int,
        *,
        share: bool = True,
    ) -> None:
        allow_files(cores)
        wire.check(workload)
        self._workload = workload
        self._share = share and not workload.is_command
        self._load = file_with(wire.pack(workload))
        self._processors = processors
        self._most_idle = cores  # each holds the user's modules and all arms
        self._workers: dict[int, Handle] = {}
        self._idle: list[Handle] = []  # the most recently used last
        self._by_job: dict[int, Handle] = {}
        self._count = 0
        self._replacing = Replacing()
        self._unsaid: list[Event] = []  # what the next wait reports first
        self._supervision = Supervision()
        self._promptness = Promptness()  # after the supervisor: workers are to have usual slices
        self._starvation = Starvation()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._supervision.control, selectors.EVENT_READ, None)

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, job: Job) -> None:
        """Send a job to an idle worker for that many cores, or to a new one."""
        order = wire.order(self._workload, job)
        try:
            worker = self._idle_worker(job) or self._spawn(job.cores)
        except OSError as error:
            if not is_shortage(error):
                raise
            self._unsaid.append(Lost(job.number, f"a worker could not be started: {error}"))
            return
        worker.processors = self._processors.take(job.cores, worker.processors)
        if not self._processors.moves:
            self._clear(worker.processors)
        worker.send(job, order)
        self._by_job[job.number] = worker
        if not worker.ready:
            self._unsaid.append(Loading(job.number))

    def end(self, job: int) -> None:
        """End a job with its worker and everything it started."""
        worker = self._by_job.get(job)
        if worker is not None and not worker.ended:
            worker.ended = True
            self._supervision.kill(worker.number)

    def fileno(self) -> int:
        """A file that can be read when something has happened: for those who wait for more."""
        return self._selector.fileno()

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        events, self._unsaid = self._unsaid, []
        until = math.inf if seconds is None else time.monotonic() + seconds
        ready = self._selector.select(0)
        while not ready and not events and (left := until - time.monotonic()) > 0:
            ready = self._selector.select(self._starvation.part(left))
            self._starvation.woken()
        for worker in self._by_job.values():
            worker.outputs.limit()
        for key, _ in ready:
            if key.data is None:
                events += self._hear_supervisor()
            else:
                events += self._hear(key.data)
        return events

    @property
    def starved_seconds(self) -> float:
        """How long this process was kept from its work at worst, not long ago."""
        return self._starvation.seconds

    def close(self) -> None:
        """End everything."""
        # Each wait would cost a moment that may be long: then the supervisor ends it afterwards.
        self._supervision.close(wait=self.starved_seconds < _STARVED_SECONDS)
        self._promptness.close()
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
        self._selector.close()
        self._processors.close()
        self._load.close()

    def _idle_worker(self, job: Job) -> Handle | None:
        """The most recently used one, if possible one whose processors are free."""
        chosen: Handle | None = None
        mine = {run.arm for run in job.runs}
        for worker in reversed(self._idle):
            if worker.cores == job.cores and (not job.fresh or worker.served <= mine):
                if self._processors.are_free(worker.processors):
                    chosen = worker
                    break
                if self._processors.moves:
                    chosen = chosen or worker
        if chosen is not None:
            self._idle.remove(chosen)
        return chosen

    def _clear(self, devices: Sequence[Place]) -> None:
        """End idle workers that have these devices, too: they may hold memory there."""
        for worker in [one for one in self._idle if set(one.processors) & set(devices)]:
            self._idle.remove(worker)
            self._supervision.kill(worker.number)

    def _spawn(self, cores: int) -> Handle:
        if len(self._idle) >= self._most_idle:
            self._supervision.kill(self._idle.pop(0).number)
        worker, its = Handle.create(self._count, cores, command=self._workload.is_command)
        self._count += 1
        with its:
            third = worker.outputs.stdout or self._load
            files = [its.fileno(), worker.outputs.log.fileno(), third.fileno()]
            threads = self._processors.threads(cores)
            self._supervision.spawn(worker.number, threads, files, share=self._share)
        self._workers[worker.number] = worker
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        return worker

    def _hear(self, worker: Handle) -> list[Event]:
        if not worker.listening:  # the supervisor reported its end in the same moment
            return []
        message = receive(worker.channel, LARGEST_ANSWER)
        if not message and is_hung_up(worker.channel):  # the supervisor will say how it ended
            self._ignore(worker)
            return []
        return self._take_in(worker, message)

    def _take_in(self, worker: Handle, message: bytes) -> list[Event]:
        """What a worker said, turned into events."""
        if worker.ended or worker.wrong:
            return []
        turn = worker.turn
        try:
            answer = decode(message)
            if turn is None:
                raise Malformed("an answer to no job")
            turn.take(answer)
        except Malformed as error:
            self._distrust(worker, str(error))
            return []
        worker.outputs.told(answer.at)
        if answer.kind == "began":
            worker.loaded()
        elif answer.kind != "values":
            self._set_free(worker, answer.threads)
        return told(answer)

    def _distrust(self, worker: Handle, why: str) -> None:
        """End a worker that says what makes no sense: something in its process has gone wrong."""
        worker.wrong = f"the worker process was ended because it sent {why}"
        if worker in self._idle:
            self._idle.remove(worker)
        self._supervision.kill(worker.number)

    def _set_free(self, worker: Handle, threads: int) -> None:
        """Keep a worker for another job, unless its threads could disturb that."""
        if worker.turn is not None:
            self._replacing.worked += worker.turn.worked
        self._release(worker)
        if threads and self._replacing.is_worth(worker.loading_seconds):
            self._supervision.kill(worker.number)
        else:
            self._idle.append(worker)

    def _release(self, worker: Handle) -> Job | None:
        """Note that a worker has no job any more; return the one it had."""
        job, worker.turn = worker.job, None
        if job is not None:
            del self._by_job[job.number]
            self._processors.release(worker.processors)
        return job

    def _hear_supervisor(self) -> list[Event]:
        ended = self._supervision.hear()
        if ended is None:
            return self._replace_supervisor()
        worker = self._workers.pop(ended.worker, None)
        return [] if worker is None else self._bury(worker, ended)

    def _replace_supervisor(self) -> list[Event]:
        """Replace a supervisor that was killed: all that it had started is ended, jobs are lost."""
        self._selector.unregister(self._supervision.control)
        self._promptness.close()
        self._supervision.replace()
        self._promptness = Promptness()
        self._selector.register(self._supervision.control, selectors.EVENT_READ, None)
        events: list[Event] = []
        for worker in self._workers.values():
            events += self._bury(worker, Ended(worker.number, 0, "supervisor"))
        self._workers.clear()
        return events

    def _bury(self, worker: Handle, ended: Ended) -> list[Event]:
        """Handle the end of a worker: ended by us, or else with somebody to blame."""
        events: list[Event] = []
        worker.channel.setblocking(False)
        # What it sent before its end counts.
        while message := receive(worker.channel, LARGEST_ANSWER):
            events += self._take_in(worker, message)
        if worker in self._idle:
            self._idle.remove(worker)
        job = self._release(worker)
        if job is not None and worker.ended:
            events.append(Lost(job.number, printed=worker.outputs.rest()))
        elif job is not None:
            events.append(_end_of(job, worker, ended))
        self._ignore(worker)
        worker.close()
        return events

    def _ignore(self, worker: Handle) -> None:
        if worker.listening:
            self._selector.unregister(worker.channel)
            worker.listening = False


def _end_of(job: Job, worker: Handle, ended: Ended) -> Failed | Lost:
    """How a job ends whose worker is gone, though nobody told it to."""
    printed = worker.outputs.rest()
    if worker.wrong:
        return Failed(job.number, Failure("died", worker.wrong, printed=printed))
    used = len(worker.served) > 1
    found = blame(ended.status, ended.why, ended.text, began=worker.ready, used=used)
    if isinstance(found, str):
        return Lost(job.number, found)
    return Failed(job.number, replace(found, printed=printed))
