"""What commands print: tables that fit the window, and progress bars only on a terminal."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from paceline.progress import Item, untracked
from paceline.tables import Table, format_value


def print_table(table: Table, width: int | None = None) -> None:
    """Print a table; in a window too narrow for it, in blocks that repeat the key columns.

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
    cells = [name, *(format_value(value) for value in values)]
    width = max(len(cell) for cell in cells)
    if any(isinstance(value, str) for value in values):
        return [cell.ljust(width) for cell in cells]
    return [cell.rjust(width) for cell in cells]


def window_width() -> int:
    """How many columns stdout has."""
    # A log has no width: never break a table in one.
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def _blocks(columns: list[list[str]], keys: int, width: int) -> Iterator[list[list[str]]]:
    block = columns[:keys]
    for column in columns[keys:]:
        used = sum(len(cells[0]) + 2 for cells in block)
        if used + len(column[0]) > width and len(block) > keys:
            yield block
            block = columns[:keys]
        block.append(column)
    yield block


def track_on_terminal(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Show a progress bar while the items pass, if somebody is watching."""
    if not sys.stderr.isatty():
        yield from untracked(items, total, label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    name = TextColumn("{task.description}")
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=label)
