"""`paceline show`: the standings in a journal."""

import argparse
import math
from collections.abc import Sequence
from typing import Any

from paceline import races
from paceline.cli import exports, printed
from paceline.cli.exits import EXIT_BAD_INPUT, EXIT_FAILED, exit_code
from paceline.core.words import count
from paceline.display.ending import print_arms, print_warnings
from paceline.display.window import print_facts, print_wrapped
from paceline.durations import say_seconds
from paceline.exports import json_text
from paceline.story.brief import describe_remaining

NAME = "show"
SUMMARY = "the standings in a journal"
DESCRIPTION = """\
Print how the race in a journal stands or ended; it may still be running.

  paceline show race.jsonl
  paceline show race.jsonl --export md
  paceline show race.jsonl --export arms.csv --export-values pulls.csv
  paceline show race.jsonl --printed x=4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="the file given to the race as -j")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    printed.add_printed(parser)
    exports.add_exports(parser, may_print=True)


def run(options: argparse.Namespace) -> int:
    """Print the standings, or write them."""
    exported = exports.take_printed(options)
    exports.check_exports(options)
    race = races.Follower(options.journal)
    view = race.view()
    code = 0
    if options.printed is not None:
        printed.print_printed(race.result(), options.printed, as_json=options.json)
        return code
    if exported or options.export or options.export_values or options.export_hyperfine:
        result = race.result()
        code = 0 if exports.write_exports(result, options) else EXIT_BAD_INPUT
        if exported:
            exports.print_export(result, *exported)
            return code
    if options.json:
        print(json_text(_as_json(view)))
    else:
        _print(view, exit_code(race.result()))
    return code


def _print(view: races.JournalView, code: int) -> None:
    """Print the standings, and whether the race is over; `code` says how it would have ended."""
    standing = view.standing
    print_arms(standing.ranked())
    print()
    if view.ending is not None:
        print_wrapped(view.ending.verdict)
    print_warnings(standing.warnings)
    pulls, rounds = count(standing.pulls, "pull"), count(standing.rounds, "round")
    resume = view.how_to_resume
    state = {
        "finished": "finished",
        "undecided": f"ended undecided; to resume it with a higher limit: {resume}",
        "running": "running now",
        "unfinished": f"not finished and not running; to resume it: {resume}",
    }[_state(view)]
    work = f"{pulls} in {rounds} and {say_seconds(standing.elapsed)}"
    cores = f"{standing.cores}: {view.timeline.core_time().describe()}"
    more = "" if _state(view) == "finished" else describe_remaining(standing)
    if state.startswith("ended") and code == EXIT_FAILED:  # its bounds do not hold
        state, more = "ended undecided, and no limit would decide it: see the warning", ""
    facts = [("state", state), ("left", more), ("work", work), ("cores", cores)]
    print_facts([fact for fact in facts if fact[1]])


def _state(view: races.JournalView) -> str:
    # In this order: a resumed race still has its old verdict.
    if view.running:
        return "running"
    if view.ending is None:
        return "unfinished"
    return "finished" if view.ending.decided else "undecided"


def _finite(seconds: Sequence[float] | None) -> list[float | None] | None:
    """Plain numbers; None for what has no end."""
    return None if seconds is None else [one if math.isfinite(one) else None for one in seconds]


def _as_json(view: races.JournalView) -> dict[str, Any]:
    standing, ending = view.standing, view.ending
    return {
        "state": _state(view),
        "verdict": None if ending is None else ending.verdict,
        "decided": ending is not None and ending.decided,
        "confidence": None if ending is None else ending.confidence,
        "chosen": list(view.chosen),
        "still_in": [] if ending is None or ending.decided else list(ending.arms),
        "elapsed": standing.elapsed,
        "core_seconds": view.core_seconds,
        "core_time": view.timeline.core_time().to_json(),
        "deadline": standing.deadline,
        "remaining": _finite(standing.remaining),
        "rounds": standing.rounds,
        "pulls": standing.pulls,
        "cores": standing.cores,
        "minimize": standing.minimize,
        "arms": [record.to_json() for record in standing.arms],
        "warnings": list(standing.warnings),
        "header": view.header.to_json(),
    }
