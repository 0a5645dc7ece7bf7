"""Any `concurrent.futures.Executor` as an engine: thread and process pools, loky, MPI, Parsl, …"""

import concurrent.futures
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, ClassVar

from paceline.core.arrays import whole
from paceline.engines.base import Abilities
from paceline.engines.events import Event, Failed, Failure, Lost
from paceline.engines.jobs import Job
from paceline.engines.sending import Parcel, do, serve
from paceline.engines.working import Answer
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, RaceFailed, seen
from paceline.machine import AvailableCores

_LARGEST_GROUP = 128  # pulls: sending more at once saves nothing that can be measured
# Of work in a job of short pulls: local pools take about half a millisecond a task, others more.
_LOCAL_GROUP_SECONDS, _GROUP_SECONDS = 0.01, 0.1
_BREAKING_SECONDS = 1.0  # from the first future that says so until all do
_MOST_NAMED = 4
_PROCESSES_PER_CORE = 4  # if more ask for the workload, each call has a process of its own
_DEAF_SECONDS = 0.5  # Windows hears a Ctrl-C only between two waits

Ask = Callable[..., "Future[Any]"]


class ExecutorEngine:
    """Runs pulls on an executor of yours, which it never shuts down.

    >>> import paceline
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(4) as executor:
    ...     result = paceline.race(lambda arm: arm, [1.0, 3.0], max_pulls=8, engine=executor)
    >>> result.best, result.cores
    (3.0, 4)

    `cores` is how many cores the pool has: by default `cores_per_pull`, which is 1, for each worker
    of the executor. Every pull has `cores_per_pull`, unless `ask` says how to ask for more: it is
    called with the executor, a function, its arguments, and `cores`, and returns a future. `group`
    is the most pulls of a function that are sent at once.
    """

    name: ClassVar[str] = "executor"

    def __init__(
        self,
        executor: Executor,
        cores: int | None = None,
        cores_per_pull: int | None = None,
        ask: Ask | None = None,
        group: int = _LARGEST_GROUP,
    ) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise InvalidInput(f"{seen(executor)} is no executor: it has no method `submit`")
        if ask is not None and not callable(ask):
            raise InvalidInput(
                f"ask must be a function (executor, function, *args, cores), got {seen(ask)}"
            )
        self._executor = executor
        self._ask = ask
        if cores_per_pull is None and ask is None:
            cores_per_pull = 1
        self._per_pull = None
        if cores_per_pull is not None:
            self._per_pull = whole(cores_per_pull, "cores_per_pull")
        if cores is None:
            workers = size_of(executor)
            if workers is None:
                raise InvalidInput(
                    f"how many pulls a {type(executor).__name__} runs at once cannot be told: "
                    "write engine=ExecutorEngine(executor, cores=8), from "
                    "paceline.engines.executor"
                )
            cores = workers * (self._per_pull or 1)
        self._cores = whole(cores, "cores")
        if self._per_pull is not None and self._per_pull > self._cores:
            raise InvalidInput(
                f"cores_per_pull={self._per_pull}, but the pool has {self._cores}: raise cores"
            )
        self.in_threads = runs_in_threads(executor)
        local = hasattr(executor, "_max_workers")  # of the standard library, and loky's
        self._hears = _has_processes_of_its_own(executor)
        self.abilities = Abilities(
            kill=False,
            pin=False,
            commands=True,
            group=whole(group, "group"),
            survives_driver=not self.in_threads,
            group_seconds=_LOCAL_GROUP_SECONDS if local else _GROUP_SECONDS,
            replaces=False,
            prints=self._hears,
        )

    def available(self) -> AvailableCores:
        """As many as its workers have; a pull has a fixed number, unless it can ask for more."""
        return AvailableCores(
            self._cores,
            f"a {type(self._executor).__name__}",
            (),
            nodes=(self._cores,),  # no more can be given out: they would wait in its queue
            per_pull=self._per_pull,
        )

    def open(self, workload: Workload, cores: int) -> "ExecutorWorkers":
        """Send the jobs of a race to the executor."""
        parcel = None if self.in_threads else Parcel.of(workload)
        mine = self._executor, self._ask, workload, parcel, cores
        return ExecutorWorkers(*mine, hears=self._hears)

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()


def size_of(executor: Any) -> int | None:
    """How many calls an executor runs at once; None if it does not tell.

    >>> with ThreadPoolExecutor(3) as executor:
    ...     size_of(executor)
    3
    """
    for name in ("_max_workers", "max_workers", "num_workers"):  # of the standard library; MPI
        size = getattr(executor, name, None)
        if isinstance(size, int) and size > 0:
            return size
    client: Any = getattr(executor, "_client", None)  # Dask's
    return sum(client.nthreads().values()) or None if hasattr(client, "nthreads") else None


def runs_in_threads(executor: Executor) -> bool:
    """Whether calls run in this very process and interpreter, so that nothing has to be sent."""
    elsewhere = getattr(concurrent.futures, "InterpreterPoolExecutor", ())
    return isinstance(executor, ThreadPoolExecutor) and not isinstance(executor, elsewhere)


def _has_processes_of_its_own(executor: Executor) -> bool:
    """Whether it is known that each call has a process in which nothing else is written."""
    is_loky = type(executor).__module__.startswith("loky.")
    return isinstance(executor, concurrent.futures.ProcessPoolExecutor) or is_loky


