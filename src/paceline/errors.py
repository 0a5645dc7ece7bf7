"""The errors paceline raises on purpose: one small tree.

Every message says what was seen and what to do next.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any

from paceline.characters import visible

_LONGEST_VALUE = 500  # characters of a value in a message


class _Visible:
    r"""An error or a warning whose text a terminal only shows, whatever is quoted in it.

    >>> str(InvalidInput("unknown arm '\x1b[2J'"))
    "unknown arm '\\x1b[2J'"
    """

    def __str__(self) -> str:
        return visible(super().__str__())


class PacelineError(_Visible, Exception):
    """Anything paceline raises on purpose."""


class InvalidInput(PacelineError, ValueError):
    """The caller gave something that cannot be run; nothing has been run."""


class ScalingWarning(_Visible, UserWarning):
    """A scaling function breaks an assumption that makes bigger rounds worthwhile."""


class RaceWarning(_Visible, UserWarning):
    """Something about the values of a race looks wrong, or it may take very long."""


class MissingExtra(PacelineError, ImportError):
    """A feature needs an optional dependency that is not installed."""


class RaceFailed(PacelineError):
    """Pulls or a disk failed, which stopped the race; what was recorded is in its journal."""


class Interrupted(_Visible, KeyboardInterrupt):
    """A race was interrupted; the message says what is kept, and how to go on.

    `result` is a `Result`: how the race stood then, undecided, with the best arm so far.
    """

    def __init__(self, message: str = "", result: Any = None) -> None:
        super().__init__(message)
        self.result = result


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InvalidInput:
    """Build the error for a name that is not in a catalog, with the nearest one that is.

    >>> print(unknown_name("policy", "arp", ["apr", "ssh"]))
    unknown policy 'arp': did you mean 'apr'? Known: apr, ssh
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5) if isinstance(name, str) else []
    hint = f": did you mean {near[0]!r}?" if near else "."
    return InvalidInput(f"unknown {kind} {seen(name)}{hint} Known: {', '.join(names)}")


def seen(value: object) -> str:
    """A value as it is quoted in a message: of a long one the beginning; and it never fails.

    >>> seen("a"), seen(10**5000)
    ("'a'", 'an int of 16610 bits')
    """
    try:
        text = repr(value)
    except Exception as error:
        if isinstance(value, int):  # Python writes no number of more than 4300 digits
            return f"an int of {value.bit_length()} bits"
        return f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def at_least(value: float) -> str:
    """Write a limit that was missed, rounded up, so that the value written is enough.

    >>> at_least(32.01562118716424), at_least(8.0)
    ('32.02', '8')
    """
    if not 0 < value < math.inf:
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / step - 1e-6) * step:.6g}"
