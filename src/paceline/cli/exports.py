"""Files to write at the end: their options, for all commands that have a result."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paceline import exports
from paceline.errors import InvalidInput
from paceline.result import Result

# The option: what is written, how, and its help.
_OPTIONS: dict[str, tuple[str, Callable[[Result, Path], Path], str]] = {
    "export": (
        "arms",
        Result.export,
        "write the standings at the end, to a .csv, .json or .md file",
    ),
    "export_values": (
        "values",
        Result.export_values,
        "write the value, seed, time and cores of every pull, to a .csv or .json file",
    ),
    "export_hyperfine": (
        "hyperfine",
        Result.export_hyperfine,
        "write the times of commands (--value time) to a .json file that hyperfine's scripts read",
    ),
}


def add_exports(group: Any) -> None:
    """Declare the options."""
    for name, (_, _, text) in _OPTIONS.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", action="append", type=Path, metavar="FILE", help=text
        )


def check_exports(options: argparse.Namespace, value: str | None = None) -> None:
    """Refuse files that could not be written at the end.

    `value` is how values are read, if that is known: hyperfine's files hold times only.
    """
    for name, (what, _, _) in _OPTIONS.items():
        for path in getattr(options, name) or ():
            exports.check_place(path, what)
    if options.export_hyperfine and value not in (None, "time"):
        raise InvalidInput("--export-hyperfine writes times of commands: give --value time as well")


def write_exports(result: Result, options: argparse.Namespace) -> None:
    """Write what was asked for."""
    for name, (_, write, _) in _OPTIONS.items():
        for path in getattr(options, name) or ():
            try:
                write(result, path)
            except (OSError, InvalidInput) as error:
                # The verdict is worth more than the file: report this, and still print the verdict.
                why = error.strerror if isinstance(error, OSError) else str(error)
                print(f"paceline: cannot write {path}: {why}", file=sys.stderr)
