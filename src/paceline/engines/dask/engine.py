"""The engine of Dask clusters."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from paceline.engines.base import Abilities
from paceline.engines.dask.line import Node, nodes_of
from paceline.engines.dask.workers import DaskWorkers
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, MissingExtra, seen
from paceline.machine import AvailableCores, available_cores

_LARGEST_GROUP = 1024  # pulls
_GROUP_SECONDS = 0.1  # a task costs Dask some milliseconds, whatever it does
_CONNECTING_SECONDS = 15
_LOOPBACK = "127.0.0.1:0"


class DaskEngine:
    """Runs pulls in processes of their own, below the workers of a Dask cluster.

    It is given a `distributed.Client`, or whatever such a client connects to: the address of a
    scheduler, or a cluster object. Without any of these, every race has a small cluster of its own
    on this machine.

    A Dask worker is a node. Its cores are its resource `cores` or, if none was declared, its
    threads.
    """

    name = "dask"
    abilities = Abilities(
        kill=True,
        pin=False,
        commands=True,
        group=_LARGEST_GROUP,
        survives_driver=False,
        group_seconds=_GROUP_SECONDS,
        memory=True,
        resizes=True,
        prints=True,
    )

    def __init__(self, client_or_address: Any = None) -> None:
        try:
            import distributed
        except ImportError as error:
            raise MissingExtra(
                "engine='dask' needs Dask: install it with pip install 'paceline[dask]'"
            ) from error
        self._given = client_or_address
        self._client = client_or_address if _is_client(client_or_address) else None
        self._told: list[Node] = []  # when a race asked last
        self._distributed: Any = distributed

    @property
    def address(self) -> str | None:
        """Where the scheduler is, so that a race can be resumed there; None for one of its own."""
        if self._client is not None:
            return str(self._client.scheduler.address)
        return self._given if isinstance(self._given, str) else None

    def available(self) -> AvailableCores:
        """The cores of all Dask workers that are there now; without a cluster, this machine's."""
        if self._given is None:
            here = available_cores()
            return replace(here, source=f"{here.source}; in a Dask cluster of its own")
        client, close = self._connect()
        try:
            where = client.scheduler.address
            self._told = self._look(client)
        finally:
            close()
        nodes = tuple(node.cores for node in self._told)
        memory = tuple(node.memory for node in self._told)
        return AvailableCores(
            sum(nodes),
            f"the Dask cluster at {where}",
            (),
            nodes=nodes,
            memory=memory if all(memory) else (),
        )

    def open(self, workload: Workload, cores: int) -> DaskWorkers:
        """Hosts on all Dask workers; they are closed with the race, and so is what it started."""
        client, close = self._connect(cores)
        try:
            told = [] if self._given is None else self._told
            nodes = [node.anew() for node in told] or self._look(client)
            return DaskWorkers(client, workload, nodes, close)
        except BaseException:
            close()
            raise

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()

    def _connect(self, cores: int = 1) -> tuple[Any, Callable[[], None]]:
        """A client, and what closes all that was started for it."""
        if self._client is not None:
            if self._client.asynchronous:
                raise InvalidInput(
                    "the Dask client is asynchronous, and races are not: give them its address, or "
                    "a Client made without asynchronous=True"
                )
            if self._client.status != "running":
                raise InvalidInput(f"the Dask client is {self._client.status}: give an open one")
            return self._client, _nothing
        if self._given is None:
            return self._start(cores)
        try:
            client = self._distributed.Client(
                self._given, set_as_default=False, timeout=_CONNECTING_SECONDS
            )
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"no Dask scheduler answers at {seen(self._given)} ({error}): is it running, and "
                "can it be reached from here?"
            ) from error
        return client, client.close

    def _start(self, cores: int) -> tuple[Any, Callable[[], None]]:
        """A cluster in this process. Pulls have processes of their own in any case.

        Dask workers with a process of their own would need a main guard in the user's script.
        """
        cluster = self._distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=cores,
            resources={"cores": cores},
            processes=False,
            memory_limit=None,
            dashboard_address=_LOOPBACK,  # None would take port 8787, open to the network
            worker_dashboard_address=_LOOPBACK,
        )
        try:
            client = self._distributed.Client(cluster, set_as_default=False)
        except BaseException:
            cluster.close()
            raise

        def close() -> None:
            client.close()
            cluster.close()

        return client, close

    def _look(self, client: Any) -> list[Node]:
        nodes = list(nodes_of(client.sync(client.scheduler.identity)).values())
        if not nodes:
            raise InvalidInput(
                f"the Dask cluster at {client.scheduler.address} has no workers yet: wait for them "
                "with client.wait_for_workers(1), or start some with `dask worker`"
            )
        return nodes


def _is_client(given: Any) -> bool:
    from distributed import Client

    return isinstance(given, Client)


def _nothing() -> None:
    """Nothing was started."""
