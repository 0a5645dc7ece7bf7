"""What a race reports besides its standings: what looks wrong, and how long it may still take."""

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paceline.core.arrays import Floats
from paceline.core.doubts import Doubt, find_doubts
from paceline.core.noise import Noise
from paceline.core.outlook import affordable_tolerance, outlook
from paceline.core.rounds import Verdict
from paceline.core.words import arm_name
from paceline.durations import say_seconds, say_span
from paceline.errors import RaceWarning
from paceline.journal.records import Record, Warned
from paceline.policies.prospect import Range
from paceline.races.history import RUNNING

_WORTH_A_LOOK = 1.3  # times as many pulls as at the last look
_A_WHILE_SECONDS = 10.0  # after this, a screen may say that a race takes long
_MINUTE_SECONDS = 60.0  # after this, a warning may, if there is no screen
_LONG = 5.0  # times the time so far: tied arms always seem to need nine times that
_OF_A_SESSION = _LONG_RACE, _UNDECIDED, TABLE, _JOURNAL, LATE = (
    "long",
    "undecided",
    "table",
    "journal",
    "late",
)
_LOST = "lost"
# About the work, or the machine, whatever the values are.
LASTING = CHANGED, UNKNOWN = ("changed", "unknown")
DECLARED = "declared"
_NOT_OF_VALUES = frozenset({*_OF_A_SESSION, *LASTING, _LOST, RUNNING, DECLARED})


@dataclass(frozen=True)
class Contenders:
    """The arms still in, with their values, higher ones being better."""

    arms: Sequence[int]
    values: Sequence[Floats]
    delta: float
    paired: bool
    top: int
    rate: float  # pulls per second that give a value


