"""The local engine keeps the laws of engines."""

from paceline.engines.base import Engine
from paceline.engines.local import LocalEngine
from paceline.testing import EngineContract


class TestLocal(EngineContract):
    def engine(self) -> Engine:
        return LocalEngine()
