"""Races that were never run, for tests of what is printed."""

import math
from dataclasses import fields
from typing import Any

import numpy as np

from paceline.result import ArmRecord, Result, Standing, Status
from paceline.timeline import Timeline


def arm(
    index: int, label: str, mean: float, status: Status = "in", *, half: float = 0.1, pulls: int = 8
) -> ArmRecord:
    return ArmRecord(index, label, mean, mean - half, mean + half, pulls, status, pulls * 0.5)


def standing(arms: list[ArmRecord], **changes: Any) -> Standing:
    values: dict[str, Any] = {
        "elapsed": 12.4,
        "deadline": None,
        "rounds": 3,
        "pulls": sum(record.pulls for record in arms),
        "cores": 16,
        "busy_cores": 14,
        "arms": tuple(arms),
        "minimize": False,
    }
    return Standing(**values | changes)


def timeline() -> Timeline:
    """Eight of sixteen cores were in use all the time."""
    return Timeline(
        arm=np.array([1]),
        first=np.array([0]),
        pulls=np.array([16]),
        cores=np.array([8]),
        end=np.array([12.4]),
        seconds=np.array([12.4]),
        use=np.array([0]),
        pool=((0.0, 16),),
        elapsed=12.4,
    )


ARMS = [
    arm(0, "x=1", 0.31, "out"),
    arm(1, "x=2", 0.71, "best"),
    ArmRecord(2, "x=3", math.nan, math.nan, math.nan, 0, "failed", 0.0, "exit status 1"),
]


def result(arms: list[ArmRecord] = ARMS, **changes: Any) -> Result:
    values: dict[str, Any] = {
        "best": {"x": "2"},
        "index": 1,
        "decided": True,
        "verdict": "x=2 has the highest mean, with probability at least 0.95",
        "confidence": 0.95,
        "chosen": (1,),
        "still_in": (),
        "core_seconds": 99.2,
        "scaling": None,
        "assumed": "values between 0 and 1",
        "failures": (),
        "timeline": timeline(),
        "journal": None,
    }
    known = {field.name for field in fields(Standing)}
    last = {name: changes.pop(name) for name in list(changes) if name in known}
    last = {"pulls": 16, "busy_cores": 0} | last
    return Result(standing=standing(arms, **last), **values | changes)
