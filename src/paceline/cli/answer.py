"""How a race is answered on the command line: what is printed, and the exit code."""

import argparse
import sys

from paceline.characters import clean
from paceline.cli.exits import exit_code
from paceline.cli.exports import write_exports
from paceline.display.ending import print_failures, print_notes, print_result, print_warnings
from paceline.display.window import print_wrapped
from paceline.exports import json_text
from paceline.result import Result


def finish(result: Result, options: argparse.Namespace) -> int:
    """Print how a race ended as the options say, and return the exit code."""
    write_exports(result, options)
    if options.json:
        print(json_text(result.to_json()))
    elif options.quiet:
        for arm in result.chosen:
            print(clean(result.arms[arm].label))
        if not result.decided:
            print_wrapped(f"paceline: {result.verdict}", sys.stderr)
    else:
        print_result(result)
    if options.json or options.quiet:
        print_notes(result.notes, sys.stderr)
        print_warnings(result.warnings, sys.stderr)
        print_failures(result, sys.stderr)
    return exit_code(result)
