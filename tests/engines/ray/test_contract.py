"""The engine of Ray clusters keeps the laws of engines, on a real one."""

import pytest

from paceline.engines.base import Engine
from paceline.engines.ray import RayEngine
from paceline.testing import EngineContract


@pytest.mark.usefixtures("one_node")
class TestRay(EngineContract):
    def engine(self) -> Engine:
        return RayEngine()
