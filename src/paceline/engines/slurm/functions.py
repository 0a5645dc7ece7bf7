"""Functions: evaluated by workers, each of them a step that stays and serves jobs of its width.

To start a step takes 50 ms, and to load a function may take seconds: a worker is reused. It holds
its cores while it is idle, so idle workers are ended when a job of another width needs them.
(Steps that overlap would not: but Slurm could then bind two of them to the same cores.)
"""

import contextlib
import json
import os
import pickle
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from paceline.engines.events import Event, Failed, Failure, Loading, Lost
from paceline.engines.jobs import Job
from paceline.engines.local import process, wire
from paceline.engines.local.answers import Turn, told
from paceline.engines.local.blame import blame
from paceline.engines.local.process.messages import LARGEST_ANSWER, Malformed, decode
from paceline.engines.local.process.printing import TAIL_BYTES
from paceline.engines.local.replacing import Replacing
from paceline.engines.slurm import worker as program_of_worker
from paceline.engines.slurm.allocation import Allocation, program
from paceline.engines.slurm.ending import Ending, without_srun
from paceline.engines.slurm.step import Step, environment_of, read_available, request_of
from paceline.engines.slurm.worker import HELLO, LENGTH
from paceline.engines.slurm.workers import StepWorkers
from paceline.engines.workload import Workload

_PROCESS_FOLDER = str(Path(process.__file__).parent)


@dataclass(eq=False)
class Worker:
    """What the driver holds of a worker: its step, its job, and messages on their way."""

    step: Step
    cores: int
    turn: Turn | None = None
    up: bool = False  # whether its process has started
    ready: bool = False  # whether it has loaded the function
    wrong: str = ""  # what it said that makes no sense; it is ended, and its pull has failed
    served: set[int] = field(default_factory=set)  # the arms whose pulls have run in it
    started: float = field(default_factory=time.monotonic)
    loading_seconds: float = 0.0
    inbox: bytes = b""
    outbox: list[memoryview] = field(default_factory=list)

    def messages(self, new: bytes) -> list[bytes]:
        """The messages that are complete now; raises `Malformed` for one that is far too long."""
        self.inbox += new
        found = []
        while len(self.inbox) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.inbox)
            if length > LARGEST_ANSWER:
                raise Malformed("a message that is far too long")
            end = LENGTH.size + length
            if len(self.inbox) < end:
                break
            found.append(self.inbox[LENGTH.size : end])
            self.inbox = self.inbox[end:]
        return found

    def post(self, message: bytes) -> None:
        """Put a message on the way."""
        self.outbox += [memoryview(LENGTH.pack(len(message))), memoryview(message)]

    def flush(self) -> bool:
        """Write what can be written now; returns whether something is left."""
        assert self.step.process.stdin is not None
        file = self.step.process.stdin.fileno()
        while self.outbox:
            try:
                written = os.write(file, self.outbox[0])
            except BlockingIOError:
                return True
            except OSError:  # it has ended, as will be heard
                self.outbox.clear()
                return False
            self.outbox[0] = self.outbox[0][written:]
            if not self.outbox[0]:
                self.outbox.pop(0)
        return False


