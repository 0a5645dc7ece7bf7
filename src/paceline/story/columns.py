"""What is known of a race's arms, as columns: for data frames and for files."""

import math
from collections.abc import Mapping
from typing import Any

from paceline.story.frames import parameter_columns
from paceline.story.story import Story

_COLUMNS = ("index", "label", "mean", "low", "high", "pulls", "status", "seconds", "failure")


def arm_columns(story: Story) -> dict[str, list[Any]]:
    """The arms, the best first, with a column per parameter."""
    rows = story.standing.ranked()
    columns = {name: [getattr(row, name) for row in rows] for name in _COLUMNS}
    return columns | parameter_columns([story.parameters_of(row.index) for row in rows], _COLUMNS)


def plain_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for JSON, which has no NaN and no infinity: None.

    >>> plain_parameters({"x": 1, "y": float("inf")})
    {'x': 1, 'y': None}
    """
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in given.items()
    }