class ExecutorWorkers:
    """Sends jobs to an executor; what becomes of their futures is told by `wait`.

    It cannot end a pull: when it is closed, those under way go on in the executor's workers.
    """

    def __init__(
        self,
        executor: Executor,
        ask: Ask | None,
        workload: Workload,
        parcel: Parcel | None,
        cores: int,
        *,
        hears: bool = False,
    ) -> None:
        self._executor = executor
        self._hears = hears  # what pulls print
        self._ask = ask
        self._workload = workload
        self._parcel = parcel  # None: calls run in this process
        self._cores = self._first = cores  # the first jobs bring the workload along
        self._asked = 0  # how often a process had to ask for it
        self._jobs: dict[int, Job] = {}
        self._futures: dict[int, Future[Any]] = {}
        self._answers: SimpleQueue[tuple[int, Future[Any]]] = SimpleQueue()
        self._events: list[Event] = []  # to be told at once
        self._is_over = False  # whether the executor can do no more
        self._end: RaceFailed | None = None  # which says so: due when what was lost is told
        self._due: RaceFailed | None = None

    def start(self, job: Job) -> None:
        """Submit a job."""
        self._jobs[job.number] = job
        self._submit(job)

    def _submit(self, job: Job, *, asked: bool = False) -> None:
        function: Callable[..., Any] = do
        arguments: tuple[Any, ...] = (self._workload, job.runs, job.cores)
        if self._parcel is not None:
            self._first -= 1
            brings = asked or self._first >= 0 or self._asked > _PROCESSES_PER_CORE * self._cores
            content = self._parcel.content if brings else None
            function = serve
            runs = [tuple(run) for run in job.runs]
            arguments = (self._parcel.token, content, job.number, runs, job.cores, self._hears)
        try:
            if self._ask is None:
                future = self._executor.submit(function, *arguments)
            else:
                future = self._ask(self._executor, function, *arguments, cores=job.cores)
            self._futures[job.number] = future
            future.add_done_callback(lambda done: self._answers.put((job.number, done)))
        except Exception as error:
            self._refuse(job, error)

    def _refuse(self, job: Job, error: Exception) -> None:
        """The executor takes no more work: it was shut down, is broken, or was asked wrongly."""
        what = f"the executor takes no work ({type(error).__name__}: {error})"
        self._forget(job.number)
        self._events.append(Lost(job.number, what))
        if isinstance(error, BrokenExecutor):
            self._events += self._broke([], error)
        self._stop(what)

    def end(self, job: int) -> None:
        """No executor can: this is never called, because of `kill=False`."""
        raise NotImplementedError

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait for futures; raises `RaceFailed` if the executor can do no more."""
        if self._due is not None:
            error, self._due = self._due, None  # once: what is lost meanwhile is still told
            raise error
        if not self._events:
            self._hear(seconds)
        while not self._answers.empty():
            self._hear(0.0)
        events, self._events = self._events, []
        self._due, self._end = self._end, None
        return events

    def _hear(self, seconds: float | None) -> None:
        """Wait for one future, and note what became of it."""
        try:
            if seconds is None and os.name == "nt":
                seconds = _DEAF_SECONDS
            number, future = self._answers.get(timeout=seconds) if seconds != 0.0 else self._next()
        except Empty:
            return
        if self._futures.get(number) is future:  # else the job was given up meanwhile
            self._events += self._told(self._forget(number), future)

    def _next(self) -> "tuple[int, Future[Any]]":
        return self._answers.get_nowait()

    def _forget(self, number: int) -> Job:
        self._futures.pop(number, None)
        return self._jobs.pop(number)

    def _told(self, job: Job, future: "Future[Any]") -> list[Event]:
        if future.cancelled():
            return [Lost(job.number, "its future was cancelled")]
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            return [*self._broke([job], error)]
        if error is not None:
            # Calls raise nothing: what did was the executor, whose worker may have been killed.
            what = f"the executor gave no answer ({type(error).__name__}: {error})"
            return [Failed(job.number, Failure("killed", what))]
        answer = future.result()
        if answer is None and self._parcel is not None:  # in a process that has no workload yet
            self._asked += 1
            self._jobs[job.number] = job
            self._submit(job, asked=True)
            return []
        try:
            return Answer(*answer).events(job.number)
        except (TypeError, AttributeError):
            what = f"the executor gave a {type(answer).__name__} that is no answer"
            return [Failed(job.number, Failure("killed", what))]

    def _broke(self, lost: list[Job], error: BaseException) -> Iterator[Event]:
        """A worker died, and the executor with it: every job under way may be to blame."""
        concurrent.futures.wait(self._futures.values(), timeout=_BREAKING_SECONDS)
        for number, future in [*self._futures.items()]:
            job = self._forget(number)
            if future.done() and not future.cancelled() and future.exception() is None:
                yield from self._told(job, future)
            else:
                _cancel(future)
                lost.append(job)
        text = " ".join(str(error).split()) or type(error).__name__
        for job in lost:
            yield Failed(job.number, Failure("killed", f"the executor broke: {text}"))
        named = [f"pull {job.runs[0].first} of arm {job.runs[0].arm}" for job in lost]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        under_way = ", ".join(named[:_MOST_NAMED]) + more
        if lost:
            self._stop(f"the executor broke, with {under_way} under way: {text.rstrip('.')}")

    def _stop(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._end = RaceFailed(f"{why}. To go on, make a new executor and race again with it")

    def close(self) -> None:
        """Cancel what has not begun. What has goes on: nothing waits for it, nothing ends it."""
        # A cancelled future ends the thread of executorlib (1.11) that hands out calls: all later
        # ones would hang.
        if not type(self._executor).__module__.startswith("executorlib"):
            for future in [*self._futures.values()]:
                _cancel(future)
        self._futures.clear()
        self._jobs.clear()


def _cancel(future: "Future[Any]") -> None:
    with contextlib.suppress(Exception):  # Parsl's raises NotImplementedError
        future.cancel()
