"""Ray clusters of several made-up nodes on this machine."""

import contextlib
from collections.abc import Iterator
from typing import Any

import ray
from ray.cluster_utils import Cluster

from .conftest import STORE_BYTES

CORES = 20  # of a node: they are only counted


class Nodes:
    """A cluster whose head has no cores, and nodes that are added and killed."""

    def __init__(self) -> None:
        plain = {"object_store_memory": STORE_BYTES, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **plain})
        self.nodes: list[Any] = []

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, **resources: Any) -> None:
        given = {"num_cpus": CORES, "object_store_memory": STORE_BYTES} | resources
        self.nodes.append(self._cluster.add_node(**given))

    def kill(self, place: int) -> None:
        """Kill everything of a node, at once."""
        self._cluster.remove_node(self.nodes.pop(place), allow_graceful=False)

    def close(self) -> None:
        ray.shutdown()
        self._cluster.shutdown()


@contextlib.contextmanager
def cluster(nodes: int = 2) -> Iterator[Nodes]:
    """A cluster with that many nodes, to which this process is connected."""
    made = Nodes()
    try:
        for _ in range(nodes):
            made.add()
        ray.init(made.address, log_to_driver=False, logging_level="ERROR")
        yield made
    finally:
        made.close()
