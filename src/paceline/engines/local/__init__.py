"""Worker processes on this machine: `engine="local"`.

The driver's side is here; `process/` runs in the processes that it starts. All of it needs Linux,
so it is imported only when the engine is chosen.
"""

import os
import socket
from typing import TYPE_CHECKING, Any

from paceline.errors import InvalidInput

if TYPE_CHECKING:
    from paceline.engines.local.engine import LocalEngine

__all__ = ["LocalEngine", "make"]

_NEEDED = (
    (os, "fork"),
    (os, "sched_setaffinity"),
    (os, "waitid"),
    (socket, "AF_UNIX"),
    (socket, "SOCK_SEQPACKET"),
    (socket, "send_fds"),
)


def make() -> "LocalEngine":
    """The engine of local processes; refuses a system that cannot have them.

    >>> make().name
    'local'
    """
    missing = [f"{module.__name__}.{name}" for module, name in _NEEDED if not hasattr(module, name)]
    try:
        if not missing:
            from paceline.engines.local.engine import LocalEngine

            return LocalEngine()
    except ImportError as error:
        missing = [str(error.name or error)]
    raise InvalidInput(
        f"the engine 'local' needs Linux (there is no {missing[0]} here): give an executor "
        "instead, as engine=concurrent.futures.ProcessPoolExecutor()"
    )


def __getattr__(name: str) -> Any:
    if name != "LocalEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paceline.engines.local.engine import LocalEngine

    return LocalEngine
