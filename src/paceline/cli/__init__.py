"""The command line: one file per verb."""

import argparse
import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import NoReturn

import paceline
from paceline.cli import (
    check,
    demo,
    live,
    plan,
    profile,
    race,
    report,
    reproduce,
    resume,
    run,
    show,
    simulate,
)
from paceline.cli.exits import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_FAULT, EXIT_INTERRUPTED
from paceline.cli.parsing import Parser
from paceline.display.stream import OutputLost, clean_streams
from paceline.display.window import print_lines
from paceline.errors import PacelineError, RaceFailed, RaceWarning

VERBS = (race, run, check, resume, show, report, live, profile, plan, simulate, reproduce, demo)


def parser() -> Parser:
    """The whole command line, as argparse sees it."""
    whole = Parser(
        prog="paceline",
        description="Find the best of many noisy options in the least wall-clock time.",
    )
    whole.add_argument("--version", action="version", version=f"paceline {paceline.__version__}")
    verbs = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for verb in VERBS:
        one = verbs.add_parser(verb.NAME, help=verb.SUMMARY, description=verb.DESCRIPTION)
        verb.add_arguments(one)
        one.summarize()
        one.set_defaults(run=verb.run)
        one.verbs = verbs.choices
    whole.verbs = verbs.choices
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    with clean_streams():
        options = parser().parse_args(arguments)
        options.words = sys.argv[1:] if arguments is None else list(arguments)
        try:
            code = _run(options)
            if code == EXIT_INTERRUPTED and arguments is None:
                # What is left to be ended, as a Ray of our own, is ended whole: a second Ctrl-C
                # would leave a crash and its processes behind.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            return code
        except Exception:  # a fault of paceline's own: here, its traceback passes a clean stream
            traceback.print_exc()
            return EXIT_FAULT


def _run(options: argparse.Namespace) -> int:
    try:
        with _termination_interrupts(), warnings.catch_warnings():
            warnings.simplefilter("ignore", RaceWarning)  # they are printed with the result
            code = int(options.run(options))
            sys.stdout.flush()
    except RaceFailed as error:
        print_lines(f"paceline: stopped by failures: {error}", sys.stderr)
        return EXIT_FAILED
    except PacelineError as error:
        print_lines(f"paceline: error: {error}", sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt as error:
        print_lines(f"paceline: {error}" if str(error) else "paceline: interrupted", sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader, perhaps `head`, has seen enough
        _write_nowhere()
        return 0
    except OutputLost as error:
        _write_nowhere()
        print_lines(f"paceline: cannot write the answer: {error.strerror}", sys.stderr)
        return EXIT_FAILED
    return code


def _write_nowhere() -> None:
    """What is still held back must not fail once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Treat SIGTERM, which batch systems send at a time limit, as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
