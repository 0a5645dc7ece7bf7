"""Spans of time as users write them, and as people read them."""

import math
import re
from datetime import UTC, datetime, timedelta
from numbers import Real
from typing import Any, NamedTuple

from paceline.errors import InvalidInput, seen

_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_PLAIN = re.compile(_NUMBER + r"(?:[eE][+-]?[0-9]+)?")
# Each unit at most once, from large to small: '30m1h' is more likely a slip than intended.
_UNITS = {"d": 86400.0, "h": 3600.0, "m(?:in)?": 60.0, "s": 1.0, "ms": 0.001}
_SPAN = re.compile(r"\s*".join(rf"(?:{_NUMBER}\s*{unit})?" for unit in _UNITS))
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:.*")

# Longer waits overflow the clocks of operating systems, and nothing that ran took longer.
LONGEST_SECONDS = 250 * 365.25 * 86400

_SPANS_HELP = "such as 90 (seconds), '90s', '10m', '1h30m' or '2d'"
_MOMENTS_HELP = "or a date with a time of day, such as 2030-01-31T18:00"


class Deadline(NamedTuple):
    """When to stop: in `seconds` from now; `moment` is set if a date was given."""

    seconds: float
    moment: datetime | None = None


def seconds_of(value: Any, what: str) -> float:
    """Turn a span of time into seconds; refuse one that is not above 0.

    >>> seconds_of("1h30m", "timeout"), seconds_of("500ms", "timeout"), seconds_of(90, "timeout")
    (5400.0, 0.5, 90.0)
    """
    seconds = _seconds(value)
    if seconds is None:
        raise InvalidInput(f"{what} must be a span of time, {_SPANS_HELP}, got {seen(value)}")
    return _in_reach(seconds, value, what)


def deadline_of(value: Any, now: datetime, what: str = "deadline") -> Deadline:
    """Turn a span of time, or a moment in the future, into seconds from `now`.

    A date without a time zone, `now` included, is local time.

    >>> noon = datetime(2030, 1, 31, 12, 0, tzinfo=UTC)
    >>> deadline_of("10m", noon)
    Deadline(seconds=600.0, moment=None)
    >>> deadline_of("2030-01-31 13:00Z", noon).seconds
    3600.0
    """
    moment = _moment(value)
    if moment is None:
        seconds = _seconds(value)
        if seconds is None:
            raise InvalidInput(
                f"{what} must be a span of time, {_SPANS_HELP}, {_MOMENTS_HELP}, got {seen(value)}"
            )
        return Deadline(_in_reach(seconds, value, what))
    # In UTC: two times in the same zone are subtracted as wall clocks, which is wrong by an hour
    # if the clocks change in between.
    try:
        seconds = (moment.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidInput(f"{what} {value} is too far away: {error}") from error
    if seconds <= 0:
        raise InvalidInput(
            f"{what} {moment} has passed (it is {now:%Y-%m-%d %H:%M:%S}): give a later one, or a "
            f"span of time {_SPANS_HELP}"
        )
    return Deadline(_in_reach(seconds, value, what), moment)


def say_seconds(seconds: float) -> str:
    """Write a span of time for people: about two digits, or the two largest units.

    >>> [say_seconds(seconds) for seconds in (0.0123, 3.21, 75, 5400, 90_000)]
    ['12 ms', '3.2 s', '1 min 15 s', '1 h 30 min', '1 d 1 h']
    """
    if not math.isfinite(seconds):
        return f"{seconds} s"
    if seconds < 0:
        return f"-{say_seconds(-seconds)}"
    if 0 < seconds < 0.0001:
        return "under 0.1 ms"
    if 0 < seconds < 0.9995:
        return f"{_two_digits(1000 * seconds)} ms"
    # Each limit is tested after rounding, so that 59.7 s is not '60 s'.
    if round(seconds) < 60:
        return f"{_two_digits(seconds)} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return _pair(minutes, "min", left, "s")
    hours, left = divmod(round(seconds / 60), 60)
    if hours < 24:
        return _pair(hours, "h", left, "min")
    days, left = divmod(round(seconds / 3600), 24)
    return _pair(days, "d", left, "h")


_SCALES = (
    (86_400.0, "d", 48.0 * 3600),
    (3600.0, "h", 5400.0),
    (60.0, "min", 90.0),
    (1.0, "s", 1.0),
)


def say_span(low: float, high: float) -> str:
    """A range of times, as roughly as it is known; without an end if `high` is infinite.

    >>> say_span(130, 350), say_span(2400, 10_900), say_span(0.2, 0.9), say_span(64, math.inf)
    ('2.2 to 5.8 min', '40 min to 3 h', '0.2 to 0.9 s', 'at least 64 s')
    """
    if math.isinf(high):
        return f"at least {_rough(low, _unit(low))}"
    unit = _unit(high)
    if _two(low, unit) == _two(high, unit):
        return f"about {_rough(high, unit)}"
    if 0 < low < 0.8 * unit[0] > 1:
        return f"{_rough(low, _unit(low))} to {_rough(high, unit)}"
    return f"{_two(low, unit)} to {_rough(high, unit)}"


def _unit(seconds: float) -> tuple[float, str]:
    for size, name, least in _SCALES:
        if seconds >= least:
            return size, name
    return 1.0, "s"


def _rough(seconds: float, unit: tuple[float, str]) -> str:
    return f"{_two(seconds, unit)} {unit[1]}"


def _two(seconds: float, unit: tuple[float, str]) -> str:
    """Two digits, and nothing finer than a tenth of a second."""
    number = seconds / unit[0] if seconds >= 1 else round(seconds, 1) / unit[0]
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def _seconds(value: Any) -> float | None:
    """The seconds that a number, a text or a timedelta means; None if it is none of these."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _PLAIN.fullmatch(text):
        return float(text)
    found = _SPAN.fullmatch(text)
    if not text or found is None:
        return None
    sizes = _UNITS.values()
    return sum(float(n) * size for n, size in zip(found.groups(), sizes, strict=True) if n)


def _in_reach(seconds: float, value: Any, what: str) -> float:
    if not 0 < seconds < math.inf:
        raise InvalidInput(
            f"{what} must be a finite time above 0, {_SPANS_HELP}, got {seen(value)}"
        )
    if seconds > LONGEST_SECONDS:
        raise InvalidInput(
            f"{what} is more than 250 years away, got {seen(value)}: leave it out for none"
        )
    return seconds


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and _DATE.fullmatch(value.strip()):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    return None


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit}" + (f" {small} {small_unit}" if small else "")
