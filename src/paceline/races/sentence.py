"""A race in words: its verdict, and what went wrong."""

from collections.abc import Sequence

from paceline.core.rounds import Verdict
from paceline.core.words import listed
from paceline.display.text import arm_name
from paceline.journal.records import PullFailed
from paceline.races.settings import Settings
from paceline.result import ArmRecord

_MOST_NAMED = 6


def sentence(
    settings: Settings, verdict: Verdict, chosen: Sequence[int], arms: Sequence[ArmRecord]
) -> str:
    """What was found, and what is guaranteed about it."""
    goal, many = settings.goal, len(chosen) > 1
    names = _list([settings.labels[arm] for arm in chosen])
    extreme = "lowest" if goal.minimize else "highest"
    best = f"the {len(chosen)} {extreme} means" if many else f"the {extreme} mean"
    has = f"{names} {'have' if many else 'has'} {best}"
    if not verdict.decided:
        among = _list([settings.labels[arm] for arm in verdict.arms.tolist()])
        pulled = any(arms[arm].pulls for arm in chosen)
        lead = f"; {names} {'lead' if many else 'leads'}" if pulled else ""
        text = f"undecided between {among}: {verdict.reason}{lead}"
    elif verdict.confidence is not None and verdict.reason:
        text = (
            f"{has} so far: {verdict.reason}. It would have been decided had a "
            f"confidence of {verdict.confidence:g} been asked for instead of {goal.confidence:g}"
        )
    elif verdict.confidence is not None:
        slack = f" (or is within {goal.tolerance:g} of it)" if goal.tolerance else ""
        text = f"{has}{slack}, with probability at least {verdict.confidence:g}"
    else:
        why = f" ({verdict.reason})" if verdict.reason else ""
        text = f"{has} so far{_tie(chosen, arms)}{why}; nothing is guaranteed"
        unseen = sum(not arm.pulls and arm.status != "failed" for arm in arms)
        if unseen:
            text += f", and nothing is known of {unseen} of the {len(arms)} arms"
    failed = [arm.label for arm in arms if arm.status == "failed"]
    return f"{text}. Out because of failures: {_list(failed)}" if failed else text


def _tie(chosen: Sequence[int], arms: Sequence[ArmRecord]) -> str:
    """Who has the same mean as the last arm chosen, and lost only by lot."""
    if not chosen or not arms[chosen[-1]].pulls:
        return ""
    mean = arms[chosen[-1]].mean
    tied = [arm.label for arm in arms if arm.index not in chosen and arm.pulls and arm.mean == mean]
    return f", tied with {_list(tied)}" if tied else ""


def _list(names: Sequence[str]) -> str:
    return listed([arm_name(name) for name in names], _MOST_NAMED)


def describe_failure(label: str, failure: PullFailed, *, in_full: bool = True) -> str:
    """What happened; in full, followed by the traceback or what was printed."""
    said = f"pull {failure.pull} of arm {arm_name(label)} {failure.message}"
    detail = failure.detail.strip() if in_full else ""
    return f"{said}\n{detail}" if detail else said
