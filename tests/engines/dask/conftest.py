"""A real cluster on loopback: two workers with twenty logical cores each."""

from collections.abc import Iterator
from typing import Any

import pytest

SHAPE: dict[str, Any] = {
    "n_workers": 2,
    "threads_per_worker": 20,
    "resources": {"cores": 20},
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",  # None would take port 8787, and warn if that is in use
}


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of a cluster that all tests share, which leave it as it was."""
    distributed = pytest.importorskip("distributed", reason="pip install 'paceline[dask]'")
    with (
        distributed.LocalCluster(**SHAPE) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
