"""`paceline check`: what a race would do."""

import argparse

from paceline import races
from paceline.cli import racing, trying
from paceline.cli.flags import add_options, given
from paceline.display.window import print_facts

NAME = "check"
SUMMARY = "validate a race file, print the plan, run nothing"
DESCRIPTION = """\
Validate a race file and print what `paceline run` would do. Nothing is run, except one
pull with --try. Options given here override those in the file.

  paceline check race.toml
  paceline check race.toml --try"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help=racing.FILE_HELP)
    trying.add_try(parser)
    add_options(parser, lambda _: True)


def run(options: argparse.Namespace) -> int:
    """Print the plan."""
    race = races.read_race_file(options.file)
    prepared = races.prepare(race.command, race.arms, **race.options | given(options))
    print_facts(prepared.describe())
    return trying.try_pull(prepared, trying.in_file) if options.attempt else 0
