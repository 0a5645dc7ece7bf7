"""The engine of Ray clusters: how to connect, and what a cluster has."""

import os
import socket
import threading
import time
from typing import Any

from paceline.engines.base import Abilities
from paceline.engines.ray.roster import Roster, usable
from paceline.engines.ray.tasks import Tasks
from paceline.engines.ray.workers import RayWorkers
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput, MissingExtra, seen
from paceline.machine import AvailableCores

_LARGEST_GROUP = 1024
_CONNECTING_SECONDS = 5.0
_LOCALHOST = ("localhost", "127.0.0.1", "::1")
_GROUP_SECONDS = 0.1  # a task costs Ray, its driver and the node some 3 ms in all


class RayEngine:
    """Runs pulls on the nodes of a Ray cluster.

    It uses the cluster that this process is connected to, or the one at `address` or RAY_ADDRESS,
    or else one that runs on this machine. If there is none, it starts one here, which ends with
    this process. `init` is passed to `ray.init`.
    """

    name = "ray"
    abilities = Abilities(
        kill=True,
        pin=False,
        commands=True,
        group=_LARGEST_GROUP,
        survives_driver=False,
        group_seconds=_GROUP_SECONDS,
        memory=True,
        gpus=True,
        resizes=True,
        prints=True,
    )

    def __init__(self, address: str | None = None, **init: Any) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtra(
                "the engine 'ray' needs Ray: pip install 'paceline[ray]' (on every node)"
            ) from error
        if (address or "").startswith("ray://"):
            raise InvalidInput(
                f"{address!r} is a Ray Client, which cannot say when pulls begin: run the race on "
                "a machine of the cluster (ray job submit), or give the address as 'host:6379'"
            )
        self.address = address
        self._ray = ray
        self._init = init
        self._lock = threading.Lock()
        self._roster = Roster([])
        self._open = 0  # races

    def available(self) -> AvailableCores:
        """The nodes that are alive now. Those that have neither cores nor devices are left out."""
        self._connect()
        with self._lock:
            self._roster.update(usable(self._ray.nodes()))
            if not self._open:
                self._roster.forget_gone()
            roster = self._roster
            nodes, gpus = roster.sizes("cores"), roster.sizes("gpus")
            where = self._ray.get_runtime_context().gcs_address
            if not sum(nodes) + sum(gpus):
                raise InvalidInput(
                    f"the Ray cluster at {where} has no node with CPUs: add nodes, or have the "
                    "autoscaler add them (ray.autoscaler.sdk.request_resources)"
                )
            source = f"the Ray cluster at {where}"
            return AvailableCores(
                sum(nodes), source, (), nodes=nodes, gpus=gpus, memory=roster.memory()
            )

    def open(self, workload: Workload, cores: int) -> RayWorkers:
        """Workers of a race; nodes that come or go after `available` are told of as events."""
        self._connect()
        with self._lock:
            if not self._roster.nodes:
                self._roster.update(usable(self._ray.nodes()))
            roster = self._roster.copy()
            has = sum(roster.sizes(workload.unit))
            if cores > has:
                raise InvalidInput(
                    f"the race wants {cores} {workload.unit}, and the Ray cluster has {has}: lower "
                    "cores, or add nodes"
                )
            workers = RayWorkers(Tasks(self._ray, workload), roster, self._closed)
            self._open += 1
        return workers

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()

    def _closed(self) -> None:
        with self._lock:
            self._open -= 1

    def _connect(self) -> None:
        """Connect to the cluster, or start one; nothing happens if this process has one."""
        ray = self._ray
        with self._lock:
            if ray.is_initialized():
                return
            _check_answers(self.address)
            quiet = {"log_to_driver": False, "logging_level": "ERROR"}
            try:
                ray.init(self.address, **quiet | self._init)
            except (ConnectionError, RuntimeError, ValueError, TypeError) as error:
                where = f"at {self.address!r}" if self.address else "here"
                raise InvalidInput(f"no Ray cluster can be used {where}: {error}") from error


def _check_answers(address: str | None) -> None:
    """Refuse the address of a cluster where nothing listens: Ray itself would try for minutes."""
    if address in (None, "auto"):
        address = os.environ.get("RAY_ADDRESS")
    if address in (None, "", "auto", "local") or "://" in address:
        return
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        raise InvalidInput(
            f"{seen(address)} is not the address of a Ray cluster: give its host and port, as in "
            "'10.0.0.7:6379'"
        )
    host = host.strip("[]")
    if host in _LOCALHOST:
        from ray.util import get_node_ip_address

        host = get_node_ip_address()  # where Ray looks instead
    try:
        socket.create_connection((host, int(port)), _CONNECTING_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInput(
            f"no Ray cluster answers at {seen(address)} ({error}): is it running, and can it be "
            "reached from here?"
        ) from error
