"""`paceline resume`: continue a race from its journal."""

import argparse

from paceline import real
from paceline.cli import race_options
from paceline.cli.answer import finish
from paceline.cli.exports import check_exports

NAME = "resume"
SUMMARY = "continue a race from its journal"
DESCRIPTION = """\
Continue a race of commands that was interrupted, from its journal: nothing
that was recorded is run again. A race that ended at a limit continues if the
limit is raised.

  paceline resume race.jsonl
  paceline resume race.jsonl --deadline 20m"""

_KEYWORDS = ("deadline", "max_pulls", "cores")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="what -j of the race named")
    race_options.add_limits(parser)
    race_options.add_output(parser, dry_run=False)


def run(options: argparse.Namespace) -> int:
    """Continue the race, and print the verdict."""
    check_exports(options.export or ())
    changes = race_options.given(options, _KEYWORDS)
    with race_options.watching(options) as screen:
        result = real.resume(options.journal, progress=screen, **changes)
    return finish(result, options)
