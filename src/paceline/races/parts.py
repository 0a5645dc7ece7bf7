"""What an arm is made of: the parts that have names."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_NAMELESS = (type, ModuleType, np.ndarray, np.generic, str, int, float, type(None), *_FUNCTIONS)


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
