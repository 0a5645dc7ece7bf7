"""`paceline plan`: how long a race will take, on how many cores; and the chain of cuts."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from paceline import planning, races
from paceline.cli import racing
from paceline.cli.chain import EXPECT, Asked, Outline, outline_of
from paceline.cli.flags import given
from paceline.cli.means import ARMS_HELP, parse_means
from paceline.display.screen import make_screen
from paceline.display.table import Table, print_table
from paceline.display.window import print_facts
from paceline.errors import InvalidInput
from paceline.exports import json_text
from paceline.notation import SCALING_HELP
from paceline.notation.words import to_number, to_whole
from paceline.races import checks

NAME = "plan"
SUMMARY = "how long a race will take, on how many cores"
DESCRIPTION = """\
Say how long a race will take, on how many cores it is worth running, and how likely
it finds the best by a deadline. Nothing is run: the race is simulated many times,
with the policy that will run it. It takes an assumption about the arms (--means, or
--gap and --sigma), and how long pulls take (--pull, or --scaling in seconds).

  paceline plan --arms 8 --gap 0.5 --sigma 1 --pull 30s --cores 1,2,4,8
  paceline plan race.toml --gap 0.1 --sigma 0.5 --pull 30ms --confidence 0.9,0.99

With a deadline, the chain of cuts of `staged` is printed too: how many arms it keeps
after how many pulls of each, and when.

  paceline plan --arms 1024 --scaling power:0.5 --deadline 500
  paceline plan --means uniform:1024 --scaling cores:64,0.5 --deadline 10m
  paceline plan race.toml --scaling power:0.5 --pull 30ms

In that table, `pulls` are the new ones of each arm, `in all` those since the start,
and `at once` those of all arms that run side by side."""

_FROM_FILE = ("deadline", "top")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=racing.FILE_HELP)
    parser.add_argument("-n", "--arms", type=int, metavar="N", help="how many arms there are")
    parser.add_argument("-m", "--means", help=ARMS_HELP)
    parser.add_argument(
        "--gap", type=float, metavar="X", help="one arm is ahead of all others by this"
    )
    parser.add_argument(
        "--sigma",
        type=float,
        help="the standard deviation of a value around its mean (default: values 0 and 1)",
    )
    parser.add_argument(
        "--pilot", metavar="SPAN", help="run the first seconds of the race, to learn from them: 30s"
    )
    parser.add_argument(
        "-j",
        "--journal",
        metavar="JOURNAL",
        help="learn from the journal of a race; or where to record a pilot (default: FILE.jsonl)",
    )
    parser.add_argument("-s", "--scaling", help=SCALING_HELP)
    parser.add_argument(
        "--pull",
        metavar="SPAN",
        help="how long a pull takes on the fewest cores it may have: 30s, 5m",
    )
    parser.add_argument("--cores", metavar="N,N,…", help="the pools to compare: 1,2,4,8")
    parser.add_argument(
        "-c", "--confidence", metavar="P,P,…", help="the confidences to compare (default 0.95)"
    )
    parser.add_argument("-d", "--deadline", metavar="SPAN", help="90 (seconds), 10m, 1h30m")
    parser.add_argument("--top", type=int, metavar="K", help="find the best K arms (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all that is drawn")
    parser.add_argument(
        "--races",
        type=int,
        default=60,
        metavar="N",
        help="how many races to simulate for each row (default 60)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the forecasts to a page (.html)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(options: argparse.Namespace) -> int:
    """Plan, and print the chain, the forecasts, or both."""
    asked = Asked(
        options,
        None if options.means is None else parse_means(options.means, options.seed),
        [to_whole(word, options.cores) for word in _words(options.cores)],
        [to_number(word, options.confidence) for word in _words(options.confidence)],
    )
    if options.file is not None and _is_journal(options.file):
        if options.journal is not None:
            raise InvalidInput(f"{options.file} is a journal: leave --journal out")
        options.file, options.journal = None, options.file
    race = None if options.file is None else _race(asked)
    if options.pilot is not None:
        if race is None:
            raise InvalidInput("a pilot runs the first pulls of a race: give its file")
        if options.journal is None:
            options.journal = race.options.get("journal", f"{Path(options.file).stem}.jsonl")
    outline = outline_of(asked, race)
    plan = _forecasts(asked, race) if asked.expects or asked.learns else None
    if outline is None and plan is None:
        raise InvalidInput(EXPECT)
    if options.output is not None:
        if plan is None:
            raise InvalidInput(f"a page is about forecasts: {EXPECT}")
        plan.report(options.output)
    if options.json:
        _print_json(outline, plan)
        return 0
    if outline is not None:
        outline.show()
    if plan is not None:
        if outline is not None:
            print()
        show_plan(plan)
    return 0


def _is_journal(path: str) -> bool:
    """Whether a file has records; a race file in TOML cannot begin as they do."""
    try:
        with Path(checks.path(path, "the file")).open("rb") as file:
            return bool(file.read(1) == b"{")
    except OSError:
        return False


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").split(",") if word.strip()]


def _print_json(outline: Outline | None, plan: planning.Plan | None) -> None:
    if outline is None:
        assert plan is not None
        print(json_text(plan.to_json()))
        return
    more = {} if plan is None else {"forecast": plan.to_json()}
    print(json_text(outline.to_json() | more))


def show_plan(plan: planning.Plan) -> None:
    """Print the forecasts and the answer."""
    names, rows = plan.table()
    print_table(Table(tuple(names), rows))
    print()
    facts = [("answer", plan.headline()), *plan.facts()]
    print_facts(facts)


def _race(asked: Asked) -> races.RaceFile:
    """The race of the file, with what was given beside it."""
    options = asked.options
    if options.arms is not None:
        raise InvalidInput("--arms and a race file both say how many arms there are: leave out one")
    race = races.read_race_file(options.file)
    changed = {name: one for name, one in given(options).items() if name in _FROM_FILE}
    if asked.scaling is not None:
        changed["scaling"] = asked.scaling
    return replace(race, options=race.options | changed)


def _forecasts(asked: Asked, race: races.RaceFile | None) -> planning.Plan:
    """The race, simulated; with a pilot, after its first pulls."""
    options = asked.options
    own: dict[str, Any] = {"arms": options.arms, "seed": options.seed}
    if race is not None:
        own = {"evaluate": race.command, "arms": race.arms, **race.options}
        own.pop("journal", None)
    given_options = {
        "scaling": asked.scaling,
        "sigma": options.sigma,
        "deadline": options.deadline,
        "top": options.top,
        "confidence": asked.confidence or None,
        "cores": asked.cores or None,
        "journal": options.journal,
    }
    own |= {name: value for name, value in given_options.items() if value is not None}
    simulated = {"means": asked.means, "gap": options.gap, "pull": options.pull}
    if options.pilot is None:
        return planning.plan(**own, **simulated, replications=options.races)
    screen = make_screen(None, keep=False)
    own["progress"] = False if screen is None else screen
    try:
        plan = planning.plan(**own, **simulated, pilot=options.pilot, replications=options.races)
    finally:
        if screen is not None:
            screen.close(None)
    how = f"paceline run {options.file} --journal {options.journal}"
    return replace(plan, notes=(*plan.notes, f"to go on from there: {how}"))
