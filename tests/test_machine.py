import os
from pathlib import Path

import pytest

from paceline.machine import AvailableCores, available_cores


def system(root: Path, groups: str, files: dict[str, str]) -> Path:
    """A root folder with /proc/self/cgroup and some files under /sys/fs/cgroup."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def cores_in(root: Path, cpus: int = 8) -> AvailableCores:
    return available_cores({}, root, affinity=range(cpus))


@pytest.mark.parametrize(
    ("environment", "cores"),
    [
        ({}, 8),
        ({"SLURM_CPUS_PER_TASK": "4"}, 4),
        ({"SLURM_CPUS_ON_NODE": "6"}, 6),
        ({"SLURM_CPUS_PER_TASK": "4", "SLURM_CPUS_ON_NODE": "2"}, 4),
        ({"SLURM_CPUS_PER_TASK": "64"}, 8),
        ({"SLURM_CPUS_PER_TASK": "4(x2)", "SLURM_CPUS_ON_NODE": "5"}, 5),
        ({"SLURM_CPUS_PER_TASK": ""}, 8),
        ({"SLURM_CPUS_PER_TASK": "0"}, 8),
        ({"SLURM_CPUS_PER_TASK": "-2"}, 8),
        ({"SLURM_CPUS_PER_TASK": "²"}, 8),
    ],
)
def test_slurm_and_the_mask(tmp_path: Path, environment: dict[str, str], cores: int) -> None:
    assert available_cores(environment, tmp_path, affinity=range(8)).cores == cores


def test_the_mask_need_not_begin_at_zero(tmp_path: Path) -> None:
    here = available_cores({}, tmp_path, affinity={9, 3, 4})
    assert here == AvailableCores(3, "the affinity mask, which holds 3", (3, 4, 9))


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("max 100000\n", 8),
        ("200000 100000\n", 2),
        ("250000 100000\n", 2),
        ("50000 100000\n", 1),
        ("1600000 100000\n", 8),
        ("nonsense\n", 8),
        ("", 8),
        ("100000 0\n", 8),
    ],
)
def test_the_quota_of_version_2(tmp_path: Path, text: str, cores: int) -> None:
    root = system(tmp_path, "0::/user.slice/job\n", {"user.slice/job/cpu.max": text})
    assert cores_in(root).cores == cores


def test_the_tightest_group_above_binds_and_is_named(tmp_path: Path) -> None:
    files = {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "cpu.max": "500000 100000"}
    here = cores_in(system(tmp_path, "0::/a/b\n", files))
    assert here.cores == 3
    assert here.source == f"the cgroup CPU quota of 3 in {tmp_path}/sys/fs/cgroup/a/cpu.max"
    assert here.cpu_ids == tuple(range(8))


@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("350000", 3), ("1000", 1)])
def test_the_quota_of_version_1(tmp_path: Path, folder: str, quota: str, cores: int) -> None:
    groups = "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n"
    files = {
        f"{folder}/job/cpu.cfs_quota_us": quota,
        f"{folder}/job/cpu.cfs_period_us": "100000",
        "memory/job/cpu.cfs_quota_us": "100000",  # another hierarchy: not ours
        "memory/job/cpu.cfs_period_us": "100000",
    }
    assert cores_in(system(tmp_path, groups, files)).cores == cores


def test_a_cpuset_is_no_quota(tmp_path: Path) -> None:
    files = {"cpuset/cpu.cfs_quota_us": "100000", "cpuset/cpu.cfs_period_us": "100000"}
    assert cores_in(system(tmp_path, "3:cpuset:/\n", files)).cores == 8


def test_the_hybrid_layout(tmp_path: Path) -> None:
    groups = "2:cpu:/\n0::/job:1/step\n"
    files = {
        "cpu/cpu.cfs_quota_us": "-1",
        "cpu/cpu.cfs_period_us": "100000",
        "unified/job:1/cpu.max": "400000 100000",
    }
    assert cores_in(system(tmp_path, groups, files)).cores == 4


@pytest.mark.parametrize("group", ["/docker/0123", "/../0123", "/"])
def test_in_a_container_the_top_is_its_own_group(tmp_path: Path, group: str) -> None:
    assert cores_in(system(tmp_path, f"0::{group}\n", {"cpu.max": "200000 100000"})).cores == 2


def test_a_name_outside_the_namespace_is_no_folder_inside(tmp_path: Path) -> None:
    files = {"neighbour/cpu.max": "100000 100000"}
    assert cores_in(system(tmp_path, "0::/../neighbour\n", files)).cores == 8


def test_files_that_cannot_be_read_set_no_limit(tmp_path: Path) -> None:
    root = system(tmp_path, "0::/\n", {})
    (root / "sys/fs/cgroup/cpu.max").mkdir(parents=True)
    assert cores_in(root).cores == 8


def test_the_least_of_all_wins(tmp_path: Path) -> None:
    root = system(tmp_path, "0::/\n", {"cpu.max": "300000 100000"})
    slurm = {"SLURM_CPUS_PER_TASK": "2"}
    assert str(available_cores(slurm, root, range(8))) == "2 cores (SLURM_CPUS_PER_TASK=2)"
    assert str(available_cores({}, root, [5])) == "1 core (the affinity mask, which holds 1)"


def test_this_machine() -> None:
    here = available_cores()
    assert 1 <= here.cores <= len(here.cpu_ids)
    assert set(here.cpu_ids) == os.sched_getaffinity(0)
