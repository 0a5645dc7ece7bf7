"""The jobs of one race as tasks of Ray: on which node, with what, and how they are ended."""

import contextlib
import pickle
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from paceline.engines.jobs import Job
from paceline.engines.local import wire
from paceline.engines.local.packing import dumps
from paceline.engines.ray import host
from paceline.engines.ray.roster import Node
from paceline.engines.workload import Workload, stand_in

_MANY = 8  # jobs under way: to ask about fewer once more costs more than to come again


class Tasks:
    """Gives jobs to Ray. What a job says comes as a stream of references."""

    def __init__(self, ray: Any, workload: Workload) -> None:
        wire.check(workload)
        if not workload.is_command:
            packed, arms, seeds = wire.pack(workload), len(workload.arms), workload.seeds
            mine = stand_in(packed, arms, seeds, takes_seed=workload.takes_seed)
            workload = replace(mine, unit=workload.unit, memory=workload.memory)
        self.race = uuid.uuid4().hex
        self.workload = workload
        self.errors = ray.exceptions
        self._ray = ray
        self._parcel = [ray.put(dumps(workload))]  # sent once, and loaded once by each Ray worker
        self._tasks: dict[tuple[str, int], Any] = {}  # by node and cores
        self._loaded: set[str] = set()  # nodes on which Ray workers have the parcel

    def send(self, job: Job, node: Node, *, complete: bool = False) -> Any:
        """Give a job to Ray, for that node; the parcel comes along if it is sure to be needed.

        A job that turns out to need it has to be sent again, `complete`.
        """
        task = self._tasks.get((node.name, job.cores))
        if task is None:
            task = self._tasks[node.name, job.cores] = self._task(node, job.cores)
        order = pickle.dumps((self.race, job))  # Ray takes far longer for anything but bytes
        if complete or node.name not in self._loaded:
            return task.remote(order, self._parcel)
        return task.remote(order)

    def next(self, stream: Any, node: Node) -> Any:
        """What a job says next; raises what Ray says if it cannot run it."""
        said = self._ray.get(next(stream))
        self._loaded.add(node.name)
        return said

    def ready(self, streams: list[Any], seconds: float) -> list[Any]:
        """Those that have something to say; waits for the first, at most that long."""
        ready, others = self._ray.wait(streams, num_returns=1, timeout=seconds)
        if ready and len(others) >= _MANY:
            ready += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        return list(ready)

    def cancel(self, stream: Any, *, force: bool) -> None:
        """Interrupt a job, or kill the Ray worker that has it."""
        with contextlib.suppress(ValueError, self.errors.RayError):  # it is over
            self._ray.cancel(stream, force=force)

    def sweep(self, nodes: Iterable[Node], seconds: float) -> None:
        """End all that the race has left on these nodes; that is waited for, at most that long."""
        used = {name for name, _ in self._tasks}
        task = self._ray.remote(num_cpus=0, max_retries=0)(host.sweep)
        swept = [
            task.options(scheduling_strategy=_on(node)).remote(self.race, seconds)
            for node in nodes
            if node.name in used
        ]
        if swept:
            self._ray.wait(swept, num_returns=len(swept), timeout=seconds)

    def nodes(self) -> Any:
        """What Ray lists as nodes."""
        return self._ray.nodes()

    def _task(self, node: Node, cores: int) -> Any:
        """The task that does jobs on that node, asking for that many cores or devices."""
        wants = {"num_cpus": cores}
        if self.workload.unit == "gpus":
            wants = {"num_cpus": 0, "num_gpus": cores}
        if self.workload.memory is not None:
            wants["memory"] = self.workload.memory
        # The race does again what is lost: by Ray, it would be done twice.
        task = self._ray.remote(max_retries=0, num_returns="streaming")(host.do)
        return task.options(**wants, scheduling_strategy=_on(node))


def _on(node: Node) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node.name, soft=False)
