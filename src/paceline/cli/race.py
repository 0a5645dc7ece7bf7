"""`paceline race`: race commands, given on the command line."""

import argparse
import os
import re
from typing import Any

from paceline.cli import race_options
from paceline.commands import VALUE_HELP, Command, check_arms, grid, parse_list
from paceline.core.noise.catalog import NOISES
from paceline.errors import InvalidInput
from paceline.notation import POLICY_HELP, SCALING_HELP, policies_page

NAME = "race"
SUMMARY = "race settings of a command, or several commands"
DESCRIPTION = """\
Find the best of many settings of a command that prints a number.

  paceline race 'sim --x {x} --seed {seed} -j {cores}' -L x 1,2,4 --deadline 10m
  paceline race 'sim -x {x} -m {mode}' -L x 1..8 -L mode fast,slow -j race.jsonl
  paceline race 'gzip -c big' 'zstd -c big' --value time --minimize

With -L the command is a template: {name} is filled in for every arm, {seed} and
{cores} for every pull. Without, each of several commands is an arm: it is run
by sh as it stands, and finds its seed and cores in $PACELINE_SEED and
$PACELINE_CORES.

Exit codes: 0 a verdict, 2 bad input, 3 undecided at a limit, 4 stopped by
failures, 130 interrupted (by Ctrl-C or SIGTERM; says how to resume)."""

_KEYWORDS = (
    "confidence",
    "deadline",
    "direction",
    "top",
    "tolerance",
    "noise",
    "bounds",
    "sigma",
    "paired",
    "cores",
    "cores_per_pull",
    "policy",
    "scaling",
    "journal",
    "seed",
    "retries",
    "timeout",
    "on_failure",
    "max_pulls",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = policies_page()
    # Else -1,1 would be taken for an option; argparse knows single negative numbers only.
    parser._negative_number_matcher = re.compile(r"-\.?\d")
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
    race_options.add_goal(parser)
    _add_race(parser.add_argument_group("the race"))
    race_options.add_record(parser)
    race_options.add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Race the commands and print the verdict."""
    command, arms = _arms(options)
    keywords = race_options.made(race_options.given(options, _KEYWORDS))
    if command.value.kind == "time":
        if "direction" not in keywords:
            raise InvalidInput(
                "--value time: say --minimize to find the fastest, or --maximize for the slowest"
            )
        # A time depends on the cores, so all pulls have the same.
        keywords.setdefault("cores_per_pull", 1)
    return race_options.run_race(command, arms, keywords, options)


def _add_command(group: Any) -> None:
    group.add_argument("--value", default="last", help=VALUE_HELP)
    group.add_argument("--shell", action="store_true", help="have sh run the template")
    group.add_argument("--cwd", metavar="FOLDER", help="run it there")
    group.add_argument(
        "--env",
        action="append",
        metavar="NAME=VALUE",
        help="set in its environment; {name}, {seed} and {cores} are filled in",
    )
    group.add_argument(
        "--timeout", metavar="SPAN", help="a pull that takes longer has failed: 90s, 10m"
    )
    group.add_argument(
        "--retries", type=int, metavar="N", help="tries after a failed pull (default 2)"
    )
    group.add_argument(
        "--on-failure",
        choices=("drop-arm", "stop"),
        help="if those fail too: race on without the arm (default), or stop",
    )


def _add_race(group: Any) -> None:
    direction = group.add_mutually_exclusive_group()
    for word, best in (("minimize", "lowest"), ("maximize", "highest")):
        direction.add_argument(
            f"--{word}",
            action="store_const",
            const=word,
            dest="direction",
            help=f"the {best} mean is the best" + (" (default)" if word == "maximize" else ""),
        )
    group.add_argument("--top", type=int, metavar="K", help="find the best K arms (default 1)")
    group.add_argument(
        "--tolerance", type=float, metavar="X", help="so much worse is good enough (default 0)"
    )
    group.add_argument(
        "--paired",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the k-th pulls of all arms share a seed (default: if the command uses {seed})",
    )
    group.add_argument(
        "--noise",
        choices=tuple(NOISES),
        help="what is assumed about the values (default: seen from the first ones)",
    )
    group.add_argument(
        "--bounds", type=_bounds, metavar="LO,HI", help="all values lie between these"
    )
    group.add_argument("--sigma", type=float, metavar="X", help="the scale of the noise")
    group.add_argument(
        "--cores-per-pull",
        type=_cores_per_pull,
        metavar="N|LO-HI",
        help="fix the cores of a pull, or keep them in a range (default: adapted as it goes)",
    )
    group.add_argument("-p", "--policy", help=POLICY_HELP)
    group.add_argument("-s", "--scaling", help=f"{SCALING_HELP}; default: measured as it goes")


def _arms(options: argparse.Namespace) -> tuple[Command, tuple[dict[str, Any], ...]]:
    """The command and the arms that fit it."""
    settings: dict[str, Any] = {
        # Written out, so that the race can be resumed from any folder.
        "cwd": os.path.abspath(options.cwd or "."),
        "environment": dict(_variable(text) for text in options.env or ()),
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
                f"{{{name}}} in {command!r}: of several commands each is run as it stands, so "
                f"write $PACELINE_{name.upper()} (or give one command, and -L)"
            )
    return command


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInput(f"--env {text!r}: write NAME=VALUE")
    return name, value


def _bounds(text: str) -> tuple[float, float]:
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not LO,HI, as in 0,1") from None
    return low, high


def _cores_per_pull(text: str) -> int | tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text, re.ASCII)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither N nor LO-HI, as in 1-8")
    return int(found[1]) if found[2] is None else (int(found[1]), int(found[2]))
