"""A race in words: its verdict, and what went wrong."""

from collections.abc import Sequence

from paceline.core.rounds import Verdict
from paceline.core.words import arm_name, listed
from paceline.journal.records import PullFailed
from paceline.pools.attempts import Attempts
from paceline.races.settings import Settings
from paceline.story.standing import ArmRecord

_MOST_NAMED = 6
_MOST_REASONS = 3
_MOST_LINES = 30  # of what a pull has printed, in a message


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


def describe_failure(
    label: str, failure: PullFailed, *, in_full: bool = True, advice: str = ""
) -> str:
    """What happened, and what to do; in full, followed by the traceback or what was printed."""
    said = f"pull {failure.pull} of arm {arm_name(label)} {failure.message}"
    said += f". {advice}" if advice else ""
    detail = detail_of(failure, _MOST_LINES) if in_full else ""
    return f"{said}\n{detail}" if detail else said


def detail_of(failure: PullFailed, most: int | None = None) -> str:
    """The traceback, if there is one, and what the pull had printed, at most so many lines."""
    detail, printed = failure.detail.strip(), failure.printed.strip("\n")
    lines = printed.split("\n")
    if most is not None and len(lines) > most:
        printed = "\n".join(["…", *lines[-most:]])
    return f"{detail}\nIt printed:\n{printed}" if detail and printed else detail or printed


def describe_losses(attempts: Attempts) -> str:
    """How many pulls were lost and not charged to their arms, and to what; '' if none were.

    >>> from paceline.engines.jobs import Run
    >>> from paceline.journal.records import PullsLost
    >>> attempts = Attempts()
    >>> attempts.take(PullsLost(1.0, (Run(0, 4, 2), Run(1, 0, 1)), "killed", "killed by signal 9"))
    >>> print(describe_losses(attempts))
    3 pulls were lost, and not because of their arms (killed by signal 9); they are done again
    """
    # A pull that was lost at first and charged in the end was lost because of its arm.
    charged = {(failure.arm, failure.pull) for failure in attempts.failures}
    lost, reasons = 0, dict[str, int]()
    for record in attempts.lost:
        pulls = [(run.arm, run.first + k) for run in record.pulls for k in range(run.pulls)]
        innocent = len(set(pulls) - charged)
        if innocent:
            lost += innocent
            reasons[record.message] = reasons.get(record.message, 0) + innocent
    if not lost:
        return ""
    most = sorted(reasons, key=lambda reason: -reasons[reason])[:_MOST_REASONS]
    were, they = ("pull was", "it is") if lost == 1 else ("pulls were", "they are")
    whose = "its arm" if lost == 1 else "their arms"
    why = "; ".join(most) + ("; …" if len(reasons) > len(most) else "")
    return f"{lost} {were} lost, and not because of {whose} ({why}); {they} done again"
