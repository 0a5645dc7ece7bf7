"""The workers of one race on a Ray cluster: what its own process knows of its jobs."""

import contextlib
import math
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paceline.engines.events import Began, Event, Failed, Failure, Loading, Lost, Resized
from paceline.engines.jobs import Job
from paceline.engines.local import wire
from paceline.engines.local.packing import dumps
from paceline.engines.ray import host
from paceline.engines.ray.roster import Roster, refusing, usable
from paceline.engines.working import Answer
from paceline.engines.workload import Workload

_LOOK_SECONDS = 1.0  # how often to look which nodes there are
_MOST_LOOKED_AT = 16  # nodes that are asked at a time whether they are still there
_BEGIN_SECONDS = 0.1  # a job that has not begun by then is said to be loading
_PATIENCE_SECONDS = 5.0  # that a job gets to end, before its Ray worker is killed
_SETTLING_SECONDS = 2.5  # in which the keepers end what a killed Ray worker has left
_CLOSING_SECONDS = 2.0
_LONGEST_WHY = 500


@dataclass(eq=False)
class _Running:
    """A job that Ray has: what it gives, on which node, and how far it is."""

    number: int
    place: int
    stream: Any
    began: bool = False
    loading: bool = False  # whether that was reported
    kill_at: float = math.inf  # if it was told to end: when that takes too long
    killed: bool = False

    @property
    def is_ending(self) -> bool:
        return self.kill_at < math.inf or self.killed


