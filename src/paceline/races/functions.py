"""What makes a function what it is: its code, its defaults, what it closes over, what it uses."""

from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from paceline.races.code import is_users, names_in, names_in_code, source_of


@dataclass(frozen=True)
class Code:
    """The code of a function: its source, or else its bytecode."""

    function: FunctionType


@dataclass(frozen=True)
class Global:
    """A global that a function uses: data count by content, other objects by their class."""

    value: Any


def used_by(function: FunctionType, home: str | None = None) -> dict[str, Any]:
    """All that makes a function what it is, by what it is called.

    >>> unit = 2
    >>> def scale(arm, by=3):
    ...     return arm * by * unit
    >>> used_by(scale)["unit"], used_by(scale)["its defaults"]
    (Global(value=2), ((3,), None))
    """
    parts: dict[str, Any] = {"its code": Code(function)}
    if function.__defaults__ or function.__kwdefaults__:
        parts["its defaults"] = (function.__defaults__, function.__kwdefaults__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            parts[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            parts[name] = None
    node, names = source_of(function), names_in_code(function.__code__)
    known = {name: one for name, one in function.__globals__.items() if name[:2] != "__"}
    for name in sorted(names if node is None else names_in(node)):
        first, _, attribute = name.partition(".")
        value = known.get(first) if first in names else None
        if attribute and isinstance(value, ModuleType) and is_users(value, home):
            parts[name] = Global(getattr(value, attribute, None))
        elif not attribute and first in known and first in names:
            parts.setdefault(name, Global(value))
    return parts
