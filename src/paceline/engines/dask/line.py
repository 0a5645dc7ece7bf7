"""The driver's line to the Dask workers: calls, and what the scheduler and the hosts say.

Coroutines run in the event loop of the Dask client, in a thread of its own. What they find out is
posted as messages, which the thread of the race takes in when it waits.
"""

import asyncio
import contextlib
import time
import uuid
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paceline.engines.dask.host import Parcel, call_host, close_host, end_job, open_host

_CALL_SECONDS = 15.0  # between calls to a host, which would give up after a minute
_LOOK_SECONDS = 1.0  # between looks at the list of Dask workers
_WORKERS_A_SECOND = 100  # that are looked at: the list is long if they are many
_AGAIN_SECONDS = 0.2
_PATIENCE_SECONDS = 60.0  # with a scheduler that does not answer


@dataclass
class Node:
    """A Dask worker, as far as a race is concerned."""

    address: str
    cores: int
    memory: int  # bytes; 0: not known
    declared: bool  # whether its cores are a resource of Dask, and not just its threads
    token: str = field(default_factory=lambda: uuid.uuid4().hex)  # of its host
    heard: int = 0  # events of its host that were taken in
    gone: bool = False

    def anew(self) -> "Node":
        """The same Dask worker, for another race."""
        return Node(self.address, self.cores, self.memory, self.declared)


class Heard(NamedTuple):
    """A host tells of its events: the number of the first, and all of them, pickled."""

    token: str
    first: int
    events: bytes


class Seen(NamedTuple):
    """The scheduler has these workers."""

    nodes: dict[str, Node]


class Opened(NamedTuple):
    """A node that came has a host now."""

    node: Node


class Refused(NamedTuple):
    """A node that came can have no host."""

    node: Node
    why: str


class Forgotten(NamedTuple):
    """A node has no host any more."""

    node: Node


class NotBegun(NamedTuple):
    """A job that was to end had not begun, and never will."""

    job: int


class Broken(NamedTuple):
    """The scheduler is gone."""

    why: str


Message = Heard | Seen | Opened | Refused | Forgotten | NotBegun | Broken
Post = Callable[[Message], None]


class _Ears:
    """Listens to the hosts of all races of one client.

    They share a topic, of which the scheduler keeps the last events, as of any other.
    """

    def __init__(self, client: Any) -> None:
        self.topic = f"paceline-{client.id}"
        self._posts: dict[str, Post] = {}

    def add(self, client: Any, token: str, post: Post) -> None:
        if not self._posts:
            client.subscribe_topic(self.topic, self._hear)
        self._posts[token] = post

    def remove(self, client: Any, token: str) -> None:
        if self._posts.pop(token, None) is not None and not self._posts:
            with contextlib.suppress(Exception):  # the client is closed: nobody listens any more
                client.unsubscribe_topic(self.topic)

    def _hear(self, event: Any) -> None:
        _, (token, first, events) = event
        post = self._posts.get(token)
        if post is not None:
            post(Heard(token, first, events))


_ears: "weakref.WeakKeyDictionary[Any, _Ears]" = weakref.WeakKeyDictionary()