class RayWorkers:
    """Runs jobs as Ray tasks, each on the node that it is meant for."""

    def __init__(
        self, ray: Any, roster: Roster, workload: Workload, on_close: Callable[[], None]
    ) -> None:
        wire.check(workload)
        if not workload.is_command:
            workload = host.stand_in(workload, wire.pack(workload))
        self._ray = ray
        self._roster = roster
        self._workload = workload
        self._race = uuid.uuid4().hex
        self._parcel = [ray.put(dumps(workload))]  # sent once, and loaded once by each Ray worker
        self._tasks: dict[tuple[int, int], Any] = {}  # by place and cores
        self._jobs: dict[int, _Running] = {}
        self._streams: dict[Any, _Running] = {}
        self._beginning: deque[tuple[float, _Running]] = deque()  # when to say that it loads
        self._settling: deque[tuple[float, int]] = deque()  # jobs whose Ray worker was killed
        self._unsaid: list[Event] = []
        self._next_look = 0.0
        self._looks = 0
        self._used: set[int] = set()  # places
        self._on_close = on_close

    def start(self, job: Job) -> None:
        """Have Ray run a job on its node; it waits if another race has the cores."""
        if self._roster.is_gone(job.node):
            self._unsaid.append(Lost(job.number, self._gone(job.node)))
            return
        task = self._tasks.get((job.node, job.cores))
        if task is None:
            task = self._tasks[job.node, job.cores] = self._task(job.node, job.cores)
        one = _Running(job.number, job.node, task.remote(self._parcel, self._race, job))
        self._jobs[job.number] = self._streams[one.stream] = one
        self._beginning.append((time.monotonic() + _BEGIN_SECONDS, one))
        self._used.add(job.node)

    def end(self, job: int) -> None:
        """Have the pulls of a job ended; if that takes long, its Ray worker is killed, too."""
        one = self._jobs.get(job)
        if one is not None and not one.is_ending:
            one.kill_at = time.monotonic() + _PATIENCE_SECONDS
            self._cancel(one, force=False)

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        events, self._unsaid = self._unsaid, []
        until = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            for one in self._ready(0.0):
                events += self._hear(one)
            events += self._look() + self._check_late()
            left = until - time.monotonic()
            if events or left <= 0:
                return events
            pause = min(left, self._next_moment() - time.monotonic())
            if pause > 0 and self._streams:
                self._ready(pause)
            elif pause > 0:
                time.sleep(pause)

    def close(self) -> None:
        """End everything. What takes long to end goes on after this."""
        until = time.monotonic() + _CLOSING_SECONDS
        for job in list(self._jobs):
            self.end(job)
        while self._jobs and (left := until - time.monotonic()) > 0:
            self.wait(left)
        for one in self._jobs.values():
            self._cancel(one, force=True)
        options = {"num_cpus": 0, "max_retries": 0}
        here = [place for place in self._used if not self._roster.is_gone(place)]
        swept = [
            self._ray.remote(**options, scheduling_strategy=self._on(place))(host.sweep).remote(
                self._race, _CLOSING_SECONDS
            )
            for place in here
        ]
        if swept:
            self._ray.wait(swept, num_returns=len(swept), timeout=_CLOSING_SECONDS)
        self._jobs.clear()
        self._streams.clear()
        self._on_close()

    # Ray's side.

    def _task(self, place: int, cores: int) -> Any:
        """The task that does jobs on that node, asking for that many cores or devices."""
        wants = {"num_cpus": cores}
        if self._workload.unit == "gpus":
            wants = {"num_cpus": 0, "num_gpus": cores}
        if self._workload.memory is not None:
            wants["memory"] = self._workload.memory
        # The race does again what is lost: by Ray, it would be done twice.
        once = {"max_retries": 0, "num_returns": "streaming"}
        task = self._ray.remote(**once)(host.do)
        return task.options(**wants, scheduling_strategy=self._on(place))

    def _on(self, place: int) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(self._roster.nodes[place].name, soft=False)

    def _ready(self, seconds: float) -> list[_Running]:
        """The jobs that have something to say; waits for the first, at most that long."""
        if not self._streams:
            return []
        most = 1 if seconds else len(self._streams)
        ready, _ = self._ray.wait(list(self._streams), num_returns=most, timeout=seconds)
        return [self._streams[stream] for stream in ready]

    def _cancel(self, one: _Running, *, force: bool) -> None:
        with contextlib.suppress(ValueError, self._ray.exceptions.RayError):  # it is over
            self._ray.cancel(one.stream, force=force)

    # What happens.

    def _hear(self, one: _Running) -> list[Event]:
        """What a job has to say: that it has begun, how it went, or that it is no more."""
        if one.number not in self._jobs:  # lost with its node, a moment ago
            return []
        try:
            said: Answer | None = self._ray.get(next(one.stream))
        except StopIteration:
            return self._over(one, Lost(one.number, "Ray ended its task"))
        except self._ray.exceptions.RayError as error:
            return self._fault(one, error)
        if said is not host.BEGAN:
            return self._over(one, *said.events(one.number))
        one.began = True
        return [Began(one.number)] if one.loading else []

    def _over(self, one: _Running, *events: Event) -> list[Event]:
        """A job is over; of one that was told to end, nothing else is reported."""
        del self._jobs[one.number]
        del self._streams[one.stream]
        if one.killed:
            self._settling.append((time.monotonic() + _SETTLING_SECONDS, one.number))
            return []
        if one.is_ending:
            return [Lost(one.number)]
        begins = one.loading and not one.began and not isinstance(events[0], Lost | Failed)
        return [Began(one.number), *events] if begins else list(events)

    def _fault(self, one: _Running, error: Exception) -> list[Event]:
        """Ray failed to run a job: no pull can have done that, for pulls have their own process."""
        kinds = self._ray.exceptions
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
        changes = [self._roster.update(usable(self._ray.nodes()))]
        busy = sorted({one.place for one in self._jobs.values()} - self._roster.gone_places())
        some = busy[self._looks % len(busy) :][:_MOST_LOOKED_AT] if busy else []
        self._looks += len(some)
        for node in refusing([self._roster.nodes[place] for place in some]):
            changes.append(self._roster.lose(self._roster.nodes.index(node)))
        why = ", ".join(filter(None, changes))
        return self._resized(why) if why else []

    def _resized(self, why: str) -> list[Event]:
        """The pool has changed: jobs of nodes that are gone are lost."""
        events: list[Event] = []
        for one in list(self._jobs.values()):
            if self._roster.is_gone(one.place):
                one.killed = False  # there is nothing left that could settle
                events += self._over(one, Lost(one.number, self._gone(one.place)))
        sizes = self._roster.sizes(self._workload.unit)
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
        for one in self._jobs.values():
            if one.kill_at <= now:
                one.kill_at, one.killed = math.inf, True
                self._cancel(one, force=True)
        return events

    def _next_moment(self) -> float:
        """When to look at something even if nothing is heard."""
        moments = [self._next_look, *(one.kill_at for one in self._jobs.values())]
        moments += [queue[0][0] for queue in (self._beginning, self._settling) if queue]
        return min(moments)
