"""Slurm: every pull is a job step on exactly its cores, in an allocation that one already has.

A command is a step of its own (`commands.py`). Functions are evaluated by workers, which are steps
that stay (`functions.py`). `step.py` has what steps have in common, `workers.py` what looks after
them, and `batch.py` how a race gets its allocations one after the other.
"""

from paceline.engines.slurm.engine import SlurmEngine

__all__ = ["SlurmEngine"]
