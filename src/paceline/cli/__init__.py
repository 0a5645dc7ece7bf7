"""The command line: one file per verb."""

import argparse
import os
import sys
from collections.abc import Sequence

import paceline
from paceline.cli import demo, reproduce, simulate
from paceline.cli.exits import EXIT_BAD_INPUT, EXIT_INTERRUPTED
from paceline.errors import PacelineError

VERBS = (simulate, reproduce, demo)


def parser() -> argparse.ArgumentParser:
    """The whole command line, as argparse sees it."""
    whole = argparse.ArgumentParser(
        prog="paceline",
        description="Find the best of many noisy options in the least wall-clock time.",
    )
    whole.add_argument("--version", action="version", version=f"paceline {paceline.__version__}")
    verbs = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for verb in VERBS:
        one = verbs.add_parser(
            verb.NAME,
            help=verb.SUMMARY,
            description=verb.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_arguments(one)
        one.set_defaults(run=verb.run)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except PacelineError as error:
        print(f"paceline: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("paceline: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
