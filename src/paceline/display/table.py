"""Tables of plain values, and how they are printed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paceline.characters import clean, visible
from paceline.display.text import cell_width, pad
from paceline.display.window import window_width
from paceline.story.numbers import format_value


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values; the first `keys` columns say what a row is about."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    keys: int = 1


def print_table(table: Table, width: int | None = None) -> None:
    """Print a table; if the window is too narrow, in blocks that repeat the key columns.

    >>> print_table(Table(("q", "seconds"), [(0.5, 113.2), (0.25, 17.0)]), width=80)
       q  seconds
     0.5    113.2
    0.25       17
    """
    columns = [
        _column(name, [row[place] for row in table.rows])
        for place, name in enumerate(table.columns)
    ]
    for i, block in enumerate(_blocks(columns, table.keys, width or window_width())):
        if i:
            print()
        for line in zip(*block, strict=True):
            print("  ".join(line).rstrip())


def _column(name: str, values: list[Any]) -> list[str]:
    """A column as text, padded to one width: words to the left, numbers to the right."""
    cells = [clean(name), *(_cell(value) for value in values)]
    width = max(cell_width(cell) for cell in cells)
    if any(isinstance(value, str) for value in values):
        return [pad(cell, width) for cell in cells]
    return [cell.rjust(width) for cell in cells]


def _cell(value: Any) -> str:
    """A value as text; blanks that it begins with align it."""
    return visible(format_value(value), keep="")


def _blocks(columns: list[list[str]], keys: int, width: int) -> Iterator[list[list[str]]]:
    block = columns[:keys]
    for column in columns[keys:]:
        used = sum(cell_width(cells[0]) + 2 for cells in block)
        if used + cell_width(column[0]) > width and len(block) > keys:
            yield block
            block = columns[:keys]
        block.append(column)
    yield block
