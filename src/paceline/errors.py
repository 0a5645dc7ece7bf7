"""The errors paceline raises on purpose: one small tree.

Every message says what was seen and what to do next. Imports nothing from paceline.
"""

import difflib
import math
from collections.abc import Iterable


class PacelineError(Exception):
    """Anything paceline raises on purpose."""


class InvalidInput(PacelineError, ValueError):
    """The caller gave something that cannot be run; nothing has been run."""


class ScalingWarning(UserWarning):
    """A scaling function breaks an assumption that makes bigger rounds worthwhile."""


class RaceWarning(UserWarning):
    """Something about the values of a race looks wrong, or it may take very long."""


class MissingExtra(PacelineError, ImportError):
    """A feature needs an optional dependency that is not installed."""


class RaceFailed(PacelineError):
    """Pulls or a disk failed, which stopped the race; what was recorded is in its journal."""


class Interrupted(KeyboardInterrupt):
    """A race was interrupted; the message says what is kept, and how to go on."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InvalidInput:
    """Build the error for a name that is not in a catalog, with the nearest one that is.

    >>> print(unknown_name("policy", "arp", ["apr", "ssh"]))
    unknown policy 'arp': did you mean 'apr'? Known: apr, ssh
    """
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f": did you mean {near[0]!r}?" if near else "."
    return InvalidInput(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")


def at_least(value: float) -> str:
    """Write a limit that was missed, rounded up, so that the value written is enough.

    >>> at_least(32.01562118716424), at_least(8.0)
    ('32.02', '8')
    """
    if not 0 < value < math.inf:
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / step - 1e-6) * step:.6g}"
