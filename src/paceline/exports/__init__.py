"""Files made of a race: its arms, its values, and its times as hyperfine writes them.

The ending of a file's name says how it is written.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from paceline.commands.template import check_text
from paceline.errors import InvalidInput, seen
from paceline.exports.hyperfine import as_hyperfine, check_times
from paceline.exports.text import csv_cell, write_csv, write_markdown
from paceline.story.columns import arm_columns, plain_parameters
from paceline.story.story import Story
from paceline.story.values import COLUMNS, Values

__all__ = [
    "ENDINGS",
    "check_place",
    "check_times",
    "json_text",
    "write_arms",
    "write_hyperfine",
    "write_values",
]

ENDINGS = {
    "arms": (".csv", ".json", ".md"),
    "values": (".csv", ".json"),
    "hyperfine": (".json",),
}


def json_text(plain: Any, indent: int | None = 2) -> str:
    r"""The value as JSON in plain ASCII, which passes a terminal and comes back as it was.

    >>> print(json_text({"label": "a\x7f\x1b"}))
    {
      "label": "a\u007f\u001b"
    }
    """
    # The one control character that JSON does not ask to be escaped; it only occurs in strings.
    return json.dumps(plain, indent=indent).replace("\x7f", "\\u007f")


def check_place(path: str | os.PathLike[str], what: str) -> Path:
    """Refuse a file that could not be written; `what` is one of `ENDINGS`.

    >>> check_place("race.pdf", "arms")
    Traceback (most recent call last):
        ...
    paceline.errors.InvalidInput: cannot export race.pdf: its name must end in .csv, .json or .md
    """
    try:
        place = Path(path)
    except TypeError:
        raise InvalidInput(f"a file to export to must be a path, got {seen(path)}") from None
    check_text(str(place), "a file to export to")
    *others, last = ENDINGS[what]
    if place.suffix not in ENDINGS[what]:
        endings = f"{', '.join(others)} or {last}" if others else last
        raise InvalidInput(f"cannot export {place}: its name must end in {endings}")
    if not place.absolute().parent.is_dir():
        raise InvalidInput(f"cannot export {place}: there is no folder {place.parent}")
    if place.is_dir():
        raise InvalidInput(f"cannot export {place}: it is a folder")
    return place


def write_arms(path: str | os.PathLike[str], story: Story, plain: dict[str, Any]) -> Path:
    """Write a row per arm, the best first; `plain` is the whole result, for JSON."""
    place = check_place(path, "arms")
    with place.open("w", encoding="utf-8", newline="") as stream:
        if place.suffix == ".json":
            stream.write(json_text(plain) + "\n")
            return place
        columns = arm_columns(story)
        rows = zip(*columns.values(), strict=True)
        if place.suffix == ".md":
            write_markdown(stream, list(columns), rows)
        else:
            write_csv(stream, list(columns), ([csv_cell(cell) for cell in row] for row in rows))
    return place


def write_values(path: str | os.PathLike[str], values: Values) -> Path:
    """Write a row per value, in the order in which they came, with its arm's parameters."""
    place = check_place(path, "values")
    write = _values_as_csv if place.suffix == ".csv" else _values_as_json
    with place.open("w", encoding="utf-8", newline="") as stream:
        write(stream, values)
    return place


def write_hyperfine(path: str | os.PathLike[str], story: Story) -> Path:
    """Write the times of commands as hyperfine's `--export-json` does."""
    place = check_place(path, "hyperfine")
    place.write_text(json_text(as_hyperfine(story)) + "\n", encoding="utf-8")
    return place


# There may be millions of values, so what is known of an arm is written once, not once per pull.


def _values_as_csv(stream: TextIO, values: Values) -> None:
    of_arms, rows = values.of_arms(), _rows(values)
    arms = zip(*of_arms.values(), strict=True)
    ends = [[csv_cell(cell) for cell in cells] for cells in arms]
    whole = ((*row, *ends[row[0]]) for row in rows) if ends else rows
    write_csv(stream, [*COLUMNS, *of_arms], whole)


def _values_as_json(stream: TextIO, values: Values) -> None:
    of_arms, rows = values.of_arms(), _rows(values)
    arms = zip(*of_arms.values(), strict=True)
    named = [plain_parameters(dict(zip(of_arms, cells, strict=True))) for cells in arms]
    ends = [f", {json_text(one, indent=None)[1:]}" for one in named]
    # All that is known of a pull are finite numbers, which JSON has as Python writes them.
    start = "{" + ", ".join(f'"{name}": %r' for name in COLUMNS)
    comma = "["
    for row in rows:
        stream.write(f"{comma}\n{start % row}{ends[row[0]] if ends else '}'}")
        comma = ","
    stream.write("\n]\n" if len(values) else "[]\n")


def _rows(values: Values) -> Iterator[tuple[Any, ...]]:
    columns = (getattr(values, name).tolist() for name in COLUMNS)
    return zip(*columns, strict=True)
