"""What all verbs that race have in common: their output options, and the race itself."""

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paceline import races
from paceline.cli import trying
from paceline.cli.answer import finish
from paceline.cli.exports import add_exports, check_exports
from paceline.commands import Command
from paceline.display.screen import Screen, make_screen
from paceline.display.window import print_facts
from paceline.errors import Interrupted
from paceline.live.beside import page_beside
from paceline.result import Result

_ANY_POOL = 4096  # cores: as many as a pull may ask for
FILE_HELP = "the race: command, arms and options in TOML"


def add_output(parser: argparse.ArgumentParser, *, dry_run: bool = True) -> None:
    """Declare the options on what is printed and written."""
    group = parser.add_argument_group("the answer")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="show no progress, and print only the best arm (or the JSON)",
    )
    add_exports(group)
    group.add_argument(
        "--live",
        action="store_true",
        help="serve a page that follows the race until it is over (see paceline live)",
    )
    if dry_run:
        group.add_argument(
            "-n", "--dry-run", action="store_true", help="print the plan and run nothing"
        )
        trying.add_try(group)


def run_race(
    command: Command,
    arms: Sequence[dict[str, Any]],
    keywords: dict[str, Any],
    options: argparse.Namespace,
    written: trying.Written = trying.as_flag,
) -> int:
    """Race, or with --dry-run say what would be run; return the exit code."""
    check_exports(options, command.value.kind)
    if options.dry_run or options.attempt:
        prepared = races.prepare(command, arms, **keywords)
        print_facts(prepared.describe())
        return trying.try_pull(prepared, written) if options.attempt else 0
    with live_page(options, keywords.get("journal")) as journal:
        if journal is not None:
            keywords = keywords | {"journal": journal}
        return answer(
            options, lambda screen: races.race(command, arms, **keywords, progress=screen)
        )


def answer(options: argparse.Namespace, race: Callable[[Screen | bool], Result]) -> int:
    """Race, and print how it ended, or how it stood when it was interrupted; the exit code."""
    try:
        with watching(options) as screen:
            result = race(screen)
    except Interrupted as error:
        if error.result is not None and (error.result.pulls or options.json):
            finish(error.result, options)
        raise
    return finish(result, options)


def check_later(command: Command, arms: Sequence[dict[str, Any]], keywords: dict[str, Any]) -> None:
    """Check a race that will run elsewhere, on a pool that is not known yet.

    A job that waits for hours should not end with an error that could be seen at once.
    """
    elsewhere = {"engine": "local", "cores": keywords.get("cores", _ANY_POOL)}
    given = {name: value for name, value in keywords.items() if name != "memory_per_pull"}
    races.prepare(command, arms, **given | elsewhere)


@contextlib.contextmanager
def watching(options: argparse.Namespace) -> Iterator[Screen | bool]:
    """The screen that shows a race while it runs, on stderr: stdout has only the answer."""
    screen = make_screen(not options.quiet, keep=False)
    try:
        yield False if screen is None else screen
    finally:
        if screen is not None:
            screen.close(None)  # whatever happened, the terminal is as it was


@contextlib.contextmanager
def live_page(options: argparse.Namespace, journal: str | None) -> Iterator[str | None]:
    """With --live, a page that follows the race; gives its journal, if need be a temporary one."""
    if not options.live:
        yield journal
        return
    with contextlib.ExitStack() as stack:
        if journal is None:
            folder = tempfile.mkdtemp(prefix="paceline-")
            stack.callback(_remove_if_empty, folder)  # else the race can be resumed from there
            journal = os.path.join(folder, "race.jsonl")
            print(f"journal: {journal} (-j FILE chooses another)", file=sys.stderr)
        url = stack.enter_context(page_beside(Path(journal)))
        print(f"live page: {url}", file=sys.stderr, flush=True)
        yield journal


def _remove_if_empty(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(folder)
