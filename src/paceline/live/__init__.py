"""A page that follows a race while it runs, made of its journal by a process of its own.

`Watch` looks at the journal, whatever happens to it. `Following` is the thread that decides when.
`Shown` knows what changed since when, and so what a viewer lacks. `Hub` tells all viewers. `Guard`
stands before them. The page itself is made by `paceline.report`.
"""

import contextlib
from collections.abc import Iterator

from paceline.errors import MissingExtra

LOOPBACK = "127.0.0.1"


@contextlib.contextmanager
def needs_server() -> Iterator[None]:
    """Say what to install if an import fails."""
    try:
        yield
    except MissingExtra:
        raise
    except ImportError as error:
        raise MissingExtra(
            f"a live page needs {error.name}: pip install 'paceline[live]'"
        ) from None
