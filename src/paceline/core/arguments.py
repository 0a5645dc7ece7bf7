"""What a function takes, as its signature says."""

import functools
import inspect
from collections.abc import Callable
from typing import Any


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function takes an argument of that name; False if it cannot be inspected.

    >>> takes(lambda arm, seed: 0.0, "seed"), takes(abs, "seed")
    (True, False)
    """
    if isinstance(function, functools.partial) and name in function.keywords:
        return False  # it is fixed
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)
