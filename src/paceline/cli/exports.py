"""Files to write at the end: their options, for all commands that have a result."""

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
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


def add_exports(group: Any, *, may_print: bool = False) -> None:
    """Declare the options; with `may_print`, a format in place of a file is for stdout."""
    for name, (what, _, text) in _OPTIONS.items():
        if may_print:
            *others, last = _formats(what)
            formats = f"{', '.join(others)} or {last}" if others else last
            text = f"{text.replace(' at the end', '')}; {formats} alone prints it"
        group.add_argument(
            f"--{name.replace('_', '-')}", action="append", type=Path, metavar="FILE", help=text
        )


def take_printed(options: argparse.Namespace) -> tuple[str, str] | None:
    """What is to be printed: an option and its format; all other exports are to files."""
    found: list[tuple[str, str]] = []
    for name, (what, _, _) in _OPTIONS.items():
        given, formats = getattr(options, name) or [], _formats(what)
        found += [(name, str(path)) for path in given if str(path) in formats]
        setattr(options, name, [path for path in given if str(path) not in formats])
    asked = [f"--{name.replace('_', '-')} {ending}" for name, ending in found]
    asked += ["--json"] * bool(options.json)
    if found and len(asked) > 1:
        raise InvalidInput(
            f"{' and '.join(asked)} would all be printed: write some into files, as in "
            f"{asked[0].partition(' ')[0]} race.{found[0][1]}"
        )
    return found[0] if found else None


def print_export(result: Result, option: str, ending: str) -> None:
    """Print what an option would write."""
    with TemporaryDirectory(prefix="paceline-") as folder:
        path = _OPTIONS[option][1](result, Path(folder, f"race.{ending}"))
        with path.open(encoding="utf-8", newline="") as stream:
            shutil.copyfileobj(stream, sys.stdout)


def _formats(what: str) -> list[str]:
    return [ending.removeprefix(".") for ending in exports.ENDINGS[what]]


def check_exports(options: argparse.Namespace, value: str | None = None) -> None:
    """Refuse files that could not be written at the end.

    `value` is how values are read, if that is known: hyperfine's files hold times only.
    """
    for name, (what, _, _) in _OPTIONS.items():
        for path in getattr(options, name) or ():
            exports.check_place(path, what)
    if options.export_hyperfine and value not in (None, "time"):
        raise InvalidInput("--export-hyperfine writes times of commands: give --value time as well")


def write_exports(result: Result, options: argparse.Namespace) -> bool:
    """Write what was asked for; returns whether all could be written."""
    well = True
    for name, (_, write, _) in _OPTIONS.items():
        for path in getattr(options, name) or ():
            try:
                write(result, path)
            except (OSError, InvalidInput) as error:
                # The verdict is worth more than the file: report this, and still print the verdict.
                why = error.strerror if isinstance(error, OSError) else str(error)
                print(f"paceline: cannot write {path}: {why}", file=sys.stderr)
                well = False
    return well
