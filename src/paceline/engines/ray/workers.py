"""The workers of one race on a Ray cluster: what its own process knows of its jobs."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paceline.engines.events import Began, Event, Failed, Failure, Loading, Lost, Resized
from paceline.engines.jobs import Job
from paceline.engines.local.process.messages import decode
from paceline.engines.ray import host
from paceline.engines.ray.roster import Roster, refusing, usable
from paceline.engines.ray.tasks import Tasks
from paceline.engines.working import Answer

_LOOK_SECONDS = 1.0  # how often to look which nodes there are
_MOST_LOOKED_AT = 16  # nodes that are asked at a time whether they are still there
_BEGIN_SECONDS = 0.3  # a job that has not begun by then is said to be loading
_PATIENCE_SECONDS = 5.0  # that a job gets to end, before its Ray worker is killed
_SETTLING_SECONDS = 2.5  # in which the keepers end what a killed Ray worker has left
_UNSURE_SECONDS = 0.5  # the same, if a job may have been interrupted as it began
_CLOSING_SECONDS = 2.0
_LONGEST_WHY = 500


@dataclass(eq=False)
class _Running:
    """A job that Ray has: what it gives, on which node, and how far it is."""

    job: Job
    stream: Any
    began: bool = False
    loading: bool = False  # whether that was reported
    kill_at: float = math.inf  # if it was told to end: when that takes too long
    settling: float = 0.0  # seconds from when Ray calls it over until all of it is gone

    @property
    def number(self) -> int:
        return self.job.number

    @property
    def place(self) -> int:
        return self.job.node

    @property
    def is_ending(self) -> bool:
        return self.kill_at < math.inf or self.settling > 0


class RayWorkers:
    """Runs jobs as Ray tasks, each on the node that it is meant for."""

    def __init__(self, tasks: Tasks, roster: Roster, on_close: Callable[[], None]) -> None:
        self._tasks = tasks
        self._roster = roster
        self._jobs: dict[int, _Running] = {}
        self._ending: dict[int, _Running] = {}
        self._streams: dict[Any, _Running] = {}
        self._beginning: deque[tuple[float, _Running]] = deque()  # when to say that it loads
        self._settling: deque[tuple[float, int]] = deque()  # jobs whose Ray worker was killed
        self._unsaid: list[Event] = []
        self._next_look = 0.0
        self._looked_at = 0  # how many nodes so far
        self._on_close = on_close

    def start(self, job: Job) -> None:
        """Have Ray run a job on its node; it waits if another race has the cores."""
        if self._roster.is_gone(job.node):
            self._unsaid.append(Lost(job.number, self._gone(job.node)))
            return
        one = _Running(job, self._tasks.send(job, self._roster.nodes[job.node]))
        self._jobs[job.number] = self._streams[one.stream] = one
        self._beginning.append((time.monotonic() + _BEGIN_SECONDS, one))

    def end(self, job: int) -> None:
        """Have the pulls of a job ended; if that takes long, its Ray worker is killed, too."""
        one = self._jobs.get(job)
        if one is not None and not one.is_ending:
            one.kill_at = time.monotonic() + _PATIENCE_SECONDS
            one.settling = 0.0 if one.began else _UNSURE_SECONDS
            self._ending[job] = one
            self._tasks.cancel(one.stream, force=False)

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        events, self._unsaid = self._unsaid, []
        until = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            now = time.monotonic()
            pause = 0.0 if events else max(0.0, min(until, self._next_moment()) - now)
            for one in self._ready(pause):
                events += self._hear(one)
            events += self._look() + self._check_late()
            if events or time.monotonic() >= until:
                return events

    def close(self) -> None:
        """End everything. What takes long to end goes on after this."""
        until = time.monotonic() + _CLOSING_SECONDS
        for job in list(self._jobs):
            self.end(job)
        while self._jobs and (left := until - time.monotonic()) > 0:
            self.wait(left)
        for one in self._jobs.values():
            self._tasks.cancel(one.stream, force=True)
        gone = self._roster.gone
        here = [node for node in self._roster.nodes if node.name not in gone]
        self._tasks.sweep(here, _CLOSING_SECONDS)
        self._jobs.clear()
        self._streams.clear()
        self._on_close()

    def _ready(self, seconds: float) -> list[_Running]:
        """The jobs that have something to say; waits for the first, at most that long."""
        if not self._streams:
            time.sleep(seconds)
            return []
        ready = self._tasks.ready(list(self._streams), seconds)
        return [self._streams[stream] for stream in ready]

    # What happens.

    def _hear(self, one: _Running) -> list[Event]:
        """What a job has to say: that it has begun, how it went, or that it is no more."""
        if one.number not in self._jobs:  # lost with its node, a moment ago
            return []
        try:
            said = self._tasks.next(one.stream, self._roster.nodes[one.place])
        except StopIteration:
            return self._over(one, Lost(one.number, "Ray ended its task"))
        except self._tasks.errors.RayError as error:
            return self._fault(one, error)
        if isinstance(said, bytes):
            heard = decode(said)
            said = Answer(heard.values, heard.seconds, None, heard.printed)
        if isinstance(said, Answer):
            one.settling = 0.0
            return self._over(one, *said.events(one.number))
        if said == host.NEEDS_PARCEL:
            return self._send_again(one)
        one.began = True
        return [Began(one.number)] if one.loading else []

    def _send_again(self, one: _Running) -> list[Event]:
        """A job came to a Ray worker that has nothing of the race: send it with all it needs."""
        if one.is_ending:
            return self._over(one)
        del self._streams[one.stream]
        one.stream = self._tasks.send(one.job, self._roster.nodes[one.place], complete=True)
        self._streams[one.stream] = one
        return []

    def _over(self, one: _Running, *events: Event) -> list[Event]:
        """A job is over; of one that was told to end, nothing else is reported."""
        del self._jobs[one.number]
        self._ending.pop(one.number, None)
        del self._streams[one.stream]
        if one.settling:
            self._settling.append((time.monotonic() + one.settling, one.number))
            return []
        if one.is_ending:
            last = events[-1] if events else None
            printed = last.failure.printed if isinstance(last, Failed) else ""
            return [Lost(one.number, printed=printed)]
        begins = one.loading and not one.began and not isinstance(events[0], Lost | Failed)
        return [Began(one.number), *events] if begins else list(events)

    def _fault(self, one: _Running, error: Exception) -> list[Event]:
        """Ray failed to run a job: no pull can have done that, for pulls have their own process."""
        kinds = self._tasks.errors
        if self._roster.is_gone(one.place):
            return self._over(one, Lost(one.number, self._gone(one.place)))
        if one.is_ending:
            return self._over(one)
        if isinstance(error, kinds.OutOfMemoryError):
            failure = Failure("killed", "was ended by Ray: its node ran out of memory", str(error))
            return self._over(one, Failed(one.number, failure))
        is_task = isinstance(error, kinds.RayTaskError | kinds.TaskCancelledError)
        if not is_task and refusing([self._roster.nodes[one.place]]):
            return self._resized(self._roster.lose(one.place))
        lines = str(error).strip().splitlines() or [type(error).__name__]
        why = (lines[-1] if is_task else lines[0])[:_LONGEST_WHY]
        return self._over(one, Lost(one.number, f"its Ray task failed: {why}"))

    def _look(self) -> list[Event]:
        """See which nodes there are, about once a second."""
        if time.monotonic() < self._next_look:
            return []
        self._next_look = time.monotonic() + _LOOK_SECONDS
        changes = [self._roster.update(usable(self._tasks.nodes()))]
        busy = sorted({one.place for one in self._jobs.values()} - self._roster.gone_places())
        some = busy[self._looked_at % len(busy) :][:_MOST_LOOKED_AT] if busy else []
        self._looked_at += len(some)
        gone = refusing([self._roster.nodes[place] for place in some])
        changes += [self._roster.lose(self._roster.nodes.index(node)) for node in gone]
        why = ", ".join(filter(None, changes))
        return self._resized(why) if why else []

    def _resized(self, why: str) -> list[Event]:
        """The pool has changed: jobs of nodes that are gone are lost."""
        events: list[Event] = []
        for one in list(self._jobs.values()):
            if self._roster.is_gone(one.place):
                one.settling = 0.0  # there is nothing left that could settle
                events += self._over(one, Lost(one.number, self._gone(one.place)))
        sizes = self._roster.sizes(self._tasks.workload.unit)
        return [*events, Resized(sizes, why, self._roster.memory())]

    def _gone(self, place: int) -> str:
        return f"its node is gone ({self._roster.nodes[place].host})"

    def _check_late(self) -> list[Event]:
        """What to do about jobs that take long to begin, or to end."""
        now = time.monotonic()
        events: list[Event] = []
        while self._beginning and self._beginning[0][0] <= now:
            _, one = self._beginning.popleft()
            if not one.began and one.number in self._jobs:
                one.loading = True
                events.append(Loading(one.number))
        while self._settling and self._settling[0][0] <= now:
            events.append(Lost(self._settling.popleft()[1]))
        for one in self._ending.values():
            if one.kill_at <= now:
                one.kill_at, one.settling = math.inf, _SETTLING_SECONDS
                self._tasks.cancel(one.stream, force=True)
        return events

    def _next_moment(self) -> float:
        """When to look at something even if nothing is heard."""
        while self._beginning and self._beginning[0][1].number not in self._jobs:
            self._beginning.popleft()  # it is over; to wake up for it cost a quarter of the rate
        moments = [self._next_look, *(one.kill_at for one in self._ending.values())]
        moments += [queue[0][0] for queue in (self._beginning, self._settling) if queue]
        return min(moments)
