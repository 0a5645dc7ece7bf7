"""paceline: the best of many noisy options in the least wall-clock time."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.names import *  # noqa: F403
    from paceline.names import __all__ as __all__

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """A public name or a module, when it is asked for.

    Many processes that do pulls import a part of this package, which imports this file. To import
    everything here would take each of them a quarter of a second: 40 on two cores, five.
    """
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)  # what modules may have, and Python asks for
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
    names = importlib.import_module("paceline.names")
    for one in (*names.__all__, "__all__"):
        globals().setdefault(one, getattr(names, one))
    if name in globals():
        return globals()[name]
    raise AttributeError(f"module 'paceline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
