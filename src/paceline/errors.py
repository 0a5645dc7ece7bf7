"""The errors paceline raises on purpose: one small tree.

Every message says what was seen and what to do next. Imports nothing of paceline.
"""

import difflib
from collections.abc import Iterable


class PacelineError(Exception):
    """Anything paceline raises on purpose."""


class InvalidInput(PacelineError, ValueError):
    """The caller gave something that cannot be run; nothing has been run."""


class MissingExtra(PacelineError, ImportError):
    """A feature needs an optional dependency that is not installed."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InvalidInput:
    """Build the error for a name that is not in a catalog, with the nearest one that is.

    >>> print(unknown_name("policy", "arp", ["apr", "ssh"]))
    unknown policy 'arp': did you mean 'apr'? Known: apr, ssh
    """
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InvalidInput(f"unknown {kind} {name!r}: {hint}Known: {', '.join(names)}")