class FunctionWorkers(StepWorkers):
    """Evaluates a function in steps that stay."""

    def __init__(self, allocation: Allocation, workload: Workload) -> None:
        self._load = wire.pack(workload)
        super().__init__(allocation, workload)
        self._srun = program("srun")
        self._workers: dict[Step, Worker] = {}
        self._idle: list[Worker] = []  # the most recently used last
        self._replacing = Replacing()

    def begin(self, job: Job) -> list[Event]:
        """Send the job to an idle worker of that width on its node, or to a new one."""
        worker = self._idle_worker(job)
        if worker is None:
            self._make_room(job)
            try:
                worker = self._spawn(job)
            except OSError as error:
                return [Lost(job.number, f"srun could not be started: {error}")]
        worker.turn = Turn(job, began=worker.ready)
        worker.served.update(run.arm for run in job.runs)
        worker.step.said, worker.step.job = b"", job
        self.steps[job.number] = worker.step
        worker.post(pickle.dumps((job.number, [], *wire.order(self.workload, job))))
        self._flush(worker)
        return [] if worker.ready else [Loading(job.number)]

    def hear(self, step: Step, new: bytes) -> list[Event]:
        """Handle what is new on its stderr: it is kept for those who want to know how it died."""
        return []

    def drain(self, step: Step) -> list[Event]:
        """Hear its last answers; what it said before its end counts."""
        step.read_errors()
        return self._hear_answers(self._workers[step])

    def over(self, step: Step, ending: Ending) -> list[Event]:
        """Say what became of its job, if it had one."""
        worker = self._workers.pop(step)
        if worker in self._idle:
            self._idle.remove(worker)
        job = self._release(worker)
        if step.ended or step.lost:
            if job is None:
                return []
            why = "" if step.ended else step.lost
            return [Lost(job.number, why, _log(ending.text))]
        news: list[Event] = []
        if ending.is_by_node:
            news = self.suspect(step, ending.complaint)
        if job is None:
            return news
        if not worker.up and not news and (step.overdue or ending.is_by_controller):
            return self.again(job)
        return [_end_of(job, worker, ending), *news]

    def _idle_worker(self, job: Job) -> Worker | None:
        mine = {run.arm for run in job.runs}
        for worker in reversed(self._idle):
            fits = worker.cores == job.cores and worker.step.place == job.node
            if fits and (not job.fresh or worker.served <= mine):
                self._idle.remove(worker)
                return worker
        return None

    def _make_room(self, job: Job) -> None:
        """End idle workers on the node of a job, the longest unused first, until it has cores."""
        node = self.nodes.all[job.node]
        total = node.gpus if self.workload.unit == "gpus" else node.cores
        here = [worker for worker in self._workers.values() if worker.step.place == job.node]
        free = total - sum(worker.cores for worker in here if not worker.step.ended)
        for worker in list(self._idle):
            if free >= job.cores:
                break
            if worker.step.place == job.node:
                free += worker.cores
                self._dismiss(worker)

    def _dismiss(self, worker: Worker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
        worker.step.ended = True
        self.dismiss(worker.step)

    def _spawn(self, job: Job) -> Worker:
        request = request_of(job, self.job, self.nodes.all[job.node], self.workload)
        words = [self._srun, *request.words("paceline-worker"), "--unbuffered"]
        python = [sys.executable, "-P", program_of_worker.__file__, str(job.cores), _PROCESS_FOLDER]
        environment = environment_of(request.cores, {"PACELINE_CORES": str(job.cores)})
        step = Step.start([*words, *python], environment, job.node, stdin=subprocess.PIPE)
        step.job = job
        worker = self._workers[step] = Worker(step, job.cores)
        assert step.process.stdout is not None
        self.add(step)
        listen = partial(self._hear_answers, worker)
        self.selector.register(step.process.stdout, selectors.EVENT_READ, listen)
        worker.post(json.dumps([os.path.abspath(entry) for entry in sys.path]).encode())
        worker.post(self._load)
        return worker

    def _flush(self, worker: Worker) -> list[Event]:
        """Write what is on the way to a worker, now or when there is room."""
        stdin = worker.step.process.stdin
        assert stdin is not None
        if worker.flush():
            with contextlib.suppress(KeyError):  # it is registered already
                self.selector.register(stdin, selectors.EVENT_WRITE, partial(self._flush, worker))
        elif stdin.fileno() in self.selector.get_map():
            self.selector.unregister(stdin)
        return []

    def _hear_answers(self, worker: Worker) -> list[Event]:
        stdout = worker.step.process.stdout
        assert stdout is not None
        new = read_available(stdout.fileno())
        if not new and stdout.fileno() in self.selector.get_map():
            self.selector.unregister(stdout)  # it is closed: its end follows
        events: list[Event] = []
        try:
            for message in worker.messages(new):
                if worker.step.ended or worker.wrong:
                    break
                if not worker.up:
                    if message != HELLO:
                        raise Malformed("something before its greeting")
                    worker.up = True
                    self.started(worker.step)
                    continue
                events += self._take(worker, message)
        except Malformed as error:
            worker.wrong = f"the worker process was ended because it sent {error}"
            if worker in self._idle:
                self._idle.remove(worker)
            self.dismiss(worker.step)
        return events

    def _take(self, worker: Worker, message: bytes) -> list[Event]:
        """What a worker says of its job, turned into events."""
        answer, turn = decode(message), worker.turn
        if turn is None:
            raise Malformed("an answer to no job")
        turn.take(answer)
        if answer.kind == "began":
            worker.ready = True
            worker.loading_seconds = time.monotonic() - worker.started
        elif answer.kind != "values":
            self._set_free(worker, turn, answer.threads)
        return told(answer)

    def _set_free(self, worker: Worker, turn: Turn, threads: int) -> None:
        """Keep a worker for another job, unless its threads could disturb that."""
        self._replacing.worked += turn.worked
        self._release(worker)
        self._idle.append(worker)
        if threads and self._replacing.is_worth(worker.loading_seconds):
            self._dismiss(worker)

    def _release(self, worker: Worker) -> Job | None:
        turn, worker.turn, worker.step.job = worker.turn, None, None
        if turn is None:
            return None
        del self.steps[turn.job.number]
        return turn.job


def _end_of(job: Job, worker: Worker, ending: Ending) -> Failed | Lost:
    """How a job ends whose worker is gone, though nobody told it to."""
    if worker.wrong:
        return Failed(job.number, Failure("died", worker.wrong, printed=_log(ending.text)))
    if ending.taken:
        return Lost(job.number, ending.taken)
    if not worker.up:
        return Lost(job.number, f"a worker could not be started: {ending.complaint}")
    status = -ending.killer if ending.killer else ending.status
    found = blame(status, began=worker.ready, used=len(worker.served) > 1)
    if isinstance(found, str):
        return Lost(job.number, found)
    return Failed(job.number, replace(found, printed=_log(ending.text)))


def _log(text: str) -> str:
    return without_srun(text)[-TAIL_BYTES:]
