"""The parameters of arms: what they are made of, by name, for tables and pictures."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (str, int, float, bool, type(None))
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_NAMELESS = (type, ModuleType, np.ndarray, np.generic, *_PLAIN, *_FUNCTIONS)
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

    >>> from functools import partial
    >>> from types import SimpleNamespace
    >>> named_parts(SimpleNamespace(lr=0.1, _cache={})), named_parts("adam")
    ({'lr': 0.1}, None)
    >>> named_parts(partial(pow, exp=2))
    {'exp': 2}
    """
    if isinstance(arm, Mapping):
        return arm
    if isinstance(arm, tuple) and hasattr(arm, "_asdict"):  # a named tuple
        parts: Mapping[Any, Any] = arm._asdict()
        return parts
    if isinstance(arm, np.void) and arm.dtype.names:  # a row of a structured array
        return {name: arm[name] for name in arm.dtype.names}
    if isinstance(arm, _NAMELESS):
        return None
    if isinstance(arm, partial):
        return arm.keywords or None
    if is_dataclass(arm):
        return _shown(arm, fields(arm))
    described = getattr(type(arm), "__attrs_attrs__", None)  # a class of attrs
    if described is not None:
        return _shown(arm, described)
    own = dict(getattr(arm, "__dict__", ()))
    for one in type(arm).__mro__:
        slots = one.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        own |= {name: getattr(arm, name) for name in names if hasattr(arm, name)}
    return {name: part for name, part in own.items() if not name.startswith("_")} or None


def _shown(arm: Any, described: Iterable[Any]) -> dict[str, Any]:
    """The fields that the class wants to be shown."""
    return {one.name: getattr(arm, one.name, None) for one in described if one.repr}


def _plain(part: Any) -> Any:
    part = part.item() if isinstance(part, np.generic) else part
    return part if isinstance(part, _PLAIN) else repr(part)[:_LONGEST]
