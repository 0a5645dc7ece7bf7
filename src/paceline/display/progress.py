"""Following a loop: a bar on a terminal, nothing in a log."""

import sys
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from paceline.characters import visible
from paceline.display.stream import styled

Item = TypeVar("Item")


class Track(Protocol):
    """Follows the progress of a loop; on a terminal, with a bar."""

    def __call__(self, items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
        """Yield the items, showing what this is and how many of `total` are done."""


def untracked(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:  # noqa: ARG001
    """Show nothing: for logs and tests."""
    yield from items


def track_on_terminal(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Show a progress bar while the items pass, if somebody is watching."""
    if not sys.stderr.isatty():
        yield from untracked(items, total, label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    name = TextColumn("{task.description}")
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=styled(sys.stderr)), transient=True) as bar:
        yield from bar.track(items, total=total, description=visible(label, ""))
