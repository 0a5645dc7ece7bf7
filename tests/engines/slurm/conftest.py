"""Allocations of the Slurm that these tests run in; `make test-slurm` starts one."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.slurm_cluster import Cluster


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster that runs on this machine."""
    configuration = os.environ.get("SLURM_CONF")
    if configuration is None:
        pytest.skip("no Slurm of its own runs here: try `make test-slurm`")
    return Cluster(Path(configuration).parent)


@pytest.fixture
def allocation(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A job with both nodes, of which the tests' own process is a part."""
    job = allocate(cluster)
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        if name != "SLURM_CONF":
            monkeypatch.delenv(name)
    monkeypatch.setenv("SLURM_JOB_ID", job)
    yield job
    cluster.ask("scancel", job)
    cluster.wait_until_idle()


def allocate(cluster: Cluster, *options: str) -> str:
    """Have a job with both nodes granted; return its number."""
    words = ["salloc", "--no-shell", "--nodes=2", "--exclusive", "--mem=0", "--no-kill", *options]
    done = subprocess.run(
        words, env=cluster.environment(), capture_output=True, text=True, timeout=60, check=True
    )
    found = re.search(r"job allocation (\d+)", done.stderr)
    assert found is not None, done.stderr
    return found[1]
