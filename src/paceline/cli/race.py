"""`paceline race`: race commands, given on the command line."""

import argparse
import os
from typing import Any

from paceline.cli import racing, submitting
from paceline.cli.flags import add_options, given
from paceline.commands import VALUE_HELP, Command, check_arms, grid, parse_list
from paceline.commands.environment import variables
from paceline.errors import InvalidInput
from paceline.notation import policies_page

NAME = "race"
SUMMARY = "race settings of a command, or several commands"
DESCRIPTION = """\
Find the best of many settings of a command that prints a number.

  paceline race 'sim --x {x} --seed {seed} -j {cores}' -L x 1,2,4 --deadline 10m
  paceline race 'sim -x {x} -m {mode}' -L x 1..8 -L mode fast,slow -j race.jsonl
  paceline race 'gzip -c big' 'zstd -c big' --value time --minimize

With -L the command is a template: {name} is filled in for every arm, {seed} and
{cores} for every pull. Without -L, each of several commands is an arm: sh runs it
unchanged, and it finds its seed and cores in $PACELINE_SEED and $PACELINE_CORES.

Exit codes: 0 a verdict, 2 bad input, 3 undecided at a limit, 4 stopped by
failures (or undecided because of values outside --bounds), 5 undecided at the
deadline though a confidence was asked for, too, 130 interrupted (by Ctrl-C or
SIGTERM; prints the best so far, and how to resume)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = policies_page()
    parser.add_argument("commands", nargs="+", metavar="COMMAND", help="what to run")
    parser.add_argument(
        "-L",
        "--list",
        nargs=2,
        action="append",
        dest="lists",
        metavar=("NAME", "VALUES"),
        help="values of a parameter: 1,2,4 or 1..8 or 0.1..0.9..0.2; every combination is an arm",
    )
    _add_command(parser.add_argument_group("the command"))
    add_options(parser, lambda _: True)
    submitting.add_submission(parser)
    racing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Race the commands and print the verdict."""
    command, arms = _arms(options)
    keywords = given(options)
    if command.is_timed:
        if "direction" not in keywords:
            raise InvalidInput(
                "--value time: say --minimize to find the fastest, or --maximize for the slowest"
            )
        # A time depends on the cores, so all pulls get the same number.
        if "cores" in command.placeholders and "cores_per_pull" not in keywords:
            raise InvalidInput(
                "the value is the time of a command that uses {cores}, and the time depends on "
                "them: say how many each run has, as in --cores-per-pull 1"
            )
        keywords.setdefault("cores_per_pull", 1)
    if submitting.is_submitted(options, keywords.get("engine")):
        if "journal" not in keywords:
            raise InvalidInput("a race that is submitted goes on from its journal: add -j FILE")
        racing.check_later(command, arms, keywords)
        return submitting.submit(options, keywords["journal"], {})
    return racing.run_race(command, arms, keywords, options)


def _add_command(group: Any) -> None:
    group.add_argument("--value", default="last", help=VALUE_HELP)
    group.add_argument("--shell", action="store_true", help="have sh run the template")
    group.add_argument("--cwd", metavar="FOLDER", help="run it in this folder")
    group.add_argument(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        help="set a variable of its environment; {name}, {seed} and {cores} are filled in. Without "
        "a value it is taken from the environment of the race, and the journal has only its name",
    )


def _arms(options: argparse.Namespace) -> tuple[Command, tuple[dict[str, Any], ...]]:
    """The command and the arms that fit it."""
    settings: dict[str, Any] = {
        # An absolute path, so that the race can be resumed from any folder.
        "cwd": os.path.abspath(options.cwd or "."),
        "environment": variables(options.env or ()),
        "value": options.value,
    }
    if options.lists:
        if len(options.commands) > 1:
            raise InvalidInput(
                f"{len(options.commands)} commands and -L: give either one command with -L, or "
                "several commands; is a command with blanks in it quoted?"
            )
        arms = grid(_parameters(options.lists))
        command = Command.parse(options.commands[0], shell=options.shell, **settings)
    else:
        if len(options.commands) == 1:
            raise InvalidInput(
                "a race needs more than one command: give several, or values for a placeholder, as "
                "in -L x 1,2,4 for {x}"
            )
        arms = tuple({"command": _plain(text)} for text in options.commands)
        settings["environment"].setdefault("PACELINE_SEED", "{seed}")
        command = Command.parse(["/bin/sh", "-c", "{command}"], **settings)
    check_arms(arms)
    return command, arms


def _parameters(lists: list[list[str]]) -> dict[str, tuple[str, ...]]:
    parameters: dict[str, tuple[str, ...]] = {}
    for name, values in lists:
        if name in parameters:
            raise InvalidInput(f"-L {name} is given twice: give all its values at once")
        parameters[name] = parse_list(name, values)
    return parameters


def _plain(command: str) -> str:
    for name in ("seed", "cores"):
        if f"{{{name}}}" in command:
            raise InvalidInput(
                f"{{{name}}} in {command!r}: several commands are run unchanged, so write "
                f"$PACELINE_{name.upper()} (or give one command, and -L)"
            )
    return command
