"""Looks after the steps of one race: what they say, how they end, and the nodes they run on."""

import contextlib
import math
import os
import selectors
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from paceline.engines.events import Event, Loading, Lost
from paceline.engines.jobs import Job
from paceline.engines.local.descriptors import scratch
from paceline.engines.slurm.allocation import Allocation, parse_nodes, program, question
from paceline.engines.slurm.ending import Ending
from paceline.engines.slurm.guarding import Guard
from paceline.engines.slurm.nodes import Nodes
from paceline.engines.slurm.step import Step
from paceline.engines.workload import Workload

_LOOK_SECONDS = 15.0  # between two looks at the nodes of the job
_RETRY_SECONDS = 2.0  # after the controller did not answer
_STARTING_SECONDS = 15.0  # after which a step is tried anew, and twice as long after that
_ENDING_SECONDS = 1.0  # after which a step is told again to end: while srun starts, it may not hear
_CLOSING_SECONDS = 30.0  # that steps may take to end

Handler = Callable[[], list[Event]]


class StepWorkers(ABC):
    """Runs the jobs of one race as steps, or in steps. Subclasses say what a step does."""

    def __init__(self, allocation: Allocation, workload: Workload, *, spans: bool = False) -> None:
        self.job = allocation.job
        self.nodes = Nodes(allocation.nodes)
        self.workload = workload
        self.selector = selectors.DefaultSelector()
        self.steps: dict[int, Step] = {}  # by the job that they do
        self._all: set[Step] = set()
        self._unsaid: list[Event] = []  # what the next wait reports first
        self._later: dict[int, tuple[float, Job]] = {}  # to be started at a moment
        self._due: dict[Step, float] = {}  # when those that start or end have taken too long
        self._tries: dict[int, int] = {}  # how often jobs were to be started again
        self._spans = spans
        self._guard = Guard()
        self._look: tuple[subprocess.Popen[bytes], BinaryIO, int] | None = None
        self._next_look = time.monotonic() + _LOOK_SECONDS

    def __enter__(self) -> "StepWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, job: Job) -> None:
        """Begin a job: its step has to be created first, so it is `Loading`."""
        self._unsaid += self.begin(job)

    @abstractmethod
    def begin(self, job: Job) -> list[Event]:
        """Give the job to a step."""

    @abstractmethod
    def over(self, step: Step, ending: Ending) -> list[Event]:
        """Say what the end of a step means, now that all that it said has been heard."""

    @abstractmethod
    def hear(self, step: Step, new: bytes) -> list[Event]:
        """Handle what is new on the stderr of a step."""

    def drain(self, step: Step) -> list[Event]:
        """Hear the last of a step that has ended."""
        return self.hear(step, step.read_errors())

    def end(self, job: int) -> None:
        """End a job with its step; srun exits when that is gone."""
        if job in self._later:
            del self._later[job]
            self._unsaid.append(Lost(job))
        elif (step := self.steps.get(job)) is not None and not step.ended:
            step.ended = True
            self.dismiss(step)

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        events, self._unsaid = self._unsaid, []
        until = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            events += self._on_time(time.monotonic())
            events += self._listen(-math.inf if events else until)
            if events or time.monotonic() >= until:
                events += self._unsaid
                self._unsaid = []
                return events

    def _listen(self, until: float) -> list[Event]:
        """Wait for something to be heard, once, at most until that moment."""
        moment = min(until, self._next_moment())
        seconds = None if moment == math.inf else max(0.0, moment - time.monotonic())
        events: list[Event] = []
        for key, _ in self.selector.select(seconds):
            # A handler before it may have closed this one's file.
            if key.fd in self.selector.get_map():
                handle: Handler = key.data
                events += handle()
        return events

    def close(self) -> None:
        """End all steps, and wait until they are gone.

        Ctrl-C may have come in the midst of anything here. So nothing is relied on but the steps.
        """
        steps = list(self._all)
        began, told = time.monotonic(), -math.inf
        while running := [step for step in steps if step.process.poll() is None]:
            now = time.monotonic()
            if now - told > _ENDING_SECONDS:
                told = now
                for step in running:
                    step.end()
            for step in running:
                if now - began > _CLOSING_SECONDS:  # it waits for a node that does not answer
                    step.process.kill()
                step.drain()
            time.sleep(0.005)
        for step in steps:
            self._guard.ended(step.process.pid)
            with contextlib.suppress(OSError):
                step.close()
        if self._look is not None:
            process, output, file = self._look
            process.kill()
            process.wait()
            output.close()
            os.close(file)
        self._guard.close()
        self.selector.close()

    def add(self, step: Step) -> None:
        """Listen to a new step."""
        self._guard.started(step.process.pid)
        self._all.add(step)
        tries = 0 if step.job is None else self._tries.get(step.job.number, 0)
        self._due[step] = time.monotonic() + _STARTING_SECONDS * 2.0**tries
        listen = selectors.EVENT_READ
        self.selector.register(step.errors, listen, partial(self._hear_errors, step))
        self.selector.register(step.exit, listen, partial(self._bury, step))

    def dismiss(self, step: Step) -> None:
        """Have a step end."""
        step.end()
        self._due[step] = time.monotonic() + _ENDING_SECONDS

    def started(self, step: Step) -> None:
        """Note that a step has begun its work."""
        if not step.ended and not step.overdue:
            self._due.pop(step, None)
        self.nodes.trust(step.place)
        if step.job is not None:
            self._tries.pop(step.job.number, None)

    def again(self, job: Job) -> list[Event]:
        """Start a job a little later: the controller did not answer, and may soon be back."""
        self._tries[job.number] = self._tries.get(job.number, 0) + 1
        self._later[job.number] = (time.monotonic() + _RETRY_SECONDS, job)
        return []

    def suspect(self, step: Step, why: str) -> list[Event]:
        """No step could be started on its node: use others for a while, and look at the job."""
        self._next_look = time.monotonic()
        if self._spans:  # which of its nodes it was is not known
            return []
        news = self.nodes.suspect(step.place, time.monotonic(), why)
        return self._resized([news] if news else [])

    def look_soon(self) -> None:
        """Look at the nodes of the job at once: something is wrong with one."""
        self._next_look = time.monotonic()

    def _hear_errors(self, step: Step) -> list[Event]:
        new = step.read_errors()
        if not new:  # it is closed: its end follows
            self.selector.unregister(step.errors)
        return self.hear(step, new)

    def _bury(self, step: Step) -> list[Event]:
        events = self.drain(step)
        for stream in (step.process.stdin, step.process.stdout, step.process.stderr, step.exit):
            with contextlib.suppress(KeyError, ValueError):
                if stream is not None:
                    self.selector.unregister(stream)
        self._guard.ended(step.process.pid)
        self._all.discard(step)
        self._due.pop(step, None)
        events += self.over(step, Ending(step.close(), step.text()))
        return events

    def _next_moment(self) -> float:
        moments = [*(moment for moment, _ in self._later.values()), *self._due.values()]
        look = math.inf if self._look is not None else self._next_look
        return min([*moments, look, self.nodes.next_moment])

    def _on_time(self, now: float) -> list[Event]:
        """Do what is due."""
        # An srun that waits for cores may miss that they are free, and sleep for minutes.
        for step in [step for step, until in self._due.items() if until <= now]:
            step.overdue = True
            self.dismiss(step)
        due = [job for moment, job in self._later.values() if moment <= now]
        events: list[Event] = []
        for job in due:
            del self._later[job.number]
            # That it is loading was said when it was tried first.
            events += [event for event in self.begin(job) if not isinstance(event, Loading)]
        events += self._resized(self.nodes.revive(now))
        if now >= self._next_look and self._look is None:
            self._start_look()
        return events

    def _start_look(self) -> None:
        """Ask for the nodes of the job; the controller may take long to answer."""
        output = scratch()
        words = question(self.job)
        process = subprocess.Popen(
            [program(words[0]), *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        file = os.pidfd_open(process.pid)
        self._look = process, output, file
        self.selector.register(file, selectors.EVENT_READ, self._end_look)

    def _end_look(self) -> list[Event]:
        assert self._look is not None
        process, output, file = self._look
        self._look, self._next_look = None, time.monotonic() + _LOOK_SECONDS
        self.selector.unregister(file)
        os.close(file)
        with output:
            size = os.fstat(output.fileno()).st_size
            text = os.pread(output.fileno(), size, 0).decode(errors="replace")
        if process.wait() or "JobState=RUNNING" not in text:
            return []
        present = parse_nodes(text)
        return self._resized(self.nodes.update(present)) if present else []

    def _resized(self, news: list[str]) -> list[Event]:
        """Report news of nodes, and end what was on those that are gone."""
        if not news:
            return []
        for step in self._all:
            if step.place in self.nodes.gone and not self._spans and not step.lost:
                name = self.nodes.all[step.place].name
                step.lost = f"its node {name} is gone from the job"
                step.process.kill()
        return [self.nodes.resized("; ".join(news), self.workload.unit, spans=self._spans)]
