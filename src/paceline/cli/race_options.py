"""Options that several commands share, and what they become as arguments of `paceline.race`."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from paceline import real
from paceline.cli.answer import finish
from paceline.cli.exports import check_exports
from paceline.commands import Command
from paceline.display.screen import Screen, make_screen
from paceline.display.window import print_facts
from paceline.errors import InvalidInput
from paceline.notation import parse_policy, parse_scaling
from paceline.racefile import RaceFile, read_race_file

FILE_HELP = "the race: command, arms and options in TOML"
_LIMITS = "when to stop, and the pool"


def add_goal(parser: argparse.ArgumentParser) -> None:
    """When to stop, as `race` and `run` take it."""
    group = parser.add_argument_group(_LIMITS)
    group.add_argument(
        "-c",
        "--confidence",
        type=float,
        help="stop when the best is known so surely (default 0.95, unless there is a deadline)",
    )
    _add_limits(group)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What may be changed when a race resumes."""
    _add_limits(parser.add_argument_group(_LIMITS))


def _add_limits(group: Any) -> None:
    group.add_argument(
        "-d",
        "--deadline",
        metavar="WHEN",
        help="answer by then: 90s, 10m, 1h30m, or a date such as 2030-01-31T18:00",
    )
    group.add_argument("--max-pulls", type=int, metavar="N", help="give up before more pulls")
    group.add_argument(
        "--cores", type=int, metavar="N", help="the pool (default: all this process may use)"
    )


def add_record(parser: argparse.ArgumentParser) -> None:
    """What a race is begun with and keeps."""
    group = parser.add_argument_group("the record")
    group.add_argument(
        "-j",
        "--journal",
        metavar="FILE",
        help="record every result here; if the file exists, the race resumes from it",
    )
    group.add_argument("--seed", type=int, metavar="N", help="of all the pulls' seeds (default 0)")


def add_output(parser: argparse.ArgumentParser, *, dry_run: bool = True) -> None:
    """What is printed and written."""
    group = parser.add_argument_group("the answer")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="show no progress, and print the best arm and nothing else (or the JSON)",
    )
    group.add_argument(
        "--export",
        action="append",
        type=Path,
        metavar="FILE",
        help="write the standings at the end; the name ends in .csv, .json or .md",
    )
    if dry_run:
        group.add_argument(
            "-n", "--dry-run", action="store_true", help="print the plan and run nothing"
        )


def given(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The options that were given, by name: the defaults are those of `paceline.race`."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def read_race(path: str) -> RaceFile:
    """Read a race from a file; its policy and scaling are made of their words."""
    race = read_race_file(path)
    try:
        return RaceFile(race.command, race.arms, made(race.options))
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def made(options: dict[str, Any]) -> dict[str, Any]:
    """The same options with a policy and a scaling in the place of their words."""
    options = dict(options)
    if "policy" in options:
        options["policy"] = parse_policy(options["policy"])
    if "scaling" in options:
        options["scaling"] = parse_scaling(options["scaling"])
    return options


def run_race(
    command: Command,
    arms: Sequence[dict[str, Any]],
    keywords: dict[str, Any],
    options: argparse.Namespace,
) -> int:
    """Race, or with --dry-run say what would be done; return the exit code."""
    check_exports(options.export or ())
    if options.dry_run:
        print_facts(real.prepare(command, arms, **keywords).describe())
        return 0
    with watching(options) as screen:
        result = real.race(command, arms, **keywords, progress=screen)
    return finish(result, options)


@contextlib.contextmanager
def watching(options: argparse.Namespace) -> Iterator[Screen | bool]:
    """What shows a race while it runs, on stderr: stdout has only the answer."""
    screen = make_screen(not options.quiet, keep=False)
    try:
        yield False if screen is None else screen
    finally:
        if screen is not None:
            screen.close(None)  # whatever happened, the terminal is as it was
