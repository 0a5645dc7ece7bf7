"""Rows of plain values as CSV and Markdown: nothing in them is calculated or taken for markup."""

import csv
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from paceline.characters import clean, visible
from paceline.story.numbers import format_value

# Spreadsheets calculate a cell that begins like this, also after blanks, or in full width.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ESCAPED = r"\\\g<0>"
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$]")


def csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet shows, and never takes for a formula.

    >>> csv_cell("=1+1"), csv_cell("-1.5"), csv_cell(-1.5), csv_cell(float("inf"))
    ("'=1+1", '-1.5', -1.5, '')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    if not isinstance(value, str):
        return value
    text = visible(value)
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def write_csv(stream: TextIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows whose cells `csv_cell` has made harmless."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in names])
    writer.writerows(rows)


def write_markdown(stream: TextIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table of Markdown."""

    def line(cells: Sequence[Any]) -> str:
        texts = ["" if cell is None else clean(_known(cell)) for cell in cells]
        return f"| {' | '.join(_MARKUP.sub(_ESCAPED, text) for text in texts)} |\n"

    stream.write(line(names))
    stream.write(f"| {' | '.join(['---'] * len(names))} |\n")
    stream.writelines(line(row) for row in rows)


def _known(cell: Any) -> str:
    return "–" if isinstance(cell, float) and not math.isfinite(cell) else format_value(cell)
