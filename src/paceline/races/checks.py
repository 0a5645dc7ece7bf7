"""Checks of single values: each returns the value as `paceline.race` uses it, or refuses it.

A value that has passed a check passes it again.
"""

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np

from paceline.commands.template import check_text
from paceline.core.arrays import (
    failure_probability,
    finite_floats,
    non_negative,
    positive,
    squarable,
    whole,
)
from paceline.core.pool import MOST_CORES
from paceline.core.scaling import Scaling
from paceline.durations import Deadline, deadline_of, seconds_of
from paceline.errors import InvalidInput, seen, unknown_name
from paceline.notation import parse_policy, parse_scaling
from paceline.policies.base import Policy
from paceline.policies.catalog import find_policy
from paceline.races.callbacks import has_methods, is_callback

Check = Callable[[Any, str], Any]  # takes a value, and its name in error messages


def optional(check: Check) -> Check:
    """The same check, where None leaves the choice to paceline."""
    return lambda value, what: None if value is None else check(value, what)


def one_of(*known: str) -> Check:
    """One of a few words."""

    def check(value: Any, what: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise unknown_name(what, value, known)
        return str(value)

    return check


def count(least: int, most: int | None = None) -> Check:
    """A whole number, at least `least` and at most `most`."""
    return lambda value, what: whole(value, what, least=least, most=most)


def size(value: Any, what: str) -> float:
    """A distance between values; 0 is none."""
    return squarable(non_negative(value, what), what, least=0.0)


def truth(value: Any, what: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{what} must be true or false, got {seen(value)}")
    return bool(value)


def truth_or_none(value: Any, what: str) -> bool | None:
    """True, False, or None, which leaves the choice to paceline."""
    if not (value is None or isinstance(value, bool | np.bool_)):
        raise InvalidInput(f"{what} must be True, False or None, got {seen(value)}")
    return None if value is None else bool(value)


def confidence(value: Any, _what: str) -> float:
    """A probability such as 0.95."""
    failure_probability(value)
    return float(value)


def deadline(value: Any, what: str) -> Any:
    """A span of time or a moment; whether it has passed is checked when the race starts."""
    if not isinstance(value, Deadline):
        deadline_of(value, datetime(1970, 1, 2, tzinfo=UTC), what)
    return value


def span(value: Any, what: str) -> float:
    """A span of time, in seconds."""
    return seconds_of(value, what)


def bounds(value: Any, what: str) -> tuple[float, float]:
    """The lowest and the highest value."""
    is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    pair = finite_floats(value if is_list else [], what).tolist()
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise InvalidInput(f"{what} must be (lowest, highest), as in (0, 1), got {seen(value)}")
    return pair[0], pair[1]


def cores_per_pull(value: Any, what: str) -> int | tuple[int, int]:
    """A number of cores, or the least and the most."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return whole(cast(int, value), what, most=MOST_CORES)
    if len(value) != 2:
        raise InvalidInput(
            f"{what} must be a number or (least, most), as in (1, 8), got {seen(value)}"
        )
    least = whole(value[0], f"the least of {what}", most=MOST_CORES)
    most = whole(value[1], f"the most of {what}", most=MOST_CORES)
    if least > most:
        raise InvalidInput(f"{what} runs from {least} down to {most}: swap them")
    return least, most


def max_pulls(value: Any, what: str) -> int:
    """A whole number of pulls, which may be written as a float."""
    if positive(value, what) % 1:
        raise InvalidInput(f"{what} must be a whole number, got {seen(value)}")
    return int(value)


def policy(value: Any, _what: str) -> Policy:
    """A policy, its name, or a word such as apr:beta=3."""
    if isinstance(value, str) and ":" in value:
        return parse_policy(value)
    return find_policy(value)


def scaling(value: Any, what: str) -> Scaling:
    """A scaling, or a word such as power:0.5."""
    if isinstance(value, str):
        return parse_scaling(value)
    if not isinstance(value, Scaling):
        raise InvalidInput(f"{what} must be a Scaling such as PowerLaw(0.5), got {seen(value)}")
    return value


def path(value: Any, what: str) -> str:
    """A path that a file can have: not empty, and without a zero byte."""
    try:
        text = os.fspath(value)
    except TypeError:
        text = None
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{what} must be a path, got {seen(value)}")
    check_text(text, what)
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(f"{what} is too long for a path, got {seen(value)}") from None
    return text


def callbacks(value: Any, _what: str) -> tuple[Any, ...]:
    """Functions of a `Standing`, and objects with methods to call."""
    refused = InvalidInput(
        "callbacks must be a list of functions of a Standing, or of objects with on_round, "
        f"on_result or on_end, got {seen(value)}"
    )
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise refused
    try:
        given = tuple(value)
    except TypeError:
        raise refused from None
    if not all(map(is_callback, given)):
        raise refused
    for one in given:
        if isinstance(one, type) and has_methods(one):
            raise InvalidInput(f"{one.__name__} is a class: write callbacks=[{one.__name__}()]")
    return given


def progress(value: Any, _what: str) -> Any:
    """None, True, False, or a screen of the user's own."""
    able = all(hasattr(value, name) for name in ("update", "close"))
    if not (value is None or isinstance(value, bool) or able):
        raise InvalidInput(
            f"progress must be None, True, False, or have update and close, got {seen(value)}"
        )
    return value
