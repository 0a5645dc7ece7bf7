"""The engines by name: one line each."""

from collections.abc import Callable
from typing import Any, cast

from paceline.engines.base import Engine
from paceline.engines.local import LocalEngine
from paceline.errors import InvalidInput, unknown_name

ENGINES: dict[str, Callable[[], Engine]] = {
    "local": LocalEngine,
}

_MEMBERS = ("name", "abilities", "available", "open", "now")


def find_engine(engine: Any, what: str = "engine") -> Engine:
    """The engine given, or the one with the name given.

    >>> find_engine("local").name
    'local'
    """
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine]()
    if isinstance(engine, type):
        raise InvalidInput(f"{engine.__name__} is a class: write {engine.__name__}() instead")
    lacking = [member for member in _MEMBERS if not hasattr(engine, member)]
    if len(lacking) == len(_MEMBERS):
        raise unknown_name(what, engine, ENGINES)
    if lacking:
        raise InvalidInput(f"{engine!r} is not an engine: it has no {', no '.join(lacking)}")
    return cast(Engine, engine)
