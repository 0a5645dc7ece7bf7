"""The nodes of a Ray cluster, each with its place in the pool of a race."""

import contextlib
import errno
import selectors
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

_ANSWER_SECONDS = 0.2  # a machine that is there takes less to accept or refuse a connection


@dataclass(frozen=True)
class Node:
    """A node: its name in the cluster, where its Ray process listens, and what it has."""

    name: str
    host: str
    port: int
    cores: int
    gpus: int = 0
    memory: int = 0  # bytes that tasks may ask for

    def size(self, unit: str) -> int:
        """How many cores, or devices, a race may have of it."""
        return self.gpus if unit == "gpus" else self.cores


def refusing(nodes: Sequence[Node]) -> list[Node]:
    """Those whose Ray process is gone while their machine is still there to say so.

    Ray itself believes in such a node for a quarter of a minute. One that says nothing at all may
    be behind a firewall, or slow: about that one, Ray knows better.
    """
    found: list[Node] = []
    until = time.monotonic() + _ANSWER_SECONDS
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for node in nodes:
            try:
                channel = stack.enter_context(socket.socket(_family(node.host)))
                channel.setblocking(False)
                status = channel.connect_ex((node.host, node.port))
            except OSError:  # its name is not known here
                continue
            if status == errno.ECONNREFUSED:
                found.append(node)
            elif status == errno.EINPROGRESS:
                selector.register(channel, selectors.EVENT_WRITE, node)
        while selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                selector.unregister(key.fileobj)
                channel = cast(socket.socket, key.fileobj)
                if channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED:
                    found.append(key.data)
    return found


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def usable(listing: Iterable[Mapping[str, Any]]) -> list[Node]:
    """The nodes that are alive and have cores or devices, from what `ray.nodes()` lists.

    >>> head = {"Alive": True, "NodeID": "a", "NodeManagerAddress": "10.0.0.1",
    ...         "NodeManagerPort": 1, "Resources": {"memory": 4e9}}
    >>> worker = head | {"NodeID": "b", "Resources": {"CPU": 20.0, "memory": 8e9}}
    >>> usable([head, worker, worker | {"NodeID": "c", "Alive": False}])
    [Node(name='b', host='10.0.0.1', port=1, cores=20, gpus=0, memory=8000000000)]
    """
    found = []
    for entry in listing:
        has = entry["Resources"]
        cores, gpus = int(has.get("CPU", 0)), int(has.get("GPU", 0))
        if entry["Alive"] and (cores or gpus):
            memory = int(has.get("memory", 0))
            where = entry["NodeManagerAddress"], int(entry["NodeManagerPort"])
            found.append(Node(entry["NodeID"], *where, cores, gpus, memory))
    return found


@dataclass
class Roster:
    """Nodes by their places: one that is gone keeps its place, a new one gets the next.

    >>> a, b = Node("a", "10.0.0.1", 1, cores=20), Node("b", "10.0.0.2", 1, cores=8)
    >>> roster = Roster([a])
    >>> roster.update([b])
    '10.0.0.1 is gone, 10.0.0.2 has come'
    >>> roster.sizes("cores"), roster.is_gone(0), roster.update([b])
    ((0, 8), True, '')
    """

    nodes: list[Node]
    gone: set[str] = field(default_factory=set)  # names
    silent: set[str] = field(default_factory=set)  # those gone that Ray still believes in

    def copy(self) -> "Roster":
        """One with the same places, which goes its own way."""
        return Roster(list(self.nodes), set(self.gone), set(self.silent))

    def update(self, alive: Sequence[Node]) -> str:
        """Take in which nodes there are now; say what has changed."""
        here = {node.name for node in alive}
        left = [one for one in self.nodes if one.name not in here | self.gone]
        came = [one for one in alive if one.name not in {node.name for node in self.nodes}]
        silent = [one for one in alive if one.name in self.silent]
        still = refusing(silent) if silent else []
        back = [one for one in silent if one not in still]
        self.gone |= {one.name for one in left}
        self.gone -= {one.name for one in back}
        self.silent = {name for name in self.silent & here if name in self.gone}
        self.nodes += came
        changes = [(left, "is gone"), (back, "is back"), (came, "has come")]
        return ", ".join(f"{one.host} {what}" for some, what in changes for one in some)

    def lose(self, place: int) -> str:
        """A node does not answer any more: it is gone, whatever Ray believes; say so."""
        name = self.nodes[place].name
        self.gone.add(name)
        self.silent.add(name)
        return f"{self.nodes[place].host} does not answer"

    def forget_gone(self) -> None:
        """Let others have the places of nodes that are gone; nobody may be using them."""
        self.nodes = [node for node in self.nodes if node.name not in self.gone - self.silent]
        self.gone &= self.silent

    def is_gone(self, place: int) -> bool:
        """Whether the node of that place is gone."""
        return self.nodes[place].name in self.gone

    def gone_places(self) -> set[int]:
        """The places of nodes that are gone."""
        return {place for place, one in enumerate(self.nodes) if one.name in self.gone}

    def sizes(self, unit: str) -> tuple[int, ...]:
        """The cores, or devices, of each place."""
        return tuple(0 if one.name in self.gone else one.size(unit) for one in self.nodes)

    def memory(self) -> tuple[int, ...]:
        """The bytes of each place."""
        return tuple(0 if one.name in self.gone else one.memory for one in self.nodes)
