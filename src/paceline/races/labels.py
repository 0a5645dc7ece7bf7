"""Arms in a few words, which are the same in every process."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from inspect import ismethod
from pathlib import PurePath
from typing import Any

import numpy as np

from paceline.errors import InvalidInput
from paceline.races.parts import named_parts

_LONGEST_LABEL = 60
_MOST_PARTS = 20  # of a list or an array that are written
_DEEPEST = 3  # objects within objects, which may hold each other
_LOCALS = re.compile(r"[\w.]+\.<locals>\.")  # where a class was made
_WRITTEN = (str, Decimal, Fraction, PurePath, date, timedelta)  # they say best what they are


def label_of(arm: Any) -> str:
    """An arm in a few words.

    >>> label_of({"x": 4, "mode": "fast"}), label_of(0.5), label_of("adam"), label_of(len)
    ('x=4 mode=fast', '0.5', 'adam', 'len')
    >>> class Model:
    ...     def __init__(self, rate):
    ...         self.rate = rate
    >>> label_of(Model(0.1)), label_of({"model": Model(0.5)})
    ('Model(rate=0.1)', 'model=Model(rate=0.5)')
    """
    if isinstance(arm, Mapping | np.void) or (isinstance(arm, tuple) and hasattr(arm, "_asdict")):
        parts = named_parts(arm) or {}
        text = " ".join(f"{name}={_told(part)}" for name, part in parts.items()) or "{}"
        text = text.removeprefix("command=") if len(parts) == 1 else text  # "command=" adds nothing
    else:
        text = _told(arm)
    text = " ".join(text.split())
    if len(text) <= _LONGEST_LABEL:
        return text
    half = _LONGEST_LABEL // 2
    return f"{text[:half]}…{text[1 - half :]}"  # labels may differ at either end


def labels_of(arms: Sequence[Any]) -> tuple[str, ...]:
    """A label for every arm, each another one."""
    labels = []
    for number, arm in enumerate(arms):
        try:
            labels.append(label_of(arm))
        except Exception as error:  # of the user's own __repr__
            raise InvalidInput(f"arm {number} cannot be written as text: {error!r}") from error
    return told_apart(labels)


def told_apart(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels; those that would be the same get the arms' numbers.

    >>> told_apart(["adam", "sgd", "adam"]), told_apart(["a", "a", "a #0"])
    (('adam #0', 'sgd', 'adam #2'), ('a #0 #0', 'a #1', 'a #0 #2'))
    """
    found = tuple(labels)
    while len(set(found)) < len(found):
        often = Counter(found)
        found = tuple(
            f"{label} #{number}" if often[label] > 1 else label
            for number, label in enumerate(found)
        )
    return found


def without_addresses(text: str) -> str:
    """A `repr` without addresses, which change from process to process.

    >>> without_addresses("<Model object at 0x7f3a>")
    '<Model object>'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def written(value: Any) -> str:
    """A value in a line, where a text has quotes: the same in every process.

    >>> written((3, "a")), written(len), written({"b", "a"})
    ("(3, 'a')", 'len', "{'a', 'b'}")
    """
    return " ".join(_told(value, depth=1).split())


def _told(value: Any, depth: int = 0) -> str:
    """A value in a line; within another one, a text has quotes."""
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str) and depth:
        return repr(value)
    if isinstance(value, _WRITTEN):
        return str(value)
    if depth > _DEEPEST:
        return type(value).__name__
    if type(value) in (list, tuple, dict, set, frozenset) or isinstance(value, np.ndarray):
        return _told_parts(value, depth + 1)
    if isinstance(value, partial):
        given = [_told(one, depth + 1) for one in value.args]
        return _call(_told(value.func, depth + 1), [*given, *_fields(value.keywords, depth)])
    name = getattr(value, "__name__", None)
    if isinstance(name, str):  # a function, or a class
        return f"{_told(value.__self__, depth + 1)}.{name}" if ismethod(value) else name
    return _told_object(value, depth)


def _told_parts(value: Any, depth: int) -> str:
    """What a list, a dict, a set or an array holds."""
    if isinstance(value, np.ndarray):
        if value.size > _MOST_PARTS:
            return repr(value)
        return _told_parts(value.tolist(), depth) if value.ndim else _told(value.item(), depth)
    if isinstance(value, dict):
        pairs = [f"{_told(key, depth)}: {_told(one, depth)}" for key, one in value.items()]
        return f"{{{_few(pairs)}}}"
    if isinstance(value, Set):  # its order is another one in every process
        return f"{{{_few(sorted(_told(one, depth) for one in value))}}}" if value else "set()"
    few = _few([_told(one, depth) for one in value])
    if isinstance(value, list):
        return f"[{few}]"
    return f"({few},)" if len(value) == 1 else f"({few})"


def _told_object(value: Any, depth: int) -> str:
    """An object by its own `repr` or `str`, if they say something; otherwise by its fields."""
    kind, parts = type(value), named_parts(value) or {}
    own = [write for write in (repr, str) if not _inherits(kind, f"__{write.__name__}__")]
    text = own[0](value) if own else ""
    unsure = " at 0x" in text or any(isinstance(one, Set) for one in parts.values())
    if own and not (unsure and parts):
        for address in (hex(id(value)), str(id(value))):
            text = text.replace(address, "")
        return _LOCALS.sub("", without_addresses(text))
    if not parts and isinstance(hidden := getattr(value, "__dict__", None), dict):
        parts = hidden
    return _call(kind.__name__, list(_fields(parts, depth)))


def _inherits(kind: type, method: str) -> bool:
    """Whether it is that of every object, which says an address."""
    return getattr(kind, method) is getattr(object, method)


def _fields(parts: Mapping[Any, Any], depth: int) -> Iterator[str]:
    for name, part in parts.items():
        yield f"{name}={_told(part, depth + 1)}"


def _call(name: str, given: Sequence[str]) -> str:
    return f"{name}({_few(given)})" if given else name


def _few(parts: Sequence[str]) -> str:
    if len(parts) > _MOST_PARTS:
        half = _MOST_PARTS // 2
        parts = [*parts[:half], "…", *parts[-half:]]
    return ", ".join(parts)
