"""Races that were never run, for tests of what is printed."""

import math
from dataclasses import fields
from typing import Any

import numpy as np

from paceline.core.noise import BERNOULLI
from paceline.result import Result
from paceline.story.standing import ArmRecord, Standing, Status
from paceline.story.story import Milestones, Outcome, Recipe, Story
from paceline.story.timeline import Timeline
from paceline.story.values import Values


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


def values() -> Values:
    """One value."""
    whole, number = np.array([1]), np.array([0.71])
    return Values(whole, whole - 1, number, number, whole, number)


def result(arms: list[ArmRecord] = ARMS, **changes: Any) -> Result:
    of_standing = {"pulls": 16, "busy_cores": 0} | _taken(Standing, changes)
    outcome: dict[str, Any] = {
        "index": 1,
        "decided": True,
        "verdict": "x=2 has the highest mean, with probability at least 0.95",
        "confidence": 0.95,
        "chosen": (1,),
        "still_in": (),
    } | _taken(Outcome, changes)
    story: dict[str, Any] = {
        "standing": standing(arms, **of_standing),
        "outcome": Outcome(**outcome),
        "timeline": timeline(),
        "values": values(),
        "milestones": Milestones(),
        "recipe": Recipe("the function f", {}, journal=changes.pop("journal", None)),
        "noise": BERNOULLI,
        "assumed": "values between 0 and 1",
        "level": 0.05,
        "core_seconds": 99.2,
    } | _taken(Story, changes)
    given: dict[str, Any] = {"best": {"x": "2"}, "story": Story(**story)}
    return Result(**given | changes)


def _taken(kind: type, changes: dict[str, Any]) -> dict[str, Any]:
    """What of the changes a dataclass has."""
    known = {field.name for field in fields(kind)}
    return {name: changes.pop(name) for name in list(changes) if name in known}
