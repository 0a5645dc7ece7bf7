"""What Slurm has given to the job that this process runs in: nodes, CPUs, memory, devices."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from paceline.errors import InvalidInput

MEGABYTE = 1 << 20  # of Slurm: its MB are these

_ANSWER_SECONDS = 60.0
_ON_NODES = re.compile(r"\bNodes=(\S+) CPU_IDs=(\S+) Mem=(\d+)(?: GRES=(\S*))?")
_GPUS = re.compile(r"\bgpu(?::[^:,(]+)?:(\d+)")


@dataclass(frozen=True)
class Node:
    """What a job has of a node. No memory: Slurm does not count it here."""

    name: str
    cores: int
    memory: int = 0  # bytes
    gpus: int = 0


@dataclass(frozen=True)
class Allocation:
    """A job, and what it has of each of its nodes."""

    job: str
    nodes: tuple[Node, ...]


def job_here(environment: Mapping[str, str] | None = None) -> str | None:
    """The number of the job that this process runs in, if it does.

    >>> job_here({"SLURM_JOB_ID": "17"}), job_here({})
    ('17', None)
    """
    return (os.environ if environment is None else environment).get("SLURM_JOB_ID") or None


def read_allocation(environment: Mapping[str, str] | None = None) -> Allocation:
    """The allocation of this process, as the controller has it; else as the environment says."""
    environment = os.environ if environment is None else environment
    job = job_here(environment)
    if job is None:
        raise no_allocation()
    program("srun")
    try:
        nodes = parse_nodes(_ask(*question(job)))
    except (OSError, subprocess.SubprocessError) as error:
        nodes = _from_environment(environment)
        if not nodes:
            raise InvalidInput(
                f"what the Slurm job {job} has cannot be found out ({error}): is it still running?"
            ) from None
    if not nodes:
        raise InvalidInput(f"the Slurm job {job} has no nodes: is it still running?")
    return Allocation(job, nodes)


def question(job: str) -> list[str]:
    """The command that prints what a job has."""
    return ["scontrol", "--oneliner", "--details", "show", "job", job]


def parse_nodes(text: str) -> tuple[Node, ...]:
    """The nodes in what `scontrol` prints of a job.

    >>> parse_nodes("… NodeList=n1 … Nodes=n1 CPU_IDs=0-3,8 Mem=512 GRES=gpu:a100:2(IDX:0-1) …")
    (Node(name='n1', cores=5, memory=536870912, gpus=2),)
    """
    found: list[Node] = []
    for names, ids, megabytes, devices in _ON_NODES.findall(text):
        gpus = sum(map(int, _GPUS.findall(devices)))
        one = (sum(1 for _ in _numbers(ids)), int(megabytes) * MEGABYTE, gpus)
        found += [Node(name, *one) for name in hostnames(names)]
    return tuple(found)


@lru_cache
def hostnames(listed: str) -> tuple[str, ...]:
    """The names in a list such as "n[1-3,7]".

    >>> hostnames("n7")
    ('n7',)
    """
    if "[" not in listed:
        return tuple(listed.split(","))
    return tuple(_ask("scontrol", "show", "hostnames", listed).split())


def program(name: str) -> str:
    """Where a program of Slurm is; an error says what is missing."""
    path = shutil.which(name)
    if path is None:
        raise InvalidInput(
            f"{name}, a program of Slurm, is not on PATH: run this on a machine of the cluster, "
            "load its module, or use another engine"
        )
    return path


def no_allocation() -> InvalidInput:
    """Say that this is no Slurm job, and what to do."""
    missing = "" if shutil.which("srun") else ", and srun is not on PATH: Slurm is not installed"
    return InvalidInput(
        f"engine='slurm' runs pulls in a Slurm allocation, and there is none here{missing}. "
        "Start the race in one (salloc, sbatch), or have the command line submit it: "
        "paceline run race.toml --engine slurm --nodes 2 --time 6h"
    )


def _from_environment(environment: Mapping[str, str]) -> tuple[Node, ...]:
    listed = environment.get("SLURM_JOB_NODELIST", "")
    sizes = list(_repeated(environment.get("SLURM_JOB_CPUS_PER_NODE", "")))
    if not listed or not sizes:
        return ()
    each = environment.get("SLURM_MEM_PER_NODE", "0")
    memory = int(each) * MEGABYTE if each.isdecimal() else 0
    return tuple(
        Node(name, cores, memory) for name, cores in zip(hostnames(listed), sizes, strict=False)
    )


def _repeated(text: str) -> Iterator[int]:
    """The numbers in a text such as "20(x2),4": 20, 20 and 4."""
    for number, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        yield from [int(number)] * int(times or 1)


def _numbers(ids: str) -> Iterator[int]:
    for part in ids.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _ask(*command: str) -> str:
    done = subprocess.run(
        [program(command[0]), *command[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_ANSWER_SECONDS,
        check=False,
    )
    if done.returncode:
        raise OSError(done.stderr.strip() or f"{command[0]} ended with status {done.returncode}")
    return done.stdout
