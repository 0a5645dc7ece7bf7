"""What is shown while a race is under way: a live table, or plain lines in a log."""

import os
import sys
from typing import Protocol, TextIO

from paceline.display.lines import PlainLines
from paceline.display.live import LiveTable
from paceline.display.notebook import NotebookTable, in_notebook
from paceline.result import Result
from paceline.story.standing import Standing


class Screen(Protocol):
    """Shows how a race stands."""

    def update(self, standing: Standing) -> None:
        """Show this; called a few times a second, and after every round."""

    def close(self, result: Result | None) -> None:
        """Leave the terminal as it was; `result` is None if the race did not end."""


def make_screen(
    progress: bool | None, stream: TextIO | None = None, *, keep: bool = True
) -> Screen | None:
    """Choose what to show: a live table in a notebook or on a terminal, else plain lines.

    Plain lines only if `progress` is True: a library leaves logs alone. `keep` leaves the final
    table on the terminal.
    """
    if progress is False:
        return None
    if stream is None and in_notebook():
        return NotebookTable()
    stream = sys.stderr if stream is None else stream
    if stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        return LiveTable(stream, keep=keep)
    return PlainLines(stream) if progress else None
