"""The window: how wide it is, and sentences and facts that fit it."""

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from paceline.characters import visible


def window_width(stream: Any = None) -> int:
    """How many columns a stream has; stdout if none is given."""
    stream = stream or sys.stdout
    if not stream.isatty():
        return 10_000  # a log has no width: never break a table in one
    if not os.environ.get("COLUMNS"):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return os.get_terminal_size(stream.fileno()).columns or 80
    return shutil.get_terminal_size().columns


def print_wrapped(text: str, stream: Any = None, *, indent: str = "") -> None:
    """Print a sentence, broken at the width of the window."""
    for line in _wrapped(text, len(indent), stream):
        print(indent + line, file=stream or sys.stdout)


def print_lines(text: str, stream: Any = None) -> None:
    """Print lines, such as what a program printed; those that are too long are broken."""
    width = window_width(stream)
    for line in text.split("\n"):
        if len(line) <= width:
            print(line, file=stream or sys.stdout)
        else:
            print_wrapped(line, stream)


class Whole(str):
    """A text that stays on one line, whatever the width: it is to be copied."""


def print_hanging(line: str, indent: int) -> None:
    """Print a line that begins with a label; what does not fit goes on below, indented."""
    width = max(window_width(), indent + 20)
    for part in textwrap.wrap(
        visible(line), width, subsequent_indent=" " * indent, break_on_hyphens=False
    ):
        print(part)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and texts in two columns; a text may have several lines."""
    if not facts:
        return
    indent = max(len(label) for label, _ in facts) + 2
    for label, text in facts:
        lines = [part for line in text.split("\n") for part in _wrapped(line, indent, None)]
        if isinstance(text, Whole):
            lines = [visible(text)]
        for place, line in enumerate(lines or [""]):
            print(f"{'' if place else label:<{indent}}{line}".rstrip())


def _wrapped(text: str, indent: int, stream: Any) -> list[str]:
    width = max(window_width(stream) - indent, 20)
    return textwrap.wrap(visible(text.strip()), width, break_on_hyphens=False) or [""]
