"""`paceline run`: a race described in a file."""

import argparse
import os

from paceline.cli import racing, submitting, trying
from paceline.cli.flags import add_options, given
from paceline.races import read_race_file

NAME = "run"
SUMMARY = "a race described in a TOML file"
DESCRIPTION = """\
Run the race that a file describes. Options given here override those in the file.

  paceline check race.toml
  paceline run race.toml --deadline 10m -j race.jsonl
  paceline run race.toml --engine slurm --nodes 2 --time 6h"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help=racing.FILE_HELP)
    add_options(parser, lambda _: True)
    submitting.add_submission(parser)
    racing.add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Race, and print the verdict."""
    race = read_race_file(options.file)
    changes = given(options)
    if "journal" in changes:
        # In the file a path is relative to the file's folder, here to the current one.
        changes["journal"] = os.path.abspath(changes["journal"])
    keywords = race.options | changes
    if submitting.is_submitted(options, keywords.get("engine")):
        journal = keywords.get("journal")
        beside = submitting.journal_beside(options.file)
        racing.check_later(race.command, race.arms, keywords)
        return submitting.submit(options, journal or beside, {} if journal else {"-j": beside})
    return racing.run_race(race.command, race.arms, keywords, options, trying.in_file)
