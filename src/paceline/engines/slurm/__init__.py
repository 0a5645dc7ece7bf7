"""Slurm: every pull is a job step on exactly its cores, in an allocation that one already has.

A command is a step of its own (`commands.py`). Functions are evaluated by workers, which are steps
that stay (`functions.py`). `step.py` has what steps have in common, `workers.py` what looks after
them, and `batch.py` how a race gets its allocations one after the other.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.engines.slurm.engine import SlurmEngine

__all__ = ["SlurmEngine"]


def __getattr__(name: str) -> Any:
    """The engine, when it is asked for: the command line needs only the names of allocations."""
    if name == "SlurmEngine":
        from paceline.engines.slurm.engine import SlurmEngine

        return SlurmEngine
    raise AttributeError(name)
