"""The workers of one race on a Dask cluster, as the race sees them."""

import math
import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from paceline.engines.dask.host import Parcel, do_job
from paceline.engines.dask.line import (
    Broken,
    Forgotten,
    Heard,
    Line,
    Message,
    Node,
    NotBegun,
    Opened,
    Refused,
    Seen,
)
from paceline.engines.events import Began, Event, Failed, Finished, Loading, Lost, Resized, Values
from paceline.engines.jobs import Job
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, PacelineError, RaceFailed, RaceWarning

_LATE_SECONDS = 0.5  # a job that has not begun by then waits for something
_CLOSING_SECONDS = 10.0
_LONGEST_WAIT_SECONDS = 3600.0
_UNDONE = ("error", "cancelled", "lost")  # how Dask calls a task that will give no result


@dataclass
class Task:
    """A job that was given to Dask, and what is known of it."""

    node: Node
    future: Any
    started: float = field(default_factory=time.monotonic)
    silent: bool = True  # nothing was heard of it
    late: bool = False  # it was said to be loading because nothing was heard
    why: str = ""  # it is ended, though nobody told it to


class DaskWorkers:
    """Gives jobs to Dask workers as tasks, and hears from their hosts how they go."""

    def __init__(
        self,
        client: Any,
        workload: Workload,
        nodes: list[Node],
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._workload = workload
        self._nodes = nodes
        self._on_close = on_close
        self._by_token = {node.token: node for node in nodes}
        self._coming: set[str] = set()  # addresses of nodes that are being opened, or never will
        self._tasks: dict[int, Task] = {}
        self._spent: deque[Any] = deque()  # the futures of jobs that are over
        self._unsaid: list[Event] = []
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._line = Line(client, Parcel.of(workload), self._messages.put)
        self._open()

    def __enter__(self) -> "DaskWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, job: Job) -> None:
        """Give a job to the Dask worker at its place."""
        node = self._nodes[job.node]
        if node.gone:
            self._unsaid.append(Lost(job.number, _gone(node)))
            return
        has_seeds = self._workload.takes_seed or self._workload.is_command
        seeds = [self._workload.seeds(*run) for run in job.runs] if has_seeds else []
        key = f"paceline-{node.token}-{job.number}"
        try:
            future = self._client.submit(
                do_job,
                *(node.token, key, job, seeds),
                key=key,
                pure=False,  # or two equal calls would be one
                workers=[node.address],
                allow_other_workers=False,
                resources={"cores": job.cores} if node.declared else None,
            )
        except Exception as error:
            raise _broken(error) from error
        self._tasks[job.number] = Task(node, future)

    def end(self, job: int) -> None:
        """End a job with everything it started, wherever it is."""
        task = self._tasks.get(job)
        if task is not None and not task.node.gone:
            self._line.end(task.node, job)

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        events, self._unsaid = self._unsaid, []
        while True:
            while (message := self._next(0.0)) is not None:
                events += self._take(message)
            events += self._late()
            left = until - time.monotonic()
            if events or left <= 0:
                self._let_go()
                return events
            message = self._next(min(left, self._next_late()))
            events += [] if message is None else self._take(message)

    def close(self) -> None:
        """End everything: the hosts with all their processes, the tasks, and what was opened."""
        try:
            self._line.close([node for node in self._nodes if not node.gone], _CLOSING_SECONDS)
            futures = [task.future for task in self._tasks.values()]
            if futures and self._client.status == "running":
                self._client.cancel(futures)
            self._tasks.clear()
            self._spent.clear()
        finally:
            self._on_close()

    def _open(self) -> None:
        """Have a host on every node; refuse what no node could run."""
        problems = self._line.open(self._nodes)
        for node, error in zip(self._nodes, problems, strict=True):
            if isinstance(error, PacelineError | ImportError | AttributeError) or (
                error is not None and all(problems)
            ):
                self._line.close(self._nodes, _CLOSING_SECONDS)
                raise _refusal(node, error)
            if error is None:
                self._line.attend(node)
            else:
                self._lose(node)
        if any(problems):
            self._unsaid.append(self._resized("Dask workers have left before the race began"))
        self._line.watch()

    def _next(self, seconds: float) -> Message | None:
        try:
            return self._messages.get(timeout=seconds) if seconds else self._messages.get_nowait()
        except Empty:
            return None

    def _take(self, message: Message) -> list[Event]:
        match message:
            case Heard(token, first, events):
                return self._hear(self._by_token[token], first, events)
            case Seen(nodes):
                return self._compare(nodes)
            case Opened(node):
                self._coming.discard(node.address)
                self._nodes.append(node)
                self._by_token[node.token] = node
                self._line.attend(node)
                return [self._resized(f"the Dask worker {node.address} has come")]
            case Refused(node, why):
                about = f"the Dask worker {node.address} has come, but cannot be used: {why}"
                warnings.warn(about, RaceWarning, stacklevel=2)
                return []
            case Forgotten(node):  # its process is another one now; it may be opened again
                return [] if node.gone else self._lose(node)
            case NotBegun(job):
                return self._give_up(job)
            case Broken(why):
                raise _broken(why)

    def _hear(self, node: Node, first: int, pickled: bytes) -> list[Event]:
        """Take in the events of a host that were not heard yet."""
        if node.gone:
            return []
        if first > node.heard:  # some were lost on their way
            self._line.call(node)
            return []
        fresh: list[Any] = pickle.loads(pickled)[node.heard - first :]
        node.heard += len(fresh)
        events: list[Event] = []
        for event in fresh:
            events += self._say(event)
        return events

    def _say(self, event: Any) -> list[Event]:
        """What is said of an event of a host, with regard to what was said before."""
        task = self._tasks.get(event.job)
        if task is None:  # its end was told of, by another way
            return []
        late, task.silent, task.late = task.late, False, False
        if isinstance(event, Finished | Failed | Lost):
            self._forget(event.job)
        if isinstance(event, Lost) and task.why:
            event = Lost(event.job, task.why)
        if late and isinstance(event, Loading):
            return []
        if late and isinstance(event, Values | Finished | Failed):
            return [Began(event.job), event]
        return [event]

    def _compare(self, seen: dict[str, Node]) -> list[Event]:
        """What is different from before, as the scheduler has it now."""
        events: list[Event] = []
        here = {node.address: node for node in self._nodes if not node.gone}
        for node in [node for address, node in here.items() if address not in seen]:
            events += self._lose(node)
        self._coming &= seen.keys()
        for address in seen.keys() - here.keys() - self._coming:
            self._coming.add(address)
            self._line.add(seen[address])
        unsaid: dict[str, Node] = {}  # nodes whose hosts should have said more
        for job, task in self._tasks.items():
            status = task.future.status
            if status in _UNDONE and not task.why:
                task.why = f"its Dask task was {status}: did somebody cancel it?"
                self.end(job)
            elif status == "finished":
                unsaid[task.node.token] = task.node
        for node in unsaid.values():
            self._line.call(node)
        return events

    def _lose(self, node: Node) -> list[Event]:
        """A node is gone, with its jobs."""
        node.gone = True
        self._line.leave(node)
        lost: list[Event] = [self._resized(f"the Dask worker {node.address} has left")]
        for job in [job for job, task in self._tasks.items() if task.node is node]:
            self._tasks[job].why = _gone(node)
            lost += self._give_up(job)
        return lost

    def _give_up(self, job: int) -> list[Event]:
        """A job is over, and will never be heard of again."""
        task = self._tasks.get(job)
        if task is None:
            return []
        self._forget(job)
        task.future.cancel()  # it may wait in the scheduler, for a worker that is gone
        return [Lost(job, task.why)]

    def _forget(self, job: int) -> None:
        self._spent.append(self._tasks.pop(job).future)

    def _let_go(self) -> None:
        """Release the tasks that are over for Dask, too: to release others takes it longer."""
        for _ in range(len(self._spent)):
            future = self._spent.popleft()
            if future.status == "pending":
                self._spent.append(future)

    def _late(self) -> list[Event]:
        """Jobs that have not begun after a while are said to be loading: Dask lets them wait."""
        late: list[Event] = []
        before = time.monotonic() - _LATE_SECONDS
        for job, task in self._tasks.items():
            if task.started > before:
                break
            if task.silent:
                task.silent, task.late = False, True
                late.append(Loading(job))
        return late

    def _next_late(self) -> float:
        """How many seconds it takes until a job may be late."""
        started = (task.started for task in self._tasks.values() if task.silent)
        first = min(started, default=math.inf)
        return min(max(0.001, first + _LATE_SECONDS - time.monotonic()), _LONGEST_WAIT_SECONDS)

    def _resized(self, why: str) -> Resized:
        memory = tuple(node.memory for node in self._nodes)
        return Resized(
            tuple(0 if node.gone else node.cores for node in self._nodes),
            why,
            memory if all(memory) else (),
        )


def _broken(why: object) -> RaceFailed:
    return RaceFailed(f"the Dask scheduler does not answer any more ({why})")


def _gone(node: Node) -> str:
    return f"its node is gone: the Dask worker {node.address} has left"


def _refusal(node: Node, error: Exception | None) -> Exception:
    if isinstance(error, PacelineError):
        return error
    return InvalidInput(
        f"the Dask worker {node.address} cannot run pulls ({error}): is paceline installed there, "
        "in the same version?"
    )
