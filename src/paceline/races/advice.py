"""How to go on with a race: one text, for everybody who says it."""

import shlex
from typing import Any

from paceline.engines.catalog import is_known
from paceline.errors import InvalidInput
from paceline.races.forms import BY_HAND, read_policy


def resumes_alone(what: Any, policy: Any, engine: Any) -> bool:
    """Whether a journal with these records says all that it takes to resume the race."""
    return isinstance(what, dict) and is_known(engine) and can_read(policy)


def can_read(policy: Any) -> bool:
    """Whether the policy can be made from its record."""
    try:
        read_policy(policy)
    except (InvalidInput, TypeError):
        return False
    return True


def how_to_resume(journal: str, what: Any, *, alone: bool) -> str:
    """What to do to resume a race of `what`; `alone` says whether its journal is enough.

    >>> how_to_resume("race.jsonl", {"words": ["true"]}, alone=True)
    'paceline resume race.jsonl'
    """
    if alone:
        return f"paceline resume {shlex.quote(journal)}"
    call = "make its paceline.Race" if what == BY_HAND else "call race"
    return f"run its script again, or {call} again with the same arguments and journal={journal!r}"
