"""Standings written to files; the suffix of the file's name says in which format."""

import csv
import io
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from paceline.display.numbers import format_value
from paceline.display.text import clean
from paceline.errors import InvalidInput
from paceline.result import ArmRecord, Result

_EXPORTS = (".csv", ".json", ".md")


def check_exports(paths: Sequence[Path]) -> None:
    """Refuse files that could not be written when the race is over."""
    for path in paths:
        if path.suffix not in _EXPORTS:
            raise InvalidInput(f"cannot export {path}: its name must end in {', '.join(_EXPORTS)}")
        if not path.absolute().parent.is_dir():
            raise InvalidInput(f"cannot export {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise InvalidInput(f"cannot export {path}: it is a folder")


def export(result: Result, path: Path) -> None:
    """Write the standings, the best first, in the format that the suffix says."""
    if path.suffix == ".json":
        text = json.dumps(result.to_json(), indent=2) + "\n"
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
    writer.writerows(
        ["" if isinstance(value, float) and not math.isfinite(value) else value for value in row]
        for row in rows
    )
    return text.getvalue()


def _as_markdown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any]) -> str:
        words = (clean(format_value(cell)).replace("|", r"\|") for cell in cells)
        return f"| {' | '.join(words)} |\n"

    return line(names) + line(["---"] * len(names)) + "".join(line(row) for row in rows)
