"""What an engine is: where pulls run. `engine=` of a race takes one, or its name.

An engine says how many cores there are and what it can do; `open` gives the workers of one race.
Workers are given jobs whose cores fit into the pool, and report what happens to them as events.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from paceline.engines.events import Event
from paceline.engines.jobs import Job
from paceline.engines.workload import Workload
from paceline.machine import AvailableCores


@dataclass(frozen=True)
class Abilities:
    """What an engine can do. What it cannot do is refused, or reported, before a race begins."""

    kill: bool  # end a job in the middle of a pull, with everything the pull started
    pin: bool  # keep pulls that run side by side from using each other's cores
    commands: bool  # run commands, not only functions
    group: int  # the most pulls of a function that a job may have
    survives_driver: bool  # whether jobs go on when the race's own process has ended
    group_seconds: float = 0.005  # of work in a job of short pulls: its overhead is then small
    memory: bool = False  # keep the memory of a pull for it, or count it
    gpus: bool = False  # give pulls devices instead of cores
    resizes: bool = False  # report that the pool has shrunk or grown
    hurries: bool = True  # whether a pull that takes far too long had better give way to others
    prints: bool = False  # tell what pulls print
    replaces: bool = True  # start another worker where one has died, and a fresh one if asked to


def offers(abilities: Abilities) -> str:
    """What an engine can do and what it cannot, in a line.

    >>> offers(Abilities(kill=False, pin=True, commands=True, group=1, survives_driver=False))
    'runs functions and commands, on cores of their own; cannot end a pull (no timeout, no backups)'
    """
    runs = "functions and commands" if abilities.commands else "functions"
    pinned = "on cores of their own" if abilities.pin else "cores are counted, not kept apart"
    parts = [f"runs {runs}, {pinned}"]
    if abilities.resizes:
        parts.append("nodes may come and go")
    if not abilities.kill:
        parts.append("cannot end a pull (no timeout, no backups)")
    if not abilities.replaces:
        parts.append("a worker that dies may stop the race")
    if abilities.survives_driver:
        parts.append("pulls may go on after the race's process has ended")
    return "; ".join(parts)


class Workers(Protocol):
    """Runs the jobs of one race. Whoever gives them out makes sure that their cores fit."""

    def start(self, job: Job) -> None:
        """Begin a job. If it cannot begin at once, `Loading` is its first event.

        If the machine is short of something that it takes, `Lost` says so: nothing is raised.
        """

    def end(self, job: int) -> None:
        """End a job and everything it started; its last event comes when all of that is gone.

        It is called only if the engine can `kill`.
        """

    def wait(self, seconds: float | None) -> list[Event]:
        """Wait until something happens, at most `seconds`, and return what did."""

    def close(self) -> None:
        """End everything, and leave nothing behind."""


@runtime_checkable
class MayStarve(Protocol):
    """Workers of a machine that may be so full of others' work that the race itself is late.

    Workers may be this as well; a race then stops before its deadline by what it will be late.
    """

    @property
    def starved_seconds(self) -> float:
        """How long this process was kept from its work at worst, not long ago."""


class Engine(Protocol):
    """Where pulls run. One engine may serve several races, one after the other or at once."""

    @property
    def name(self) -> str:
        """What it is called in the catalog and in journals."""

    @property
    def abilities(self) -> Abilities:
        """What it can do."""

    def available(self) -> AvailableCores:
        """How many cores a race may have here, and why that many."""

    def open(self, workload: Workload, cores: int) -> Workers:
        """The workers of a race on a pool of `cores` cores; refuses what it could never run."""

    def now(self) -> float:
        """Seconds since an arbitrary moment: only differences count."""
