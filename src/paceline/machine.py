"""The cores that this process may use, which are often fewer than the machine has."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class AvailableCores:
    """How many cores may be used, why that many, and the CPUs they may be taken from.

    A quota may allow fewer cores than `cpu_ids` has: it limits time, not which CPUs are used. On a
    cluster, `nodes` has the cores of each node. `gpus` and `memory`, in bytes, are listed node by
    node, too; they are empty where they are not known.

    >>> print(AvailableCores(2, "the cgroup CPU quota of 2.5", cpu_ids=(0, 1, 2, 3)))
    2 cores (the cgroup CPU quota of 2.5)
    >>> print(AvailableCores(40, "a Ray cluster", (), nodes=(20, 20)))
    40 cores on 2 nodes (a Ray cluster)
    """

    cores: int
    source: str
    cpu_ids: tuple[int, ...]
    nodes: tuple[int, ...] = ()  # none: a single one, which may be divided more finely
    gpus: tuple[int, ...] = ()
    memory: tuple[int, ...] = ()
    per_pull: int | None = None  # what every pull has, where that cannot be chosen

    def __str__(self) -> str:
        where = f" on {len(self.nodes)} nodes" if len(self.nodes) > 1 else ""
        return f"{self.cores} core{'s' * (self.cores != 1)}{where} ({self.source})"


def first_nodes(nodes: Sequence[int], cores: int) -> tuple[int, ...]:
    """The first of these nodes, with that many cores in all.

    >>> first_nodes((20, 20), 30), first_nodes((20, 20), 16)
    ((20, 10), (16,))
    """
    taken: list[int] = []
    for node in nodes:
        left = cores - sum(taken)
        if left <= 0:
            break
        taken.append(min(node, left))
    return tuple(taken)


def available_memory(root: Path = Path("/")) -> int:
    """The bytes of memory that are free here, or that the control group of this process allows.

    >>> available_memory() > 0
    True
    """
    free = [
        1024 * int(words[1])
        for line in _read(root / "proc/meminfo").splitlines()
        if (words := line.split())[0] == "MemAvailable:"
    ]
    limits = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        if number == "0":
            mounts = root / "sys/fs/cgroup"
            for folder in _upwards(rest.lstrip(":"), mounts, mounts / "unified"):
                limits += [
                    int(text)
                    for text in _read(folder / "memory.max").split("\n")
                    if text.isdecimal()
                ]
    return min([*free, *limits], default=0)


def available_gpus(
    environment: Mapping[str, str] | None = None, root: Path = Path("/")
) -> tuple[str, ...]:
    """The devices that this process may use, as CUDA_VISIBLE_DEVICES names them.

    >>> available_gpus({"CUDA_VISIBLE_DEVICES": "2,3"})
    ('2', '3')
    >>> available_gpus({"CUDA_VISIBLE_DEVICES": ""}), available_gpus({}, root=Path("/nowhere"))
    ((), ())
    """
    named = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    if named is None:
        folder = root / "proc/driver/nvidia/gpus"
        found = len(os.listdir(folder)) if folder.is_dir() else 0
        return tuple(map(str, range(found)))
    words = [word.strip() for word in named.split(",")]
    # CUDA stops at the first name that is none.
    end = next((place for place, word in enumerate(words) if word in ("", "-1")), len(words))
    return tuple(words[:end])


def available_cores(
    environment: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    affinity: Iterable[int] | None = None,
) -> AvailableCores:
    """The least of what Slurm, the affinity mask and the quotas of cgroups allow.

    The arguments stand in for `os.environ`, the file system and the mask of this process.

    >>> slurm = {"SLURM_CPUS_PER_TASK": "4", "SLURM_CPUS_ON_NODE": "64"}
    >>> here = available_cores(slurm, root=Path("/nowhere"), affinity=range(8))
    >>> here.cores, here.source, here.cpu_ids
    (4, 'SLURM_CPUS_PER_TASK=4', (0, 1, 2, 3, 4, 5, 6, 7))
    """
    # os.cpu_count() counts the machine's cores: far too many in a container or a batch job.
    cpu_ids, mask = _affinity(affinity)
    limits = [(len(cpu_ids), f"{mask} {len(cpu_ids)}")]
    limits += _slurm_limit(os.environ if environment is None else environment)
    limits += _quota_limit(root)
    cores, source = min(limits, key=lambda limit: limit[0])
    return AvailableCores(cores, source, cpu_ids, memory=_known(available_memory(root)))


def _known(memory: int) -> tuple[int, ...]:
    return (memory,) if memory else ()


def _affinity(given: Iterable[int] | None) -> tuple[tuple[int, ...], str]:
    """The CPUs that this process may use, and what says so."""
    if given is None and not hasattr(os, "sched_getaffinity"):  # macOS and Windows
        return tuple(range(os.cpu_count() or 1)), "this machine, which has"
    mask = os.sched_getaffinity(0) if given is None else given
    return tuple(sorted(mask)), "the affinity mask, which holds"


def _slurm_limit(environment: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    # The first is set only if the job asked for it, and is then the narrower one.
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        text = environment.get(name, "").strip()
        if text.isascii() and text.isdigit() and int(text) > 0:
            yield int(text), f"{name}={text}"
            return


def _quota_limit(root: Path) -> Iterator[tuple[int, str]]:
    quotas = list(_quotas(root))
    if quotas:
        # 2.5 CPUs keep two workers busy; a third would be stopped for half of every period.
        quota, file = min(quotas)
        yield max(1, math.floor(quota)), f"the cgroup CPU quota of {quota:.4g} in {file}"


def _quotas(root: Path) -> Iterator[tuple[float, Path]]:
    """Every CPU quota that binds this process, in CPUs, and the file it was read from."""
    mounts = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            # Version 2; next to version 1 ("hybrid") it is mounted one level down.
            for folder in _upwards(group, mounts, mounts / "unified"):
                yield from _quota(folder / "cpu.max", _read(folder / "cpu.max"))
        elif "cpu" in controllers.split(","):
            # The folder is named after its controllers; "cpu" alone may be a link to it.
            for folder in _upwards(group, mounts / controllers, mounts / "cpu"):
                file = folder / "cpu.cfs_quota_us"
                yield from _quota(file, f"{_read(file)} {_read(folder / 'cpu.cfs_period_us')}")


def _upwards(group: str, *mounts: Path) -> list[Path]:
    """The folders of a control group and of all groups above it: each quota binds.

    A container may see the host's name of its group, whose folder does not exist here, or a
    name that climbs out of its namespace ("/../x"): then the top of the mount is its own group.
    """
    inside = PurePosixPath() if ".." in group.split("/") else PurePosixPath(group.lstrip("/"))
    return [mount / above for mount in mounts for above in (inside, *inside.parents)]


def _quota(file: Path, quota_and_period: str) -> Iterator[tuple[float, Path]]:
    match quota_and_period.split():
        case [quota, period] if quota.isdecimal() and period.isdecimal():  # not "max", not -1
            if int(quota) > 0 and int(period) > 0:
                yield int(quota) / int(period), file


def _read(file: Path) -> str:
    """The text of a file; empty if it cannot be read, because then it sets no limit."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
