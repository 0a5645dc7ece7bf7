"""What pulls are: a Python function, or a command; as an order to a worker, and back as a value."""

import contextlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from paceline.commands import Command, NoValue
from paceline.engines.crew import Crew, Failure, Run
from paceline.errors import InvalidInput
from paceline.machine import AvailableCores

_ENOUGH_FOR_LAST = 1 << 16
_MOST_OUTPUT = 1 << 24  # the driver reads it, and must not be late for a deadline

SeedsOf = Callable[[int, int, int], list[int]]  # of an arm's pulls: arm, first, how many


class Work(Protocol):
    """What the pulls of a race are."""

    grouped: bool  # whether several pulls may go to a worker at once
    blob: bytes  # what a worker loads before its first pull
    most_output: int  # bytes, from the end, of what a command prints that are looked at

    def order(self, runs: Sequence[Run], cores: int) -> tuple[str, Any]:
        """What to send to a worker for these pulls."""

    def read(self, run: Run, cores: int, output: str, seconds: float) -> float | Failure:
        """The value of a pull whose process ended well."""


class Host(Protocol):
    """Where pulls run: what `engine=` of a race names, or is."""

    def available(self) -> AvailableCores:
        """The cores that a race may have here."""

    def crew(self, work: Work, cores: int) -> Crew:
        """Who does the work, on a pool of so many cores."""

    def clock(self) -> float:
        """Seconds since any moment: only differences count."""


class FunctionWork:
    """Pulls of a Python function of an arm, its seed and its cores."""

    grouped = True
    most_output = 0

    def __init__(
        self,
        evaluate: Callable[..., Any],
        arms: Sequence[Any],
        seeds: SeedsOf,
        *,
        takes_seed: bool,
        takes_cores: bool,
    ) -> None:
        import cloudpickle

        self.seeds = seeds
        self.takes_seed = takes_seed
        try:
            self.blob: bytes = cloudpickle.dumps((evaluate, list(arms), takes_seed, takes_cores))
        except Exception as error:  # whatever the user's objects raise when they are pickled
            raise InvalidInput(
                f"the function or the arms cannot be sent to a worker process ({error}): open "
                "files, locks, connections and random.SystemRandom inside the function, not outside"
            ) from error

    def order(self, runs: Sequence[Run], cores: int) -> tuple[str, Any]:
        """The arms, with the seed of every pull if the function takes one."""
        if self.takes_seed:
            return "function", [(run.arm, self.seeds(*run)) for run in runs]
        return "function", [(run.arm, (None,) * run.pulls) for run in runs]

    def read(self, run: Run, cores: int, output: str, seconds: float) -> float | Failure:
        """Never asked: functions return their values."""
        raise NotImplementedError


class CommandWork:
    """Pulls of a command, each a process of its own."""

    grouped = False
    blob = b""

    def __init__(self, command: Command, arms: Sequence[Mapping[str, Any]], seeds: SeedsOf) -> None:
        self.command = command
        self.most_output = _ENOUGH_FOR_LAST if command.value.kind == "last" else _MOST_OUTPUT
        self.arms = arms
        self.seeds = seeds

    def order(self, runs: Sequence[Run], cores: int) -> tuple[str, Any]:
        """The words, the environment and the folder of the one pull."""
        filled = self._fill(runs[0], cores)
        if filled.file is not None:
            with contextlib.suppress(OSError):
                os.unlink(filled.file)  # what is there now is of another pull
        return "command", (filled.argv, filled.environment, filled.cwd)

    def read(self, run: Run, cores: int, output: str, seconds: float) -> float | Failure:
        """The value in the output or in the file that the command wrote."""
        file = self._fill(run, cores).file
        if len(output) >= _MOST_OUTPUT:
            return Failure("no number", f"printed more than {_MOST_OUTPUT:,} bytes to search")
        try:
            text = None if file is None else Path(file).read_text(errors="replace")
            value = self.command.value.read(output, text, seconds)
        except OSError as error:
            return Failure("no number", f"wrote no file {file}: {error.strerror}")
        except NoValue as error:
            return Failure("no number", f"gave no number: {error}")
        return value if math.isfinite(value) else Failure("no number", f"gave {value}")

    def _fill(self, run: Run, cores: int) -> Any:
        seed = self.seeds(run.arm, run.first, 1)[0]
        return self.command.fill(self.arms[run.arm], seed=seed, cores=cores)
