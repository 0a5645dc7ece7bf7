"""The local engine keeps the laws of engines."""

from paceline.engines.base import Engine
from paceline.engines.local import LocalEngine
from paceline.testing import EngineContract


class TestLocalWithoutForks(EngineContract):
    def engine(self) -> Engine:
        return LocalEngine(share=False)


class TestLocal(EngineContract):
    def engine(self) -> Engine:
        return LocalEngine()
