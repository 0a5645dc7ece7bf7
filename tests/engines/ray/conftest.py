"""A real Ray on the loopback device, for the tests of this folder."""

import os
from collections.abc import Iterator

import pytest

# Before Ray is imported: nothing is reported to anybody, nothing listens outside this machine, and
# no token is written into the home folder.
os.environ.update(
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
    RAY_AUTH_MODE="disabled",
    RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",  # it warns of a change to come otherwise
)

STORE_BYTES = 80 << 20


@pytest.fixture(scope="module")  # a process is connected to one cluster at a time
def one_node() -> Iterator[None]:
    """A cluster of one node with four cores; this process is connected to it."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'paceline[ray]'")
    ray.init(
        "local",
        num_cpus=4,
        include_dashboard=False,
        object_store_memory=STORE_BYTES,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield
    ray.shutdown()
