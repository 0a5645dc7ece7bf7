"""What can be known before a race: the oracle's time, upper and lower bounds, stages to combine.

May import `core` only.
"""

from paceline.theory.confidence import (
    gaps_of,
    lower_bound,
    optimal_seconds,
    pulls_needed,
    sequential_seconds,
    upper_bound,
)
from paceline.theory.deadline import (
    bottleneck,
    hardness,
    stage_count,
    stage_unit,
    stages_to_combine,
    success_bound,
)
from paceline.theory.program import Stage, oracle_schedule, oracle_seconds, schedule_seconds

__all__ = [
    "Stage",
    "bottleneck",
    "gaps_of",
    "hardness",
    "lower_bound",
    "optimal_seconds",
    "oracle_schedule",
    "oracle_seconds",
    "pulls_needed",
    "schedule_seconds",
    "sequential_seconds",
    "stage_count",
    "stage_unit",
    "stages_to_combine",
    "success_bound",
    "upper_bound",
]
