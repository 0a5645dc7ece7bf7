"""The engine of local processes."""

import time
from dataclasses import dataclass, replace

from paceline.engines.base import Abilities
from paceline.engines.local.processors import Devices, Processors
from paceline.engines.local.workers import LocalWorkers
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores, available_cores, available_gpus

_LARGEST_GROUP = 128  # pulls: sending more at once saves nothing that can be measured


@dataclass(frozen=True)
class LocalEngine:
    """Runs pulls in processes on this machine, each on processors of its own.

    >>> from paceline.engines.jobs import Job, Run
    >>> engine = LocalEngine()
    >>> double = Workload(lambda arm: 2.0 * arm, [10, 20], lambda arm, first, pulls: [0] * pulls)
    >>> with engine.open(double, cores=1) as workers:
    ...     workers.start(Job(number=0, runs=(Run(0, 0, 1), Run(1, 0, 1)), cores=1))
    ...     events = []
    ...     while len(events) < 4:
    ...         events += workers.wait(None)
    >>> events
    [Loading(job=0, ...), Began(job=0), Values(job=0, values=[20.0, 40.0], ...), Finished(job=0)]

    With `share=False` every worker imports the user's modules by itself. They need not: where it is
    safe, they are forked from a process that has.
    """

    name: str = "local"
    abilities: Abilities = Abilities(  # noqa: RUF009 - it is frozen
        kill=True,
        pin=True,
        commands=True,
        group=_LARGEST_GROUP,
        survives_driver=False,
        memory=True,
        gpus=True,
        prints=True,
    )
    share: bool = True

    def available(self) -> AvailableCores:
        """What Slurm, the affinity mask and the cgroup quota leave; and the GPUs."""
        gpus = len(available_gpus())
        return replace(available_cores(), gpus=(gpus,) if gpus else ())

    def open(self, workload: Workload, cores: int) -> LocalWorkers:
        """Workers pinned to processors, unless the pool has more cores than the machine."""
        here = available_cores()
        if workload.unit != "gpus":
            processors = Processors(here.cpu_ids, cores)
            try:
                return LocalWorkers(workload, processors, cores, share=self.share)
            except BaseException:  # it cannot be sent, or the machine is short of something
                processors.close()
                raise
        names = available_gpus() or tuple(map(str, range(cores)))  # as many as the user says
        devices = Devices(names, cores, threads_each=here.cores / cores)
        # None is forked from a process that has loaded the function: it may have devices already.
        return LocalWorkers(workload, devices, cores, share=False)

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()
