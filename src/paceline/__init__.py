"""paceline: the best of many noisy options in the least wall-clock time."""

from paceline import theory
from paceline.core.assumptions import Assumptions, check_assumptions
from paceline.core.pool import CorePool
from paceline.core.problem import Bernoulli, Distributions, Evaluated, Normal, Problem
from paceline.core.scaling import Amdahl, Ernest, Measured, PowerLaw, Scaling
from paceline.errors import InvalidInput, MissingExtra, PacelineError, ScalingWarning
from paceline.policies.apr import APR
from paceline.policies.base import Policy
from paceline.policies.batch_racing import BatchRacing
from paceline.policies.lil_ucb import LilUCB
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.policies.ucb_e import UCBE
from paceline.policies.uniform import Uniform
from paceline.simulation import Simulation, simulate

__version__ = "0.1.0"

__all__ = [
    "APR",
    "SSH",
    "UCBE",
    "Amdahl",
    "Assumptions",
    "BatchRacing",
    "Bernoulli",
    "CorePool",
    "Distributions",
    "Ernest",
    "Evaluated",
    "InvalidInput",
    "LilUCB",
    "Measured",
    "MissingExtra",
    "Normal",
    "PacelineError",
    "Policy",
    "PowerLaw",
    "Problem",
    "Scaling",
    "ScalingWarning",
    "SequentialHalving",
    "Simulation",
    "Uniform",
    "check_assumptions",
    "simulate",
    "theory",
]
