"""How a race ended: what `paceline.race` returns."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, get_args

from paceline import exports
from paceline.characters import visible
from paceline.core.pool import CorePool
from paceline.story.brief import describe_result
from paceline.story.columns import arm_columns, plain_parameters
from paceline.story.frames import frame
from paceline.story.markup import of_result
from paceline.story.printouts import Printouts
from paceline.story.standing import ArmRecord, Standing, Status
from paceline.story.story import Story
from paceline.story.timeline import CoreTime, Timeline
from paceline.story.values import Values

if TYPE_CHECKING:  # before Python 3.13, only type checkers know defaults of type variables
    from typing_extensions import TypeVar

    from paceline.plots import Plots

    Arm = TypeVar("Arm", covariant=True, default=Any)
else:
    from typing import TypeVar

    Arm = TypeVar("Arm", covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Result(Generic[Arm]):
    """How a race ended. If it is undecided, `best` is the arm in the lead.

    If no pull gave a value, `best` is None and `index` is −1. `story` has all that is known of the
    race; what most people ask for is available here as well.
    """

    best: Arm
    story: Story
    failures: tuple[str, ...] = ()  # what went wrong, also if a retry helped

    @property
    def index(self) -> int:
        """The place of the best arm; −1 if there is none."""
        return self.story.outcome.index

    @property
    def label(self) -> str | None:
        """What the best arm is called; None if there is none."""
        return self.arms[self.index].label if self.index >= 0 else None

    @property
    def decided(self) -> bool:
        """Whether the race came to its goal."""
        return self.story.outcome.decided

    @property
    def verdict(self) -> str:
        """What is known about the best arm, in a sentence."""
        return self.story.outcome.verdict

    @property
    def confidence(self) -> float | None:
        """What is guaranteed; None if nothing is.

        If a deadline came before the confidence asked for, it is the highest at which the race
        would have been decided by then. That is not the probability that this answer is right,
        since the values chose it (see docs/noise.md).
        """
        return self.story.outcome.confidence

    @property
    def chosen(self) -> tuple[int, ...]:
        """With `top`, the places of all of the best; otherwise of the best one."""
        return self.story.outcome.chosen

    @property
    def still_in(self) -> tuple[int, ...]:
        """The arms among which it is undecided; none if it is decided."""
        return self.story.outcome.still_in

    @property
    def standing(self) -> Standing:
        """How the race stood at the end."""
        return self.story.standing

    @property
    def arms(self) -> tuple[ArmRecord, ...]:
        """A record per arm, in the order in which the arms were given."""
        return self.standing.arms

    @property
    def elapsed(self) -> float:
        """How many seconds the race ran."""
        return self.standing.elapsed

    @property
    def pulls(self) -> int:
        """How many pulls gave a value."""
        return self.standing.pulls

    @property
    def rounds(self) -> int:
        """How many rounds the policy asked for."""
        return self.standing.rounds

    @property
    def cores(self) -> int:
        """The cores of the pool."""
        return self.standing.cores

    @property
    def minimize(self) -> bool:
        """Whether the lowest mean is the best."""
        return self.standing.minimize

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong about the values, and what to do."""
        return self.standing.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """With which changes the race was resumed; or that it had ended, and nothing was run."""
        return self.standing.notes

    @property
    def values(self) -> Values:
        """A row per pull: arm, number, seed, value, seconds, cores and when it ended."""
        return self.story.values

    @property
    def printed(self) -> Printouts:
        """What pulls printed, as far as it is kept; `.of(arm)` has that of an arm."""
        return self.story.printed

    @property
    def timeline(self) -> Timeline:
        """What every core was used for, and when."""
        return self.story.timeline

    @property
    def core_seconds(self) -> float:
        """The core time of all pulls, also of those that were cancelled."""
        return self.story.core_seconds

    @property
    def scaling(self) -> CorePool | None:
        """As given, or as learned; None if the race ended too early to learn it."""
        return self.story.scaling

    @property
    def assumed(self) -> str:
        """What was assumed about the noise."""
        return self.story.assumed

    @property
    def journal(self) -> str | None:
        """Where the race was recorded."""
        return self.story.recipe.journal

    @property
    def core_time(self) -> CoreTime:
        """How the time of the pool's cores was spent."""
        return self.timeline.core_time()

    def to_frame(self) -> Any:
        """The arms as a pandas data frame, the best first, with a column per parameter.

        The column `status` is categorical: best, in, out, failed, in this order.
        """
        return frame(arm_columns(self.story), "arms", ordered={"status": get_args(Status)})

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the arms to a .csv, .json or .md file, the best first, with their parameters."""
        return exports.write_arms(path, self.story, self.to_json())

    def export_values(self, path: str | os.PathLike[str]) -> Path:
        """Write every value to a .csv or .json file, a row per pull, with its arm's parameters."""
        return exports.write_values(path, self.values)

    def export_hyperfine(self, path: str | os.PathLike[str]) -> Path:
        """Write the times of commands to a .json file as hyperfine does, for tools that read it."""
        return exports.write_hyperfine(path, self.story)

    @property
    def plot(self) -> "Plots":
        """Pictures: `.standings()`, `.race()`, `.pool()`, `.scaling()`.

        Each returns matplotlib's `Axes`. They need the extra `figures` (docs/results.md).
        """
        from paceline.plots import Plots  # here, because most races need no picture

        return Plots(self.story)

    def report(self, path: str | os.PathLike[str] = "race.html") -> Path:
        """Write one self-contained page about the race, and say where it is: docs/report.md.

        It needs the extra `report`. A file that exists is replaced once the new one is whole.
        """
        from paceline.report import write  # here, because most races need no page

        return write(self.story, path)

    def saying(self, verdict: str) -> "Result[Arm]":
        """The same with another sentence: the one that was recorded."""
        outcome = replace(self.story.outcome, verdict=verdict)
        return replace(self, story=replace(self.story, outcome=outcome))

    def ranked(self) -> list[ArmRecord]:
        """The arms, the best first."""
        return self.standing.ranked()

    def to_json(self) -> dict[str, Any]:
        """Plain values, for scripts; unknown numbers are None."""
        arms = [
            record.to_json() | {"parameters": plain_parameters(self.story.parameters_of(index))}
            for index, record in enumerate(self.arms)
        ]
        return {
            "best": self.label,
            "index": self.index,
            "decided": self.decided,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "chosen": list(self.chosen),
            "still_in": list(self.still_in),
            "arms": arms,
            "elapsed": self.elapsed,
            "core_seconds": self.core_seconds,
            "core_time": self.core_time.to_json(),
            "pulls": self.pulls,
            "rounds": self.rounds,
            "assumed": self.assumed,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "journal": self.journal,
        }

    def __str__(self) -> str:
        return visible(self.verdict)

    def __repr__(self) -> str:
        return describe_result(self.standing, self.story.outcome, len(self.failures))

    def _repr_html_(self) -> str:
        return of_result(self.standing, self.story.outcome, self.failures)
