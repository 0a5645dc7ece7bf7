"""Standings written to files; the suffix of the file's name says in which format."""

import csv
import io
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from paceline.characters import visible
from paceline.cli.data import json_text
from paceline.display.text import clean
from paceline.errors import InvalidInput
from paceline.races import checks
from paceline.result import Result
from paceline.story.numbers import format_value
from paceline.story.standing import ArmRecord

_EXPORTS = (".csv", ".json", ".md")
# Spreadsheets calculate a cell that begins like this, also after blanks, or in full width.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$]")


def check_exports(paths: Sequence[Path]) -> None:
    """Refuse files that could not be written when the race is over."""
    for path in paths:
        checks.path(path, "--export")
        if path.suffix not in _EXPORTS:
            raise InvalidInput(f"cannot export {path}: its name must end in {', '.join(_EXPORTS)}")
        if not path.absolute().parent.is_dir():
            raise InvalidInput(f"cannot export {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise InvalidInput(f"cannot export {path}: it is a folder")


def export(result: Result, path: Path) -> None:
    """Write the standings, the best first, in the format that the suffix says."""
    if path.suffix == ".json":
        text = json_text(result.to_json()) + "\n"
    else:
        names = [field.name for field in fields(ArmRecord)]
        rows = [list(asdict(record).values()) for record in result.ranked()]
        text = (_as_csv if path.suffix == ".csv" else _as_markdown)(names, rows)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        # The verdict is worth more than the file: report this, and still print the verdict.
        print(f"paceline: cannot write {path}: {error.strerror}", file=sys.stderr)


def _as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet shows, and never takes for a formula.

    >>> _csv_cell("=1+1"), _csv_cell("-1.5"), _csv_cell(-1.5), _csv_cell(float("inf"))
    ("'=1+1", '-1.5', -1.5, '')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    if not isinstance(value, str):
        return value
    text = visible(value)
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _as_markdown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any]) -> str:
        words = (_MARKUP.sub(r"\\\g<0>", clean(format_value(cell))) for cell in cells)
        return f"| {' | '.join(words)} |\n"

    dashes = f"| {' | '.join(['---'] * len(names))} |\n"
    return line(names) + dashes + "".join(line(row) for row in rows)
