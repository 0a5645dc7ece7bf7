"""Following a loop: what it is told as items pass, whoever shows it."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Track(Protocol):
    """Follows the progress of a loop; on a terminal, with a bar."""

    def __call__(self, items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
        """Yield the items, showing what this is and how many of `total` are done."""


def untracked(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:  # noqa: ARG001
    """Follow nothing: the choice for logs and tests."""
    yield from items
