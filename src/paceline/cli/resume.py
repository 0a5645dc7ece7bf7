"""`paceline resume`: continue a race from its journal."""

import argparse

from paceline import races
from paceline.cli import racing
from paceline.cli.answer import finish
from paceline.cli.exports import check_exports
from paceline.cli.flags import add_options, given

NAME = "resume"
SUMMARY = "continue a race from its journal"
DESCRIPTION = """\
Continue an interrupted race of commands from its journal. Nothing that was
recorded is run again. A race that ended at a limit continues if the limit is
raised.

  paceline resume race.jsonl
  paceline resume race.jsonl --deadline 20m"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="the file given to the race as -j")
    add_options(parser, lambda option: option.kept == "session")
    racing.add_output(parser, dry_run=False)


def run(options: argparse.Namespace) -> int:
    """Continue the race, and print the verdict."""
    check_exports(options.export or ())
    changes = given(options)
    path = changes.pop("journal")
    with racing.watching(options) as screen:
        result = races.resume(path, progress=screen, **changes)
    return finish(result, options)
