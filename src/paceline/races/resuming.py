"""What a resume may do with the options of a race."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paceline.races import forms


def short(value: Any) -> str:
    """A value as text, cut off if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


@dataclass(frozen=True)
class OnResume:
    """What a resume may do with an option, and how its recorded value is said."""

    effect: str = ""  # what a change does, in a sentence; "": what it does for others of its kind
    only: str = ""  # how an option of the race may change, in a word: "raised"
    allows: Callable[[Any, Any], bool] = lambda *_: False  # takes the old and the new, as recorded
    say: Callable[[Any], str] = short


AS_OTHERS = OnResume()
_REPLAYED = "judged from the first pull on, as if asked for at the start; reopens an ended race"

RAISED = OnResume(
    _REPLAYED, only="raised", allows=lambda was, now: None not in (was, now) and now > was
)
LOWERED = OnResume(_REPLAYED, only="lowered", allows=lambda was, now: now < was)
DEADLINE = OnResume(
    "planned for anew; a later one reopens a race that it ended", say=forms.say_deadline
)
CAP = OnResume("a higher one reopens a race that it ended")
WHEN_FAILING = OnResume("applied to pulls that fail from then on; arms that are out stay out")
CHANGED_WORK = OnResume("old and new results are judged together, and a warning is recorded")
POLICY = OnResume(say=forms.say_policy)
SCALING = OnResume(say=forms.say_scaling)
