"""`paceline run`: a race described in a file."""

import argparse
import os

from paceline.cli import race_options

NAME = "run"
SUMMARY = "a race described in a TOML file"
DESCRIPTION = """\
Race what a file describes. Options given here go before those in the file.

  paceline check race.toml
  paceline run race.toml --deadline 10m -j race.jsonl"""

_KEYWORDS = ("confidence", "deadline", "cores", "journal", "seed", "max_pulls")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help=race_options.FILE_HELP)
    race_options.add_goal(parser)
    race_options.add_record(parser)
    race_options.add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Race, and print the verdict."""
    race = race_options.read_race(options.file)
    changes = race_options.given(options, _KEYWORDS)
    if "journal" in changes:
        # In the file a path starts at the file's folder, here at the present one.
        changes["journal"] = os.path.abspath(changes["journal"])
    return race_options.run_race(race.command, race.arms, race.options | changes, options)
