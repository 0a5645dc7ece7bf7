"""What an engine is: where pulls run, and what `engine=` of a race names, or is.

An engine says how much there is and what it can do; `open` gives the workers of one race. Those are
given jobs whose cores fit into the pool, and report what happens to them as events.
"""

from dataclasses import dataclass
from typing import Protocol

from paceline.engines.events import Event
from paceline.engines.jobs import Job
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores


@dataclass(frozen=True)
class Abilities:
    """What an engine can do. What it cannot is refused, or said, before a race begins."""

    kill: bool  # end a job in the midst of a pull, with all that the pull started
    pin: bool  # keep pulls that run at once from using each other's cores
    commands: bool  # run commands, not only functions
    group: int  # the most pulls of a function that a job may have
    survives_driver: bool  # whether jobs go on when the race's own process has ended


class Workers(Protocol):
    """Runs the jobs of one race. Whoever gives them out sees to it that their cores fit."""

    def start(self, job: Job) -> None:
        """Begin a job. If it cannot begin at once, `Loading` is the first that is heard of it."""

    def end(self, job: int) -> None:
        """End a job and all that it started; the event that it has ended comes when it is gone."""

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, for so many seconds at most, and say what."""

    def close(self) -> None:
        """End everything, and leave nothing behind."""


class Engine(Protocol):
    """Where pulls run. One engine may serve several races, one after the other or at once."""

    @property
    def name(self) -> str:
        """What it is called in the catalog and in journals."""

    @property
    def abilities(self) -> Abilities:
        """What it can do."""

    def available(self) -> AvailableCores:
        """How many cores a race may have here, and why so many."""

    def open(self, workload: Workload, cores: int) -> Workers:
        """The workers of a race on a pool of so many cores; refuses what it could never run."""

    def now(self) -> float:
        """Seconds since any moment: only differences count."""
