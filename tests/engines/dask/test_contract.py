"""The Dask engine keeps the laws of engines, on a real cluster of two workers."""

from pathlib import Path
from typing import Any

import pytest

from paceline.engines.base import Engine
from paceline.testing import EngineContract

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'paceline[dask]'")


class Laws(EngineContract):
    client: Any = None

    def engine(self) -> Engine:
        from paceline.engines.dask import DaskEngine

        return DaskEngine(self.client)


@pytest.mark.engines
class TestDask(Laws):
    @pytest.fixture(autouse=True)
    def _connect(self, client: Any) -> None:
        self.client = client


def test_the_laws_that_matter_most(client: Any, tmp_path: Path) -> None:
    """All of them take a minute: make test-engines."""
    laws = Laws()
    laws.client = client
    laws.test_values_come_in_turn_with_their_seeds_and_cores()
    laws.test_a_job_that_is_ended_is_lost_and_others_go_on()
    laws.test_a_race_has_the_values_and_the_verdict_that_it_has_anywhere(tmp_path)
