"""Help that fits the window: prose is filled anew, and examples stay whole, to be copied."""

import argparse
import re
import shutil
import textwrap
from typing import Any

from paceline.display.window import window_width

_WIDEST = 120  # columns: longer lines are hard to read
_NARROW = 60
_PAGE = 90
_EXAMPLE = "paceline "


class Help(argparse.HelpFormatter):
    """The help of a command, as wide as the window, or as COLUMNS says."""

    def __init__(self, prog: str, **more: Any) -> None:
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        place = 24 if width >= _NARROW else 6  # of what is said of a flag
        super().__init__(prog, max_help_position=place, width=width - 2, **more)

    def start_section(self, heading: str | None) -> None:
        """Begin a group of options."""
        super().start_section(heading and _filled(heading, self._width, ""))

    def _format_usage(self, usage: str | None, *more: Any) -> str:
        return _filled(super()._format_usage(usage, *more), self._width, "") + "\n\n"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return refilled(text, width, indent)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _filled(text, width, "").split("\n")

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """The flags of an option; long ones and many choices are broken after a comma."""
        text = super()._format_action_invocation(action)
        lines = [""]
        for part in re.split("(?<=,)", text):
            if lines[-1] and self._current_indent + len(lines[-1]) + len(part) > self._width:
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
        return f"\n{'':{self._current_indent + 2}}".join(line.rstrip() for line in lines)


def tell(text: str) -> None:
    """Print paragraphs, as wide as the window, or as a page of a book."""
    body = text.strip("\n")
    before, after = text.partition(body)[::2]
    width = min(window_width(), _PAGE)
    print(f"{before}{refilled(body, width)}{after}", flush=True)


def refilled(text: str, width: int, indent: str = "") -> str:
    """Paragraphs at this width. Lines that are indented stay lines, and examples stay whole.

    >>> print(refilled('''Race commands
    ... that print a number.
    ...
    ...   paceline race 'sim {x}' -L x 1,2
    ...   their values: all that they print''', 18))
    Race commands that
    print a number.
    <BLANKLINE>
      paceline race 'sim {x}' -L x 1,2
      their values:
      all that they
      print
    """
    lines: list[str] = []
    goes_on = False  # whether the next line belongs to the paragraph before
    for line in text.strip("\n").split("\n"):
        is_prose = bool(line) and not line.startswith(" ")
        if is_prose and goes_on:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
        goes_on = is_prose
    return "\n".join(_filled(line, width, indent) for line in lines)


def _filled(line: str, width: int, indent: str) -> str:
    own = indent + line[: len(line) - len(line.lstrip())]
    words = line.strip()
    if words.startswith(_EXAMPLE) and line != words:
        return own + words
    wrapper = _Wrapper(
        max(width, 11 + len(own)),
        initial_indent=own,
        subsequent_indent=own,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.fill(words)


class _Wrapper(textwrap.TextWrapper):
    """Breaks a word that is wider than the window after a comma in it."""

    def _split(self, text: str) -> list[str]:
        words: list[str] = []
        for word in super()._split(text):
            words += re.split("(?<=,)", word) if len(word) > self.width else [word]
        return words
