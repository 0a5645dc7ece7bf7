"""A race in a few words: for prompts, logs and the heads of tables."""

import math
from collections.abc import Sequence

from paceline.characters import clean, shown
from paceline.core.words import arm_name, count
from paceline.durations import say_seconds, say_span
from paceline.story.numbers import estimates
from paceline.story.standing import ArmRecord, Standing
from paceline.story.story import Outcome

_MOST_LEADERS = 3
_LONGEST = 400  # characters of a verdict


def describe_standing(standing: Standing) -> str:
    """How a race stands, in a line.

    >>> arms = (
    ...     ArmRecord(0, "x=2", 0.412, 0.3, 0.52, 40, "out", 9.0),
    ...     ArmRecord(1, "x=4", 0.711, 0.58, 0.84, 56, "in", 12.5),
    ... )
    >>> print(describe_standing(Standing(12.4, None, 3, 96, 8, 8, arms, minimize=False)))
    round 3, 12 s: 96 pulls, 1 of 2 arms in, x=4 leads with 0.711 (0.58 … 0.84)
    """
    leader = standing.ranked()[0]
    lead = ""
    if leader.status in ("best", "in") and math.isfinite(leader.mean):
        mean, interval = estimates([leader])[0]
        lead = f", {arm_name(clean(leader.label))} leads with {mean}"
        lead += f" ({interval})" if interval != "–" else ""
    when, pulls = say_seconds(standing.elapsed), count(standing.pulls, "pull")
    arms = f"{racing(standing.arms)} of {len(standing.arms)} arms in"
    more = describe_remaining(standing)
    return f"round {standing.rounds}, {when}: {pulls}, {arms}{lead}{more and f'; {more}'}"


def describe_remaining(standing: Standing) -> str:
    """How much longer the race may take to its verdict; nothing if that is not known.

    >>> standing = Standing(9.0, None, 3, 9, 8, 8, (), minimize=False)
    >>> from dataclasses import replace
    >>> describe_remaining(replace(standing, remaining=(120.0, 200.0, 360.0)))
    '2 to 6 min more'
    """
    if standing.remaining is None:
        return ""
    low, _, high = standing.remaining
    if standing.deadline is not None and low >= standing.deadline - standing.elapsed:
        return "not decided before the deadline"
    if high < 0.1:
        return "any moment now"
    return f"{say_span(low, high)} more"


def describe_result(standing: Standing, outcome: Outcome, failures: int = 0) -> str:
    """How a race ended, in a few lines: the verdict, the leaders, the work, what to look at.

    >>> best = ArmRecord(0, "x=4", 0.711, 0.58, 0.84, 56, "best", 12.5)
    >>> standing = Standing(12.4, None, 3, 56, 8, 8, (best,), minimize=False)
    >>> print(describe_result(standing, Outcome(0, True, "x=4 is best", 0.95, (0,), ())))
    Result: x=4 is best
      x=4: 0.711 (0.58 … 0.84), 56 pulls
      56 pulls of 1 arm in 3 rounds and 12 s on 8 cores
    """
    lines = [f"Result: {shown(outcome.verdict, _LONGEST)}"]
    leaders = [record for record in standing.ranked() if record.index in outcome.chosen]
    named = leaders[:_MOST_LEADERS]
    for record, (mean, interval) in zip(named, estimates(named), strict=True):
        between = f" ({interval})" if interval != "–" else ""
        pulls = count(record.pulls, "pull")
        lines.append(f"  {shown(record.label, 80)}: {mean}{between}, {pulls}")
    if len(leaders) > len(named):
        lines.append(f"  and {len(leaders) - len(named)} more")
    lines.append(f"  {describe_work(standing)}")
    odd = {"warnings": len(standing.warnings), "failures": failures}
    lines += [f"  {count(n, name[:-1])}: see result.{name}" for name, n in odd.items() if n]
    return "\n".join(lines)


def describe_work(standing: Standing) -> str:
    """How much was done, in how much time, on how many cores."""
    pulls, arms = count(standing.pulls, "pull"), count(len(standing.arms), "arm")
    when = f"{count(standing.rounds, 'round')} and {say_seconds(standing.elapsed)}"
    return f"{pulls} of {arms} in {when} on {count(standing.cores, 'core')}"


def racing(arms: Sequence[ArmRecord]) -> int:
    """How many arms are still in."""
    return sum(record.status in ("best", "in") for record in arms)
