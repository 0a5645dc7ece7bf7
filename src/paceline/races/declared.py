"""Values that the user had ruled out: what was declared is wrong, and nothing rests on it.

A value outside `bounds` fails its pull, and in the end its arm. That arm may be the best, since its
values go further than anybody thought. And the others are judged by bounds that do not hold.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paceline.core.rounds import Verdict
from paceline.core.words import arm_name, listed
from paceline.journal.records import PullFailed
from paceline.pools.attempts import Attempts
from paceline.races.settings import Settings

_MOST_NAMED = 3
_OUT_OF_BOUNDS = "out of bounds"


def contradictions(settings: Settings, attempts: Attempts) -> str:
    """Which values are not as declared, and what to do; '' if there are none."""
    seen = _seen(attempts)
    if not seen:
        return ""
    remedy = "bounds= that hold every value, or without any"
    if settings.options["bounds"] is None:
        remedy = "bounds=, or with noise='auto'"
    what = f"{_declared(settings)} does not hold, so nothing is guaranteed: {_say(settings, seen)}"
    return f"{what}. Start a new race (and a new journal) with {remedy}"


def without_claims(verdict: Verdict, settings: Settings, attempts: Attempts) -> Verdict:
    """The verdict, if what it rests on does not hold: undecided if an arm was left out for that."""
    seen = _seen(attempts)
    if not seen:
        return verdict
    lost = [one.arm for one in seen if one.arm in attempts.out]
    why = f"{_say(settings, seen)}, outside {_declared(settings)}"
    if not lost:
        if verdict.confidence is None:
            return verdict
        return replace(verdict, confidence=None, reason=why)
    why += f", so {'it was' if len(lost) == 1 else 'they were'} left out, and may be the best"
    if verdict.reason and not verdict.decided:
        why = f"{verdict.reason}, and {why}"
    arms = np.array([*verdict.arms.tolist(), *lost])
    return Verdict(arms, decided=False, confidence=None, reason=why)


def _seen(attempts: Attempts) -> list[PullFailed]:
    """Values that are not as declared, one of each arm; if arms are out for that, theirs only."""
    found = {one.arm: one for one in attempts.failures if one.what == _OUT_OF_BOUNDS}
    lost = [one for one in attempts.out.values() if one.what == _OUT_OF_BOUNDS]
    return lost or list(found.values())


def _declared(settings: Settings) -> str:
    bounds = settings.options["bounds"]
    if bounds is None:
        return f"noise={settings.options['noise']!r}"
    return f"bounds=({bounds[0]:g}, {bounds[1]:g})"


def _say(settings: Settings, seen: Sequence[PullFailed]) -> str:
    values = [
        f"{arm_name(settings.labels[one.arm])} {one.message.partition(',')[0]}" for one in seen
    ]
    return listed(values, _MOST_NAMED)
