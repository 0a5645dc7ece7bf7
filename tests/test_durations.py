import math
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import InvalidInput
from paceline.durations import deadline_of, say_seconds, seconds_of

NOON = datetime(2030, 1, 31, 12, 0, tzinfo=UTC)


class Zone(tzinfo):
    """Its clocks go forward on 2030-03-31 at 2. A real zone would need files of the system."""

    def utcoffset(self, moment: datetime | None) -> timedelta:
        assert moment is not None
        is_summer = moment.replace(tzinfo=None) >= datetime(2030, 3, 31, 2, 0)
        return timedelta(hours=2 if is_summer else 1)

    def dst(self, moment: datetime | None) -> timedelta:
        return self.utcoffset(moment) - timedelta(hours=1)

    def tzname(self, moment: datetime | None) -> str:
        return "Zone"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (90, 90.0),
        (0.25, 0.25),
        ("90", 90.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("90s", 90.0),
        ("10m", 600.0),
        ("10 min", 600.0),
        ("6h", 21600.0),
        ("1h30m", 5400.0),
        ("1 h 30 min", 5400.0),
        ("1.5h", 5400.0),
        ("2d", 172800.0),
        ("500ms", 0.5),
        ("1m500ms", 60.5),
        (" 1m15s ", 75.0),
        (timedelta(minutes=2), 120.0),
    ],
)
def test_a_span_of_time_in_seconds(value: Any, seconds: float) -> None:
    assert seconds_of(value, "timeout") == seconds
    assert deadline_of(value, NOON) == (seconds, None)


@pytest.mark.parametrize(
    "value",
    [
        0,
        -3,
        math.nan,
        math.inf,
        10**400,
        True,
        None,
        "",
        " ",
        "soon",
        "0s",
        "-5s",
        "nan",
        "inf",
        "1e999",
        "5 parsecs",
        "30m1h",
        "1h1h",
        "10M",
        "²s",
        [60],
        timedelta(0),
        time(18, 0),
        date(2030, 1, 31),
        "2030-01-31",
        "2030-13-31T18:00",
    ],
)
def test_what_is_no_time_above_zero_is_refused_with_examples(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^timeout must be .*'10m'.*, got ") as caught:
        seconds_of(value, "timeout")
    assert str(caught.value).endswith(repr(value))
    with pytest.raises(InvalidInput, match=r"^deadline must be .*'10m'"):
        deadline_of(value, NOON)


def test_a_deadline_may_be_a_moment() -> None:
    at_one = NOON + timedelta(hours=1)
    assert deadline_of(at_one, NOON) == (3600.0, at_one)
    assert deadline_of("2030-01-31T13:00:00Z", NOON) == (3600.0, at_one)
    elsewhere = at_one.astimezone(timezone(timedelta(hours=5)))
    assert deadline_of(elsewhere, NOON).seconds == 3600.0
    with pytest.raises(InvalidInput, match="timeout must be a span of time"):
        seconds_of(at_one, "timeout")


def test_a_moment_without_a_zone_is_local() -> None:
    local_noon = NOON.astimezone().replace(tzinfo=None)
    assert deadline_of(local_noon + timedelta(minutes=1), NOON).seconds == 60.0
    assert deadline_of(NOON + timedelta(minutes=1), local_noon).seconds == 60.0
    assert deadline_of(f"{local_noon + timedelta(minutes=1)}", local_noon).seconds == 60.0


def test_a_night_in_which_the_clocks_change_has_its_true_length() -> None:
    zone = Zone()
    evening = datetime(2030, 3, 30, 23, 0, tzinfo=zone)
    assert deadline_of(datetime(2030, 3, 31, 6, 0, tzinfo=zone), evening).seconds == 6 * 3600.0


def test_a_moment_that_has_passed_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"has passed \(it is 2030-01-31 12:00:00\)"):
        deadline_of(NOON, NOON)
    with pytest.raises(InvalidInput, match=r"has passed|too far away"):
        deadline_of(datetime.min, NOON)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (1e-7, "under 0.1 ms"),
        (0.00042, "0.42 ms"),
        (0.123, "123 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (9.97, "10 s"),
        (59.4, "59 s"),
        (59.7, "1 min"),
        (3599.7, "1 h"),
        (3600, "1 h"),
        (86399, "1 d"),
        (180_000, "2 d 2 h"),
        (-75, "-1 min 15 s"),
        (math.inf, "inf s"),
    ],
)
def test_said_for_people(seconds: float, said: str) -> None:
    assert say_seconds(seconds) == said


@given(st.floats(min_value=0.001, max_value=1e9))
def test_what_is_said_can_be_read_back_and_is_about_right(seconds: float) -> None:
    assert seconds_of(say_seconds(seconds), "time") == pytest.approx(seconds, rel=0.05)
