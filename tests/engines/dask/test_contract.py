"""The Dask engine keeps the laws of engines, on a real cluster of two workers."""

from typing import Any

import pytest

from paceline.engines.base import Engine
from paceline.testing import EngineContract

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'paceline[dask]'")


class TestDask(EngineContract):
    @pytest.fixture(autouse=True)
    def _connect(self, client: Any) -> None:
        self.client = client

    def engine(self) -> Engine:
        from paceline.engines.dask import DaskEngine

        return DaskEngine(self.client)
