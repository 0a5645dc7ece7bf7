"""What can be known before a race: the oracle's time, upper and lower bounds, stages to combine.

It may import only `core`.
"""

from paceline.theory.chain import Chain, chain_sizes, plan_chain
from paceline.theory.confidence import (
    gaps_of,
    lower_bound,
    optimal_seconds,
    pulls_needed,
    sequential_seconds,
    upper_bound,
)
from paceline.theory.cuts import (
    chain_bound,
    closed_bound,
    cut_bound,
    floor_bound,
    rate_hardness,
    rates,
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
from paceline.theory.raceplan import RacePlan, plan_race

__all__ = [
    "Chain",
    "RacePlan",
    "Stage",
    "bottleneck",
    "chain_bound",
    "chain_sizes",
    "closed_bound",
    "cut_bound",
    "floor_bound",
    "gaps_of",
    "hardness",
    "lower_bound",
    "optimal_seconds",
    "oracle_schedule",
    "oracle_seconds",
    "plan_chain",
    "plan_race",
    "pulls_needed",
    "rate_hardness",
    "rates",
    "schedule_seconds",
    "sequential_seconds",
    "stage_count",
    "stage_unit",
    "stages_to_combine",
    "success_bound",
    "upper_bound",
]
