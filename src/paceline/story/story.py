"""Everything that can be told of a race: pages, plots and tables are made of this alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paceline.characters import shown
from paceline.commands import Command
from paceline.core.noise import Noise
from paceline.core.pool import CorePool
from paceline.story.printouts import Printouts
from paceline.story.standing import Standing
from paceline.story.timeline import Timeline
from paceline.story.values import Values


@dataclass(frozen=True)
class Outcome:
    """How a race ended, or stands; if it is undecided, `index` is the arm in the lead."""

    index: int  # −1 if there is no value at all
    decided: bool
    verdict: str  # in a sentence
    confidence: float | None  # what is guaranteed; None if nothing is
    chosen: tuple[int, ...]  # with `top`, all of the best
    still_in: tuple[int, ...]  # the arms among which it is undecided
    ended: bool = True


@dataclass(frozen=True)
class Trouble:
    """A pull that failed: for the `attempt`-th time, why, and what it printed.

    `detail` has the traceback, if there is one, and all that was printed.
    """

    at: float
    arm: int
    pull: int
    attempt: int
    kind: str
    message: str
    detail: str = ""
    printed: str = ""


@dataclass(frozen=True)
class Milestones:
    """When what happened, in seconds of the race.

    `falls` has the moment from which on an arm was out, and `rounds` the end of each round.
    `sessions` has when each process began that ran the race, its host and the date, and `nodes`
    the cores of each node from a moment on.
    """

    falls: Mapping[int, float] = field(default_factory=dict)
    rounds: tuple[float, ...] = ()
    sessions: tuple[tuple[float, str, str], ...] = ()
    nodes: tuple[tuple[float, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Recipe:
    """What a race is made of, and how to run it again."""

    what: str  # the command, or the name of the function
    options: Mapping[str, Any]  # as given, plain values
    versions: Mapping[str, str] = field(default_factory=dict)
    journal: str | None = None
    command: Command | None = None  # if it is a race of commands

    @property
    def is_timed(self) -> bool:
        """Whether the values are times of commands."""
        return self.command is not None and self.command.is_timed


@dataclass(frozen=True, eq=False, repr=False)
class Story:
    """A race from its first pull to now, or to its end."""

    standing: Standing
    outcome: Outcome
    timeline: Timeline
    values: Values
    milestones: Milestones
    recipe: Recipe
    noise: Noise  # as assumed by now
    assumed: str  # the same in words
    level: float  # 1 − the confidence of the intervals, for all arms together
    core_seconds: float = 0.0  # of all pulls, also those that were cancelled
    scaling: CorePool | None = None  # as given, or as learned so far
    troubles: tuple[Trouble, ...] = ()
    printed: Printouts = Printouts()  # noqa: RUF009 - it is frozen
    parameters: tuple[Mapping[str, Any] | None, ...] = ()  # of each arm, if it has any

    def parameters_of(self, arm: int) -> Mapping[str, Any]:
        """The parameters of an arm by name; none if it has no names for them."""
        return (self.parameters[arm] if self.parameters else None) or {}

    def __repr__(self) -> str:
        return f"<Story of {shown(self.recipe.what)}: {shown(self.outcome.verdict)}>"

    def _repr_html_(self) -> str:
        from paceline.story.markup import of_result  # which knows this module

        return of_result(self.standing, self.outcome)
