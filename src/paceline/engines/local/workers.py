"""The worker processes of one race.

A worker serves pulls of one core count, because libraries fix their number of threads when they are
imported. Idle workers are kept and reused.
"""

import pickle
import selectors
import tempfile
from collections.abc import Sequence
from typing import BinaryIO

from paceline.commands import Command
from paceline.engines.events import Began, Event, Failed, Failure, Finished, Loading, Lost, Values
from paceline.engines.jobs import Job
from paceline.engines.local import wire
from paceline.engines.local.handle import Handle
from paceline.engines.local.processors import Processors
from paceline.engines.local.supervision import Supervision, allow_files, receive
from paceline.engines.workload import Workload


class LocalWorkers:
    """Runs jobs in worker processes on this machine, pinned to some of the `processors`."""

    def __init__(self, workload: Workload, processors: Sequence[int], cores: int) -> None:
        allow_files(cores)
        self._workload = workload
        self._load = _file_with(wire.pack(workload))
        self._processors = Processors(processors, cores)
        self._most_idle = cores  # each holds the user's modules and all arms
        self._workers: dict[int, Handle] = {}
        self._idle: list[Handle] = []  # the most recently used last
        self._by_job: dict[int, Handle] = {}
        self._count = 0
        self._unsaid: list[Event] = []  # what the next wait reports first
        self._supervision = Supervision()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._supervision.control, selectors.EVENT_READ, None)

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, job: Job) -> None:
        """Send a job to an idle worker for that many cores, or to a new one."""
        order = wire.order(self._workload, job)
        worker = self._idle_worker(job.cores) or self._spawn(job.cores)
        worker.processors = self._processors.take(job.cores, worker.processors)
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

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        events, self._unsaid = self._unsaid, []
        for key, _ in self._selector.select(0 if events else seconds):
            if key.data is None:
                events += self._hear_supervisor()
            else:
                events += self._hear(key.data)
        return events

    def close(self) -> None:
        """End everything."""
        self._supervision.close()
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
        self._selector.close()
        self._processors.close()
        self._load.close()

    def _idle_worker(self, cores: int) -> Handle | None:
        """The most recently used one, if possible one whose processors are free."""
        chosen: Handle | None = None
        for worker in reversed(self._idle):
            if worker.cores == cores:
                if self._processors.are_free(worker.processors):
                    chosen = worker
                    break
                chosen = chosen or worker
        if chosen is not None:
            self._idle.remove(chosen)
        return chosen

    def _spawn(self, cores: int) -> Handle:
        if len(self._idle) >= self._most_idle:
            self._supervision.kill(self._idle.pop(0).number)
        worker, its = Handle.create(self._count, cores, command=self._workload.is_command)
        self._count += 1
        with its:
            files = [its.fileno(), worker.log.fileno(), (worker.output or self._load).fileno()]
            self._supervision.spawn(worker.number, cores, files)
        self._workers[worker.number] = worker
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        return worker

    def _hear(self, worker: Handle) -> list[Event]:
        if not worker.listening:  # the supervisor reported its end in the same moment
            return []
        message = receive(worker.channel)
        if not message:  # it is gone, and the supervisor will say how
            self._ignore(worker)
            return []
        return self._take_in(worker, message)

    def _take_in(self, worker: Handle, message: bytes) -> list[Event]:
        """What a worker said, turned into events."""
        job = worker.job
        if job is None or worker.ended:
            return []
        match pickle.loads(message):
            case ("finished", values, seconds):
                self._set_free(worker)
                return [Values(job.number, values, seconds), Finished(job.number)]
            case ("values", values, seconds):
                return [Values(job.number, values, seconds)]
            case ("began",):
                worker.ready = True
                return [Began(job.number)]
            case ("ran", seconds):
                return self._ran(worker, job, seconds)
            case ("failed", values, seconds, (kind, what, detail)):
                failed = Failed(job.number, Failure(kind, what, detail or worker.log_tail()))
                self._set_free(worker)
                return [Values(job.number, values, seconds), failed] if values else [failed]
        raise AssertionError("a worker says nothing else")

    def _ran(self, worker: Handle, job: Job, seconds: float) -> list[Event]:
        """Read the value of a command that has ended well."""
        assert worker.output is not None
        assert isinstance(self._workload.evaluate, Command)
        run = job.runs[0]
        file = self._workload.invocation(run.arm, run.first, job.cores).file
        value = wire.read(self._workload.evaluate.value, file, worker.output, seconds)
        self._set_free(worker)
        if isinstance(value, Failure):
            return [Failed(job.number, Failure(value.kind, value.message, worker.log_tail()))]
        return [Values(job.number, [value], [seconds]), Finished(job.number)]

    def _set_free(self, worker: Handle) -> None:
        self._release(worker)
        self._idle.append(worker)

    def _release(self, worker: Handle) -> Job | None:
        """Note that a worker has no job any more; return the one it had."""
        job, worker.job = worker.job, None
        if job is not None:
            del self._by_job[job.number]
            self._processors.release(worker.processors)
        return job

    def _hear_supervisor(self) -> list[Event]:
        ended = self._supervision.hear()
        if ended is None:
            return self._replace_supervisor()
        worker = self._workers.pop(ended.worker, None)
        return [] if worker is None else self._bury(worker, ended.status)

    def _replace_supervisor(self) -> list[Event]:
        """Replace a supervisor that was killed: all that it had started is ended, jobs are lost."""
        self._selector.unregister(self._supervision.control)
        self._supervision.replace()
        self._selector.register(self._supervision.control, selectors.EVENT_READ, None)
        events: list[Event] = []
        for worker in self._workers.values():
            worker.ended = True  # its pull is not to blame
            events += self._bury(worker, 0)
        self._workers.clear()
        return events

    def _bury(self, worker: Handle, status: int) -> list[Event]:
        """Handle the end of a worker: ended by us, or dead with its pull."""
        events: list[Event] = []
        worker.channel.setblocking(False)
        while message := receive(worker.channel):  # what it sent before its end counts
            events += self._take_in(worker, message)
        if worker in self._idle:
            self._idle.remove(worker)
        job = self._release(worker)
        if job is not None and worker.ended:
            events.append(Lost(job.number))
        elif job is not None:
            how = f"signal {-status}" if status < 0 else f"status {status}"
            what = f"the worker process ended with {how}"
            events.append(Failed(job.number, Failure("died", what, worker.log_tail())))
        self._ignore(worker)
        worker.close()
        return events

    def _ignore(self, worker: Handle) -> None:
        if worker.listening:
            self._selector.unregister(worker.channel)
            worker.listening = False


def _file_with(content: bytes) -> BinaryIO:
    """A file without a name, with this content."""
    file: BinaryIO = tempfile.TemporaryFile("wb+")  # noqa: SIM115 - closed with the workers
    file.write(content)
    file.flush()
    return file
