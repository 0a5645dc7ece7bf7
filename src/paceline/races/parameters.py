"""The parameters of arms: what they are made of, by name, for tables and pictures."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

_PLAIN = (str, int, float, bool, type(None))
_LONGEST = 200


def parameters_of(arms: Iterable[Any]) -> tuple[Mapping[str, Any] | None, ...]:
    """The parameters of each arm by name; nothing at all if no arm has names for them.

    >>> parameters_of([{"lr": 0.1, "layers": (3, 3)}, {"lr": 0.2}])
    ({'lr': 0.1, 'layers': '(3, 3)'}, {'lr': 0.2})
    >>> parameters_of([0.1, 0.2])
    ()
    """
    found = tuple(_parameters(arm) for arm in arms)
    return found if any(found) else ()


def _parameters(arm: Any) -> dict[str, Any] | None:
    try:
        named = named_parts(arm)
        return None if named is None else {str(name): _plain(part) for name, part in named.items()}
    except Exception:  # of the user's own methods: such an arm has no columns
        return None


def named_parts(arm: Any) -> Mapping[Any, Any] | None:
    """The parts of an arm that have names: entries of a mapping, or fields of an object.

    >>> from types import SimpleNamespace
    >>> named_parts(SimpleNamespace(lr=0.1, _cache={})), named_parts("adam")
    ({'lr': 0.1}, None)
    """
    if isinstance(arm, Mapping):
        return arm
    if hasattr(arm, "_asdict"):  # a named tuple
        parts: Mapping[Any, Any] = arm._asdict()
        return parts
    if is_dataclass(arm) and not isinstance(arm, type):
        return {one.name: getattr(arm, one.name, None) for one in fields(arm) if one.repr}
    if isinstance(arm, (type, np.ndarray, np.generic, *_PLAIN)) or callable(arm):
        return None
    own = getattr(arm, "__dict__", None)
    if not isinstance(own, dict):
        return None
    return {name: part for name, part in own.items() if not name.startswith("_")} or None


def _plain(part: Any) -> Any:
    part = part.item() if isinstance(part, np.generic) else part
    return part if isinstance(part, _PLAIN) else repr(part)[:_LONGEST]
