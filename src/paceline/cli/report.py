"""`paceline report`: one page about the race in a journal."""

import argparse
from pathlib import Path

from paceline import races
from paceline.display.window import print_wrapped
from paceline.errors import InvalidInput
from paceline.races import checks

NAME = "report"
SUMMARY = "one self-contained page about a race"
DESCRIPTION = """\
Write a page about the race in a journal, as it stands or as it ended: the verdict, the
standings, the race and the pool over time, how to repeat it. It is a single HTML file
that fetches nothing, so it can be mailed and opened anywhere.

  paceline report race.jsonl                  writes race.html
  paceline report race.jsonl -o result.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("journal", metavar="JOURNAL", help="the file given to the race as -j")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="where to write the page (default: the journal's name with .html, in this folder)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    journal = Path(checks.path(options.journal, "the journal"))
    target = Path(checks.path(options.output or f"{journal.stem or 'race'}.html", "--output"))
    if target.exists() and journal.exists() and target.samefile(journal):
        raise InvalidInput(f"{target} is the journal itself: give another file as --output")
    if target.is_dir():
        raise InvalidInput(f"cannot write the page to {target}: it is a folder")
    if not target.absolute().parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {target.parent}")
    result = races.open_journal(options.journal)
    written = result.report(target)
    if written.is_file():
        size = written.stat().st_size / 1e6
        print_wrapped(f"wrote {written} ({size:.1f} MB); open it in any browser")
    return 0
