"""A page that follows a race while it runs, made of its journal by a process of its own.

`Watch` looks at the journal, whatever happens to it. `Following` is the thread that decides when.
`Shown` knows what changed since when, and so what a viewer lacks. `Hub` tells all viewers. `Guard`
stands before them. The page itself is made by `paceline.report`.
"""

import importlib.util

from paceline.errors import MissingExtra

LOOPBACK = "127.0.0.1"
_NEEDED = ("starlette", "uvicorn", "bokeh")


def check_server() -> None:
    """Say what to install if something is missing, before anything runs."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"a live page needs {' and '.join(missing)}: pip install 'paceline[live]'"
        )