class Line:
    """Calls the Dask workers for one race, and posts what they and the scheduler say."""

    def __init__(self, client: Any, parcel: Parcel, post: Post) -> None:
        self._client = client
        self._parcel = parcel
        self._post = post
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._under_way: set[Future[None]] = set()
        self._ears = _ears.setdefault(client, _Ears(client))

    def open(self, nodes: list[Node]) -> list[Exception | None]:
        """Have a host on each of these; return what went wrong on each."""

        async def all_of_them() -> list[Exception | None]:
            return await asyncio.gather(*[self._try_to_open(node) for node in nodes])

        return asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result()

    def add(self, node: Node) -> None:
        """Have a host on a node that came, and post whether that worked."""
        self._go(self._add(node))

    def watch(self) -> None:
        """Look which workers there are, from now on."""
        self._go(self._watch())

    def attend(self, node: Node) -> None:
        """Call the host of a node now and then, from now on, until the node is gone."""
        self._go(self._attend(node))

    def call(self, node: Node) -> None:
        """Call the host of a node now: something that it should have said was not heard."""
        self._go(self._call(node))

    def end(self, node: Node, job: int) -> None:
        """End a job: its host will tell of its end, unless it had not begun."""
        self._go(self._end(node, job))

    def leave(self, node: Node) -> None:
        """Do not listen to a node any more."""
        self._ears.remove(self._client, node.token)

    def close(self, nodes: list[Node], seconds: float) -> None:
        """Close the hosts of these nodes, wait for that, and stop everything else."""

        async def all_of_them() -> None:
            calls = [self._run(node, close_host, node.token) for node in nodes]
            together = asyncio.gather(*calls, return_exceptions=True)  # some may be gone by now
            await asyncio.wait([together], timeout=seconds)

        for one in list(self._under_way):
            one.cancel()
        if self._client.status == "running":
            asyncio.run_coroutine_threadsafe(all_of_them(), self._loop).result()
        for node in nodes:
            self.leave(node)

    def _go(self, coroutine: Coroutine[Any, Any, None]) -> None:
        under_way = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._under_way.add(under_way)
        under_way.add_done_callback(self._under_way.discard)

    async def _run(self, node: Node, function: Callable[..., Any], *given: Any) -> Any:
        answers = await self._client.run(function, *given, workers=[node.address])
        return answers[node.address]

    async def _try_to_open(self, node: Node) -> Exception | None:
        self._ears.add(self._client, node.token, self._post)
        try:
            await self._run(node, open_host, node.token, self._ears.topic, self._parcel, node.cores)
        except Exception as error:
            self.leave(node)
            return error
        return None

    async def _add(self, node: Node) -> None:
        error = await self._try_to_open(node)
        self._post(Opened(node) if error is None else Refused(node, str(error)))

    async def _attend(self, node: Node) -> None:
        while not node.gone:
            await asyncio.sleep(_CALL_SECONDS)
            await self._call(node)

    async def _call(self, node: Node) -> None:
        try:
            answer = await self._run(node, call_host, node.token, node.heard)
        except Exception:  # if it is gone, the scheduler will say so
            return
        if answer is None:
            self._post(Forgotten(node))
        else:
            self._post(Heard(node.token, *answer))

    async def _end(self, node: Node, job: int) -> None:
        while not node.gone:
            try:
                if not await self._run(node, end_job, node.token, job):
                    self._post(NotBegun(job))
                return
            except Exception:  # if it is gone, the scheduler will say so
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _watch(self) -> None:
        answered = time.monotonic()
        while True:
            pause = _LOOK_SECONDS
            try:
                nodes = nodes_of(await self._client.scheduler.identity())
                answered = time.monotonic()
                pause = max(pause, len(nodes) / _WORKERS_A_SECOND)
                self._post(Seen(nodes))
            except Exception as error:  # the client connects again, if it can
                silent = time.monotonic() - answered
                if self._client.status == "closed" or silent > _PATIENCE_SECONDS:
                    self._post(Broken(str(error)))
                    return
            await asyncio.sleep(pause)


def nodes_of(identity: dict[str, Any]) -> dict[str, Node]:
    """The nodes that a scheduler describes, by their addresses: those that take tasks.

    >>> worker = {"nthreads": 4, "memory_limit": 8e9, "resources": {}, "status": "running"}
    >>> nodes = nodes_of({"workers": {"a": worker, "b": worker | {"resources": {"cores": 20}}}})
    >>> [(node.cores, node.declared) for node in nodes.values()]
    [(4, False), (20, True)]
    """
    found = {}
    for address, one in identity["workers"].items():
        declared = "cores" in one["resources"]
        cores = int(one["resources"]["cores"] if declared else one["nthreads"])
        if cores > 0 and one["status"] in ("running", "paused", "init"):
            found[address] = Node(address, cores, int(one["memory_limit"] or 0), declared)
    return found
