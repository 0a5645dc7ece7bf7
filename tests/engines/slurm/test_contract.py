"""The engine of Slurm keeps the laws of engines, in an allocation of a real Slurm."""

import pytest

from paceline.engines.base import Engine
from paceline.engines.slurm import SlurmEngine
from paceline.testing import EngineContract

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("allocation")]


class TestSlurm(EngineContract):
    def engine(self) -> Engine:
        return SlurmEngine()
