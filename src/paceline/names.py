"""The public names of paceline, which has each as its own: `paceline.race`, …"""

from paceline import theory
from paceline.commands import Command
from paceline.core.assumptions import Assumptions, check_assumptions
from paceline.core.evaluated import Evaluated
from paceline.core.measured import Measured
from paceline.core.pool import CorePool
from paceline.core.problem import Bernoulli, Distributions, Normal, Problem
from paceline.core.scaling import Amdahl, Ernest, PowerLaw, Scaling
from paceline.engines.base import Engine
from paceline.errors import (
    Interrupted,
    InvalidInput,
    MissingExtra,
    PacelineError,
    RaceFailed,
    RaceWarning,
    ScalingWarning,
)
from paceline.planning import Plan, plan
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.batch_racing import BatchRacing
from paceline.policies.lil_ucb import LilUCB
from paceline.policies.racing import Racing
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.staged import Staged
from paceline.policies.timed import Timed
from paceline.policies.ucb_e import UCBE
from paceline.policies.uniform import Uniform
from paceline.races import Pull, Race, profile, race, resume
from paceline.races import open_journal as open  # noqa: A004
from paceline.result import Result
from paceline.simulation import Simulation, simulate
from paceline.story.standing import ArmRecord, Standing
from paceline.story.story import Story
from paceline.story.timeline import CoreTime, Timeline
from paceline.story.values import Values

__all__ = [
    "APR",
    "SSH",
    "UCBE",
    "Amdahl",
    "ArmRecord",
    "Assumptions",
    "BatchRacing",
    "Bernoulli",
    "Command",
    "CorePool",
    "CoreTime",
    "Distributions",
    "Engine",
    "Ernest",
    "Evaluated",
    "Interrupted",
    "InvalidInput",
    "LilUCB",
    "Measured",
    "MissingExtra",
    "Normal",
    "PacelineError",
    "Plan",
    "Policy",
    "PowerLaw",
    "Problem",
    "Pull",
    "Race",
    "RaceFailed",
    "RaceWarning",
    "Racing",
    "Result",
    "Scaling",
    "ScalingWarning",
    "SequentialHalving",
    "Simulation",
    "Staged",
    "Standing",
    "Story",
    "Timed",
    "Timeline",
    "Uniform",
    "Values",
    "check_assumptions",
    "open",
    "plan",
    "profile",
    "race",
    "resume",
    "simulate",
    "theory",
]
