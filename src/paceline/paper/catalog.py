"""The experiments by name: one line each."""

from collections.abc import Callable

from paceline.paper import bounds, confidence, cosmology, deadline, setting, strategies
from paceline.paper.report import Report, Setup

EXPERIMENTS: dict[str, Callable[[Setup], Report]] = {
    "setting": setting.reproduce,
    "strategies": strategies.reproduce,
    "confidence": confidence.reproduce,
    "deadline": deadline.reproduce,
    "theory": bounds.reproduce,
    "cosmology": cosmology.reproduce,
}
