"""`paceline resume`: continue a race from its journal."""

import argparse

from paceline import races
from paceline.cli import racing, submitting
from paceline.cli.exports import check_exports
from paceline.cli.flags import add_options, given
from paceline.races.option import Option

NAME = "resume"
SUMMARY = "continue a race from its journal"
DESCRIPTION = """\
Continue an interrupted race of commands from its journal. Nothing that was
recorded is run again. A race that has ended continues if a limit is raised or
its goal is made stricter; otherwise its answer is printed, and nothing is run.

This runs the commands that the journal holds. A journal that belongs to another
user, or that everybody may write, is refused, with what it would run; --trust
runs it.

  paceline resume race.jsonl
  paceline resume race.jsonl --deadline 20m"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="the file given to the race as -j")
    parser.add_argument(
        "--trust",
        action="store_true",
        default=None,
        help="run its commands, whoever can write the journal",
    )
    add_options(parser, lambda option: option.in_resume, _only)
    submitting.add_submission(parser)
    racing.add_output(parser, dry_run=False)


def run(options: argparse.Namespace) -> int:
    """Continue the race, and print the verdict."""
    check_exports(options)
    changes = given(options, "trust")
    path = changes.pop("journal")
    if submitting.is_submitted(options, changes.get("engine")):
        return submitting.submit(options, path, {})
    with racing.live_page(options, path):
        return racing.answer(options, lambda screen: races.resume(path, progress=screen, **changes))


def _only(option: Option) -> str:
    """How a resume may change it, if it is part of what the race is."""
    only = option.on_resume.only
    return f"; may only be {only}" if only else ""
