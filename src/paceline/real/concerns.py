"""What a race has to say beside its standings: what looks wrong, and how long it may still take."""

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

from paceline.core.arrays import Floats
from paceline.core.doubts import Doubt, find_doubts
from paceline.core.noise import Noise
from paceline.core.outlook import outlook
from paceline.core.rounds import Verdict
from paceline.durations import say_seconds
from paceline.errors import RaceWarning
from paceline.journal import Record

_WORTH_A_LOOK = 1.3  # times as many pulls as at the last look
_A_WHILE_SECONDS = 10.0  # before a race is said to take long; who does not look at it, after a
_MINUTE_SECONDS = 60.0
_LONG = 5.0  # times what it has taken: arms that tie always seem to take nine times that
_LONG_RACE, _UNDECIDED = "long", "undecided"


class Concerns:
    """The warnings of a race so far, each of its kind once.

    `claims` says whether the race is to a confidence. `note` keeps a record in the journal. `loud`,
    if given, is told each warning when it is first found; a screen shows them by itself.
    """

    def __init__(
        self,
        labels: Sequence[str],
        note: Callable[[Record], None],
        loud: Callable[[str], None] | None,
        known: dict[str, str],
        *,
        claims: bool,
    ) -> None:
        self.labels = labels
        self.claims = claims
        self.texts = dict(known)
        self._said = set(known)
        self._note = note
        self._loud = loud
        self._looked_at = 0  # so many pulls

    def look(self, values: Sequence[Floats], noise: Noise, at: float) -> None:
        """See what looks wrong by now, unless there is little that is new."""
        pulls = sum(one.size for one in values)
        if pulls >= _WORTH_A_LOOK * self._looked_at:
            self._looked_at = pulls
            self._say(find_doubts(values, noise, claims=self.claims), at)

    def believe(
        self, verdict: Verdict, values: Sequence[Floats], noise: Noise, at: float
    ) -> Verdict:
        """The verdict, without its confidence if something looks so wrong that it means nothing."""
        doubts = find_doubts(values, noise, claims=self.claims)
        self._say(doubts, at)
        void = next((one for one in doubts if one.voids), None)
        if void is None or verdict.confidence is None:
            return verdict
        return replace(verdict, confidence=None, reason=void.finding(self.labels))

    def _say(self, doubts: Sequence[Doubt], at: float) -> None:
        kinds = {doubt.kind for doubt in doubts}
        for kind in set(self.texts) - kinds - {_LONG_RACE, _UNDECIDED}:
            del self.texts[kind]  # more pulls have settled it
        for doubt in doubts:
            self.say(doubt.kind, doubt.text(self.labels), at)

    def say(self, kind: str, text: str, at: float, *, loud: bool = True) -> None:
        """Have a warning known; one of a kind that is known is only brought up to date."""
        self.texts[kind] = text
        if kind not in self._said:
            self._said.add(kind)
            self._note({"kind": "warning", "at": round(at, 6), "about": kind, "text": text})
            if self._loud is not None and loud:
                self._loud(text)

    def warn_of_length(self, text: str, at: float) -> None:
        """Say that a race may take very long, where no screen does."""
        if text and at >= _MINUTE_SECONDS:
            self.say(_LONG_RACE, text, at)

    def prospect(
        self,
        arms: Sequence[int],
        values: Sequence[Floats],
        *,
        delta: float,
        paired: bool,
        elapsed: float,
        rate: float,
    ) -> str:
        """How long it would take to tell the arms still in apart, in a sentence; '' if not long.

        `rate` is how many pulls give a value in a second.
        """
        if elapsed < _A_WHILE_SECONDS or rate <= 0:
            return ""
        return self._prospect(arms, values, delta, paired, rate, least=_LONG * elapsed)

    def undecided(
        self,
        arms: Sequence[int],
        values: Sequence[Floats],
        *,
        delta: float,
        paired: bool,
        at: float,
        rate: float,
    ) -> None:
        """Say of a race that a cap ended what would have ended it."""
        text = self._prospect(arms, values, delta, paired, rate, least=0.0)
        if text:
            self.say(_UNDECIDED, text, at, loud=False)  # the cap was asked for

    def _prospect(
        self,
        arms: Sequence[int],
        values: Sequence[Floats],
        delta: float,
        paired: bool,
        rate: float,
        least: float,
    ) -> str:
        found = outlook(values, delta, paired=paired)
        if found is None or rate <= 0 or found.pulls / rate < least:
            return ""
        leader, other = (f'"{self.labels[arms[place]]}"' for place in found.nearest)
        others = f" (and {len(arms) - 2} more)" if len(arms) > 2 else ""
        seconds = found.pulls / rate
        about = "at least" if found.unclear else "about"
        needed = f"at this rate {about} {say_seconds(seconds)} more would tell them apart"
        if math.isinf(seconds):
            needed = "as far as can be seen they are equal"
        return (
            f"{leader} and {other}{others} are still in, {found.gap:.2g} ± {found.error:.1g} "
            f"apart: {needed}; tolerance=, max_pulls= or deadline= ends such a race"
        )


def warn(text: str) -> None:
    """A Python warning, at the line of the user's that called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paceline"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RaceWarning, stacklevel=level)
