"""The arms of a race as a user gives them: a list, a dict, a data frame, an array."""

import sys
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    Set,
)
from itertools import islice
from typing import Any

from paceline.commands.ranges import MOST_ARMS
from paceline.errors import InvalidInput, seen
from paceline.races.labels import label_of, labels_of, told_apart

Arms = tuple[Any, ...]
_WANTED = "arms must be a list of candidates, or a dict of name -> candidate"


def arms_and_labels(given: Iterable[Any], labels: Sequence[str] | None) -> tuple[Arms, Arms]:
    """The candidates, and what each is called: as `labels` say, or the user's own names for them.

    >>> arms_and_labels({"slow": 0.1, "fast": 0.5}, None)
    ((0.1, 0.5), ('slow', 'fast'))
    >>> arms_and_labels([{"x": 1}, {"x": 2}], None)[1], arms_and_labels([1, 2], ["one", "two"])[1]
    (('x=1', 'x=2'), ('one', 'two'))
    """
    arms, names = _candidates(given)
    if len(arms) > MOST_ARMS:
        raise InvalidInput(f"there are more than {MOST_ARMS:,} arms: give fewer")
    if len(arms) < 2:
        raise InvalidInput(
            f"there {'is only one arm' if arms else 'are no arms'}: give at least two candidates"
        )
    if labels is None:
        return arms, labels_of(arms) if names is None else names
    if isinstance(given, Mapping):
        raise InvalidInput("labels: the arms have names already, as they are a dict: leave it out")
    if len(labels) != len(arms):
        raise InvalidInput(
            f"there are {len(labels)} labels for {len(arms)} arms: give one for each"
        )
    return arms, told_apart(labels)


def names_of(given: Any, _what: str) -> tuple[str, ...]:
    """Names for arms that a user gives in a list: texts, numbers, whatever can be written."""
    if isinstance(given, str | bytes | Mapping) or _is_unordered(given):
        raise InvalidInput(f"labels must be a list of names, got {seen(given)}")
    try:
        names = [label_of(name) for name in islice(given, MOST_ARMS + 1)]
    except Exception as error:  # not a list, or a name whose own code fails
        raise InvalidInput(f"labels must be a list of names, got {seen(given)}") from error
    for number, name in enumerate(names):
        if not name:
            raise InvalidInput(f"labels: that of arm {number} is empty: give it a name")
    return tuple(names)


def _candidates(given: Any) -> tuple[Arms, tuple[str, ...] | None]:
    """The arms, and their names if they have some."""
    if isinstance(given, Mapping):
        return tuple(given.values()), told_apart([_name(name) for name in given])
    kind = f"a {type(given).__name__}"
    if isinstance(given, str | bytes):
        raise InvalidInput(f"{_WANTED}, got {kind}, {seen(given)}: write [{seen(given)}, …]")
    if _is_unordered(given):
        raise InvalidInput(
            f"{_WANTED}, got {kind}, {seen(given)}: a set has no order, so sort it: sorted(arms), "
            "or list(arms) if its order does not change"
        )
    if isinstance(given, Iterator):
        raise InvalidInput(f"{_WANTED}, got {kind}, which can be read only once: write list(arms)")
    table = _of_pandas(given)
    if table is not None:
        return table
    try:
        each = iter(given)
    except TypeError:
        raise InvalidInput(f"{_WANTED}, got {kind}, {seen(given)}") from None
    return tuple(islice(each, MOST_ARMS + 1)), None  # some have no end


def _is_unordered(given: Any) -> bool:
    # The keys and items of a dict are sets to Python, but have an order.
    return isinstance(given, Set) and not isinstance(given, KeysView | ItemsView)


def _of_pandas(given: Any) -> tuple[Arms, tuple[str, ...] | None] | None:
    """The rows of a data frame as dicts, or what is in a series; None if it is something else."""
    pandas = sys.modules.get("pandas")  # whoever has a data frame has imported it
    frames, series = getattr(pandas, "DataFrame", ()), getattr(pandas, "Series", ())
    if isinstance(given, frames):
        twice = given.columns[given.columns.duplicated()]
        if len(twice):
            raise InvalidInput(f"two columns of the arms are called {twice[0]!r}: rename one")
        if not len(given.columns):
            raise InvalidInput("the data frame of the arms has no columns, so its rows say nothing")
        return tuple(given.to_dict("records")), _names_in(given.index)
    if isinstance(given, series):
        return tuple(given.tolist()), _names_in(given.index)
    return None


def _names_in(index: Any) -> tuple[str, ...] | None:
    """The names that an index gives to rows; None if it only counts them."""
    if isinstance(index, sys.modules["pandas"].RangeIndex):
        return None
    names = index.tolist()
    if index.nlevels > 1:
        levels = [f"{name}=" if name is not None else "" for name in index.names]
        names = [
            " ".join(f"{level}{_name(part)}" for level, part in zip(levels, row, strict=True))
            for row in names
        ]
    return told_apart([_name(name) for name in names])


def _name(name: Any) -> str:
    try:
        return label_of(name)
    except Exception as error:  # of the user's own __repr__
        raise InvalidInput(f"the name of an arm cannot be written as text: {error!r}") from error
