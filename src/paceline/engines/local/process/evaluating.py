"""Turns what a function returns or raises into a number, or into what went wrong."""

import contextlib
import math
import os
import traceback
from typing import Any, Literal

Trouble = tuple[  # kind, message and detail of a failure, for which the driver has a class
    Literal["exception", "no number", "exit status", "no start"], str, str
]

_LONGEST_TEXT = 8_000  # characters of a traceback that are kept
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class NoNumber(Exception):
    """What a pull gave is not a finite number."""


def number(value: Any) -> float:
    """The number that a pull gave.

    >>> number(True), number(2)
    (1.0, 2.0)
    >>> number("2")
    Traceback (most recent call last):
        ...
    paceline.engines.local.process.evaluating.NoNumber: gave '2', which is not a number
    """
    if type(value) is not float:
        value = _converted(value)
    if not math.isfinite(value):
        raise NoNumber(f"gave {value}")
    return float(value)


def _converted(value: Any) -> float:
    with contextlib.suppress(TypeError, ValueError):
        if not isinstance(value, str | bytes):
            return float(value)
    raise NoNumber(f"gave {repr(value)[:200]}, which is not a number")


def trouble(error: BaseException, what: str = "") -> Trouble:
    """What went wrong, with the traceback of the user's own lines; `what` replaces 'raised …'.

    >>> trouble(NoNumber("gave nan"))
    ('no number', 'gave nan', '')
    >>> trouble(KeyError("rate"))
    ('exception', "raised KeyError: 'rate'", "KeyError: 'rate'\\n")
    """
    if isinstance(error, NoNumber):
        return "no number", str(error), ""
    message = what or f"raised {type(error).__name__}: {error}"
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next  # only the user's own lines matter
    text = "".join(traceback.format_exception(type(error), error, trace))
    return "exception", message[:_LONGEST_TEXT], text[-_LONGEST_TEXT:]