class Concerns:
    """The warnings of a race so far, one of each kind.

    `claims` says whether the race promises a confidence. `note` keeps a record in the journal.
    `loud`, if given, is called with each warning when it is first found; a screen shows them by
    itself.
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
        # Why a race ended, or took long, may be different after a resume.
        self.texts = {kind: text for kind, text in known.items() if kind not in _OF_A_SESSION}
        self._said = set(self.texts)
        self._note = note
        self._loud = loud
        self._looked_at = 0  # pulls at the last look
        self._unusable = False  # whether the values allow no forecast

    def look(self, values: Sequence[Floats], noise: Noise, at: float) -> None:
        """Look for what is wrong, unless few values are new."""
        pulls = sum(one.size for one in values)
        if pulls >= _WORTH_A_LOOK * self._looked_at:
            self._looked_at = pulls
            self._say(find_doubts(values, noise, claims=self.claims), at)

    def believe(
        self, verdict: Verdict, values: Sequence[Floats], noise: Noise, at: float
    ) -> Verdict:
        """The verdict; without its confidence, if the values look too wrong to support one."""
        doubts = find_doubts(values, noise, claims=self.claims)
        self._say(doubts, at)
        void = next((one for one in doubts if one.voids), None)
        if void is None or verdict.confidence is None:
            return verdict
        return replace(verdict, confidence=None, reason=void.finding(self.labels))

    def _say(self, doubts: Sequence[Doubt], at: float) -> None:
        kinds = {doubt.kind for doubt in doubts}
        self._unusable = "outlier" in kinds or any(doubt.voids for doubt in doubts)
        for kind in set(self.texts) - kinds - _NOT_OF_VALUES:
            del self.texts[kind]  # more pulls have settled it
        for doubt in doubts:
            self.say(doubt.kind, doubt.text(self.labels), at)

    def say(self, kind: str, text: str, at: float, *, loud: bool = True) -> None:
        """Give a warning; if its kind is known already, only the text is updated."""
        self.texts[kind] = text
        if kind not in self._said:
            self._said.add(kind)
            self._note(Warned(round(at, 6), kind, text))
            if self._loud is not None and loud:
                self._loud(text)

    def losses(self, text: str, at: float | None = None) -> None:
        """Say how many pulls were lost; if `at` is given, this is the last word, and recorded.

        It is not loud, because nothing that is known has changed by it.
        """
        if text and at is None:
            self.texts[_LOST] = text
        elif text and at is not None:
            self.say(_LOST, text, at, loud=False)

    def warn_of_journal(self, text: str) -> None:
        """Warn of what befell the journal: no part of the race, and so not recorded in it."""
        self.texts[_JOURNAL] = text
        if self._loud is not None:
            self._loud(text)

    def warn_of_length(self, text: str, at: float) -> None:
        """Warn that a race may take very long, if no screen says so."""
        if text and at >= _MINUTE_SECONDS:
            self.say(_LONG_RACE, text, at)

    def prospect(self, still_in: Contenders, elapsed: float, remaining: Range | None) -> str:
        """A sentence on how long it would take to tell the remaining arms apart; '' if not long."""
        if elapsed < _A_WHILE_SECONDS:
            return ""
        return self._prospect(still_in, elapsed, remaining)

    def undecided(self, still_in: Contenders, at: float) -> None:
        """Say what would have decided a race that a cap ended."""
        if self._unusable:
            return
        text = self._prospect(still_in)
        if text:
            self.say(_UNDECIDED, text, at, loud=False)  # the cap was asked for

    def _prospect(
        self, still_in: Contenders, elapsed: float | None = None, remaining: Range | None = None
    ) -> str:
        """What keeps a race; `elapsed` is given if it is under way."""
        found = outlook(still_in.values, still_in.delta, paired=still_in.paired, top=still_in.top)
        if found is None or still_in.rate <= 0:
            return ""
        seconds = found.pulls / still_in.rate
        if elapsed is not None and seconds < _LONG * elapsed:
            return ""
        arms = still_in.arms
        leader, other = (arm_name(self.labels[arms[place]]) for place in found.nearest)
        others = f" (and {len(arms) - 2} more)" if len(arms) > 2 else ""
        needed = "so far they look equal"
        if math.isfinite(found.pulls):
            about = f"{'at least' if found.unclear else 'about'} {say_seconds(seconds)}"
            if remaining is not None and remaining[0] > 0:
                about = say_span(remaining[0], remaining[2])
            needed = f"at this rate {about} more would tell them apart"
            if found.pulls < 1:
                needed = "a few more pulls should tell them apart"
        ends = "a higher max_pulls= would decide the race, or a new race with a tolerance="
        if elapsed is not None:
            ends = "max_pulls= or deadline= would end the race"
            easier = affordable_tolerance(
                found.variance, len(arms), still_in.delta, elapsed * still_in.rate
            )
            if easier is not None and still_in.top == 1:
                took = say_seconds(easier[1] / still_in.rate)
                ends += f", and a new one with tolerance={easier[0]:g} takes about {took}"
        return (
            f"{leader} and {other}{others} are still in, {_apart(found.gap, found.error)} apart: "
            f"{needed}; {ends}"
        )


def _apart(gap: float, error: float) -> str:
    """A distance and its standard error, to the same decimals.

    >>> _apart(0.00753, 0.0134), _apart(0.2, 8.1)
    ('0.008 ± 0.013', '0.2 ± 8.1')
    """
    if not 0 < error < math.inf:
        return f"{gap:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{gap:.{decimals}f} ± {error:.{decimals}f}"


def say_left_running(pulls: int, engine: str) -> str:
    """What a race leaves behind on an engine that cannot end pulls.

    >>> print(say_left_running(1, "ours"))
    1 pull was still running when the race was over, and goes on: the engine 'ours' cannot end it
    """
    were, goes, it = ("pull was", "goes", "it") if pulls == 1 else ("pulls were", "go", "them")
    return (
        f"{pulls} {were} still running when the race was over, and {goes} on: the engine "
        f"{engine!r} cannot end {it}"
    )


def warn(text: str) -> None:
    """Issue a Python warning that points at the user's own line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paceline"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RaceWarning, stacklevel=level)
