"""Turns what a function returns or raises into a number, or into what went wrong.

Exceptions and values are the user's, and so are their methods: any of them may raise in turn.
"""

import contextlib
import math
import os
import traceback
from typing import Any, Literal, get_args

from .outside import is_shortage

TroubleKind = Literal[
    "exception", "no number", "exit status", "no start", "machine", "killed", "shortage"
]
Trouble = tuple[TroubleKind, str, str]  # kind, message and detail; the driver has a class for it
TROUBLES = get_args(TroubleKind)

_LONGEST_TEXT = 8_000  # characters of a message or a traceback that are kept
_LONGEST_VALUE = 200
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class NoNumber(Exception):
    """What a pull gave is not a finite number."""


def number(value: Any, *, is_finite: Any = math.isfinite) -> float:
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
    if not is_finite(value):
        raise NoNumber(f"gave {value}")
    return float(value)


def _converted(value: Any) -> float:
    with contextlib.suppress(TypeError, ValueError):
        if not isinstance(value, str | bytes | bytearray):
            return float(value)
    raise NoNumber(f"gave {_shown(repr, value)[:_LONGEST_VALUE]}, which is not a number")


def trouble(error: BaseException, what: str = "") -> Trouble:
    """What went wrong, with the traceback of the user's own lines.

    `what` says what could not be done before the pull began, and replaces 'raised …'.

    >>> trouble(NoNumber("gave nan"))
    ('no number', 'gave nan', '')
    >>> trouble(KeyError("rate"))
    ('exception', "raised KeyError: 'rate'", "KeyError: 'rate'\\n")
    >>> trouble(MemoryError("too much"))[:2]
    ('shortage', 'raised MemoryError: too much')

    A function that calls `sys.exit` is told of as a command is:

    >>> trouble(SystemExit(3))
    ('exit status', 'ended with status 3', 'SystemExit: 3\\n')
    """
    try:
        return _told(error, what)
    except BaseException:  # whatever a user's exception may do when it is looked at
        return "exception", what or "raised an exception that cannot be written", ""


def _told(error: BaseException, what: str) -> Trouble:
    if isinstance(error, NoNumber):
        return "no number", kept(str(error)), ""
    detail = _kept_end(_traceback(error))
    if isinstance(error, SystemExit) and not what and isinstance(error.code, int | None):
        # As the parent of a process sees it: eight bits. A text instead of a code is a message.
        return "exit status", f"ended with status {int(error.code or 0) & 0xFF}", detail
    text = _shown(str, error)
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if not is_shortage(error):
        return "exception", kept(what or f"raised {named}"), detail
    if what:  # before its first pull: nobody but the machine is to blame
        return "machine", kept(f"{what}: {text or named}"), detail
    return "shortage", kept(f"raised {named}"), detail


def _traceback(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next  # only the user's own lines matter
    try:
        return "".join(traceback.format_exception(type(error), error, trace))
    except BaseException:  # whatever its parts raise when they are written
        return "".join(traceback.format_tb(trace)) + f"{type(error).__name__}\n"


def _shown(write: Any, thing: Any) -> str:
    """Have a thing written by `str` or `repr`, or say that it cannot be."""
    try:
        return str(write(thing))
    except BaseException:
        return f"<{type(thing).__name__} that cannot be written>"


def kept(text: str) -> str:
    """As much of a text as goes into a message."""
    return _writable(text[:_LONGEST_TEXT])


def _kept_end(text: str) -> str:
    return _writable(text[-_LONGEST_TEXT:])


def _writable(text: str) -> str:
    """Without halves of characters, which no file can hold."""
    return text.encode(errors="replace").decode()
