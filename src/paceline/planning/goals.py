"""The goals that a plan compares: confidences and deadlines."""

from typing import Any

from paceline.core.arrays import finite_floats, positive
from paceline.durations import seconds_of
from paceline.errors import InvalidInput
from paceline.planning.pools import several

_DEADLINES = (0.25, 0.5, 1.0, 2.0)  # times the one that was given


def confidences_of(confidence: Any, deadline: Any) -> list[float | None]:
    """The confidences to compare; 0.95 if nothing says when to stop.

    >>> confidences_of(None, None), confidences_of(None, "10m"), confidences_of([0.9, 0.99], None)
    ([0.95], [None], [0.9, 0.99])
    """
    if confidence is None:
        return [0.95] if deadline is None else [None]
    found: list[float | None] = []
    for one in finite_floats(several(confidence), "confidence").tolist():
        if not 0 < one < 1:
            raise InvalidInput(f"confidence must lie between 0 and 1, got {one:g}")
        found.append(one)
    return found


def deadlines_of(deadline: Any, *, alone: bool) -> tuple[float | None, list[float | None]]:
    """The deadline that was given first, and all to compare.

    One that is `alone`, without a confidence, is compared with shorter and longer ones.

    >>> deadlines_of("10m", alone=True)
    (600.0, [150.0, 300.0, 600.0, 1200.0])
    """
    if deadline is None:
        return None, [None]
    given = [positive(seconds_of(one, "deadline"), "deadline") for one in several(deadline)]
    if not isinstance(deadline, list | tuple) and alone:
        return given[0], [share * given[0] for share in _DEADLINES]
    return given[0], [*given]
