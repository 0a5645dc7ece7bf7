"""The engine of Ray clusters keeps the laws of engines, on a real one."""

from pathlib import Path

import pytest

from paceline.engines.base import Engine
from paceline.engines.ray import RayEngine
from paceline.testing import EngineContract


@pytest.mark.engines
@pytest.mark.usefixtures("one_node")
class TestRay(EngineContract):
    def engine(self) -> Engine:
        return RayEngine()


@pytest.mark.usefixtures("one_node")
def test_the_laws_that_matter_most(tmp_path: Path) -> None:
    """All of them take a minute: make test-engines."""
    laws = TestRay()
    laws.test_values_come_in_turn_with_their_seeds_and_cores()
    laws.test_a_job_that_is_ended_is_lost_and_others_go_on()
    laws.test_a_race_has_the_values_and_the_verdict_that_it_has_anywhere(tmp_path)
