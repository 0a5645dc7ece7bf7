"""What a viewer lacks: each part of the page with the version in which it last changed."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from paceline.live.watching import Status
from paceline.report import Parts

Columns = Mapping[str, list[Any]]
_ROW = "<tr"  # long fragments are tables: they are sent by row


@dataclass(frozen=True, eq=False)
class Fragment:
    """The inside of an element, and what it was one version earlier."""

    version: int
    text: str
    before: str | None = None

    @cached_property
    def whole(self) -> str:
        """All of it, as JSON."""
        return as_json(self.text)

    @cached_property
    def piece(self) -> str | None:
        """How to make it of the text before, as JSON: new rows, and runs of old ones.

        >>> Fragment(2, "<tr>one<tr>two<tr>4", before="<tr>one<tr>two<tr>3").piece
        '[[0,2],"<tr>4"]'
        """
        if self.before is None:
            return None
        places = {row: place for place, row in enumerate(_rows(self.before))}
        steps = [places.get(row, row) for row in _rows(self.text)]
        piece = as_json(list(_runs(steps)))
        return piece if len(piece) < len(self.whole) else None


@dataclass(frozen=True, eq=False)
class Source:
    """The columns of a chart, and how many rows of them there were one version earlier."""

    version: int
    columns: Columns
    before: int | None = None  # None if more has changed than that rows were added

    @cached_property
    def whole(self) -> str:
        """All of it, as JSON."""
        return as_json(self.columns)

    @cached_property
    def piece(self) -> str | None:
        """The rows to add, as JSON.

        >>> Source(2, {"x": [1, 2, 3]}, before=2).piece
        '{"x":[3]}'
        """
        if self.before is None:
            return None
        added = {name: column[self.before :] for name, column in self.columns.items()}
        return as_json(added)


@dataclass(frozen=True)
class Shown:
    """What the page shows by now. `server` tells the pages of one server from those of another."""

    status: Status
    server: str = field(default_factory=lambda: secrets.token_hex(4))
    version: int = 0  # 0 while there is nothing to show but the status
    fragments: Mapping[str, Fragment] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    parts: Parts | None = None

    @property
    def place(self) -> str:
        """What names this version, also for a browser that comes back."""
        return f"{self.server}.{self.version}"

    def then(self, status: Status, parts: Parts | None) -> "Shown":
        """What is shown next; without new parts, the old ones stay."""
        if parts is None:
            return replace(self, status=status)
        now = self.version + 1
        fragments = {
            name: _next_fragment(self.fragments.get(name), text, now)
            for name, text in parts.fragments.items()
        }
        sources = {
            name: _next_source(self.sources.get(name), columns, now)
            for name, columns in parts.data.items()
        }
        made: list[Fragment | Source] = [*fragments.values(), *sources.values()]
        if not any(one.version == now for one in made):
            return replace(self, status=status)
        return Shown(status, self.server, now, fragments, sources, parts)


class Viewer:
    """A browser that has a page open: which version it shows, and what it holds of it.

    Of what it holds, it is sent only what is new.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self._holds: set[tuple[str, str]] = set()

    def lacks(self, shown: Shown) -> str:
        """What to send, as JSON, if anything; the viewer then shows that version."""
        kinds: dict[str, Mapping[str, Fragment | Source]] = {
            "fragments": shown.fragments,
            "data": shown.sources,
        }
        texts: dict[str, list[str]] = {"fragments": [], "data": [], "rows": [], "more": []}
        for kind, parts in kinds.items():
            for name, part in parts.items():
                if part.version <= self.version:
                    continue
                follows = self.version == shown.version - 1 and (kind, name) in self._holds
                piece = part.piece if follows else None
                where = kind if piece is None else {"fragments": "rows", "data": "more"}[kind]
                texts[where].append(f"{as_json(name)}:{part.whole if piece is None else piece}")
                self._holds.add((kind, name))
        self.version = shown.version
        full = {where: some for where, some in texts.items() if some}
        if not full:
            return ""
        return "{" + ",".join(f'"{name}":{{{",".join(some)}}}' for name, some in full.items()) + "}"


def _next_fragment(last: Fragment | None, text: str, now: int) -> Fragment:
    if last is None:
        return Fragment(now, text)
    return last if last.text == text else Fragment(now, text, last.text)


def _next_source(last: Source | None, columns: Columns, now: int) -> Source:
    if last is None:
        return Source(now, columns)
    if last.columns == columns:
        return last
    sizes = {len(column) for column in last.columns.values()}
    if len(sizes) == 1:
        (size,) = sizes
        if {name: column[:size] for name, column in columns.items()} == last.columns:
            return Source(now, columns, size)
    return Source(now, columns)


def _rows(text: str) -> list[str]:
    first, *others = text.split(_ROW)
    return [*([first] if first else []), *(_ROW + row for row in others)]


def _runs(steps: Iterable[int | str]) -> Iterable[list[int] | str]:
    """Old rows that follow each other as [first, how many]."""
    numbered = enumerate(steps)
    for _, group in groupby(
        numbered, key=lambda one: one[1] - one[0] if isinstance(one[1], int) else one[1]
    ):
        some = [step for _, step in group]
        if isinstance(some[0], int):
            yield [some[0], len(some)]
        else:
            yield from (step for step in some if isinstance(step, str))


def as_json(plain: Any) -> str:
    """A value on one line."""
    return json.dumps(plain, separators=(",", ":"), allow_nan=False)
