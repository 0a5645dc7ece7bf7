"""The window: how wide it is, and sentences and facts that fit it."""

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from paceline.characters import visible


def window_width() -> int:
    """How many columns stdout has."""
    # A log has no width: never break a table in one.
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def print_wrapped(text: str, stream: Any = None, *, indent: str = "") -> None:
    """Print a sentence, broken at the width of the window."""
    for line in _wrapped(text, len(indent)):
        print(indent + line, file=stream or sys.stdout)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and texts in two columns; a text may have several lines."""
    if not facts:
        return
    indent = max(len(label) for label, _ in facts) + 2
    for label, text in facts:
        lines = [part for line in text.split("\n") for part in _wrapped(line, indent)]
        for place, line in enumerate(lines or [""]):
            print(f"{'' if place else label:<{indent}}{line}".rstrip())


def _wrapped(text: str, indent: int) -> list[str]:
    width = max(window_width() - indent, 20)
    return textwrap.wrap(visible(text.strip()), width, break_on_hyphens=False) or [""]
