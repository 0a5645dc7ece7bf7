"""The engine of Slurm: pulls are steps of the job that the race runs in."""

import time
from dataclasses import dataclass

from paceline.engines.base import Abilities
from paceline.engines.slurm.allocation import Allocation, read_allocation
from paceline.engines.slurm.commands import CommandWorkers
from paceline.engines.slurm.functions import FunctionWorkers
from paceline.engines.slurm.workers import StepWorkers
from paceline.engines.workload import Workload
from paceline.errors import InvalidInput
from paceline.machine import AvailableCores

_LARGEST_GROUP = 128  # pulls
SITE_DEFAULT = "mpi"  # whatever kind of MPI the site has chosen


@dataclass(frozen=True)
class SlurmEngine:
    """Runs each pull as a job step on its own cores of one node, in the allocation that is here.

    With `mpi` a pull on c cores is a step of c ranks, which may span nodes: "pmix" and "pmi2" are
    kinds of MPI that `srun --mpi` knows, and "mpi" is what the site has chosen. It is for commands
    that are MPI programs themselves. By name, such an engine is "slurm:pmix".

    >>> SlurmEngine().name, SlurmEngine("pmix").address
    ('slurm', 'pmix')
    """

    mpi: str | None = None
    name: str = "slurm"
    abilities: Abilities = Abilities(  # noqa: RUF009 - it is frozen
        kill=True,
        pin=True,
        commands=True,
        group=_LARGEST_GROUP,
        survives_driver=False,
        memory=True,
        gpus=True,
        resizes=True,
        prints=True,
    )

    @property
    def address(self) -> str | None:
        """What follows its name in a journal."""
        return self.mpi

    def available(self) -> AvailableCores:
        """The CPUs, memory and devices that the job has of each node."""
        allocation = read_allocation()
        source = f"Slurm job {allocation.job}"
        sizes = pool_of(allocation, spans=self.mpi is not None)
        cores, memory, gpus = zip(*sizes, strict=True)
        counted = memory if all(memory) else ()
        return AvailableCores(sum(cores), source, (), nodes=cores, gpus=gpus, memory=counted)

    def open(self, workload: Workload, cores: int) -> StepWorkers:
        """The steps of a race."""
        allocation = read_allocation()
        if workload.is_command:
            return CommandWorkers(allocation, workload, self.mpi)
        if self.mpi is not None:
            raise InvalidInput(
                f"engine='slurm:{self.mpi}' starts MPI programs: race a command with it, and "
                "functions with engine='slurm'"
            )
        return FunctionWorkers(allocation, workload)

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()


def pool_of(allocation: Allocation, *, spans: bool) -> list[tuple[int, int, int]]:
    """Cores, bytes and devices of each node of the pool; of all at once if a pull may span them.

    >>> from paceline.engines.slurm.allocation import Node
    >>> both = Allocation("17", (Node("n1", 20, 100), Node("n2", 16, 80)))
    >>> pool_of(both, spans=False), pool_of(both, spans=True)
    ([(20, 100, 0), (16, 80, 0)], [(36, 180, 0)])
    """
    sizes = [(node.cores, node.memory, node.gpus) for node in allocation.nodes]
    if not spans:
        return sizes
    cores, memory, gpus = (sum(each) for each in zip(*sizes, strict=True))
    return [(cores, memory, gpus)]
