"""How a race stands, from the values so far: records for tables, and the verdict in a sentence."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.rounds import Verdict
from paceline.core.tally import Tally
from paceline.core.words import listed
from paceline.display.text import arm_name
from paceline.result import ArmRecord, Result, Standing, Status, ranked

if TYPE_CHECKING:
    from paceline.real.contest import Contest

_MOST_NAMED = 6


def standing_of(contest: "Contest") -> Standing:
    """A race under way: who is in, by the policy's own word."""
    dispatcher, settings = contest.dispatcher, contest.settings
    alive = set(contest.racing.tolist())
    if contest.pacer is not None:
        alive = set(contest.racing[contest.pacer.alive].tolist())
    values = contest.values()
    arms = _records(contest, values, alive, best=())
    return Standing(
        elapsed=dispatcher.elapsed(),
        deadline=None if math.isinf(contest.deadline) else contest.deadline,
        rounds=contest.rounds,
        pulls=sum(record.pulls for record in arms),
        cores=settings.rules.cores,
        busy_cores=settings.rules.cores - dispatcher.free,
        arms=arms,
        minimize=settings.minimize,
        warnings=tuple(contest.concerns.texts.values()),
        outlook=contest.outlook(values),
    )


def result_of(contest: "Contest", verdict: Verdict, journal: Any) -> Result:
    """How a race ended."""
    dispatcher, settings = contest.dispatcher, contest.settings
    chosen = tuple(verdict.arms.tolist())
    values = contest.values()
    if verdict.decided:
        records = _records(contest, values, alive=set(), best=chosen)
    else:
        records = _records(contest, values, alive=set(chosen), best=())
        leaders = ranked([records[arm] for arm in chosen], minimize=settings.minimize)
        chosen = tuple(record.index for record in leaders[: settings.top])
    if not any(record.pulls for record in records):
        chosen = ()  # nothing was seen: nobody leads
    still_in = () if verdict.decided else tuple(verdict.arms.tolist())
    return Result(
        best=settings.arms[chosen[0]] if chosen else None,
        index=chosen[0] if chosen else -1,
        decided=verdict.decided,
        verdict=_sentence(contest, verdict, chosen),
        confidence=verdict.confidence,
        chosen=chosen,
        still_in=still_in,
        standing=Standing(
            elapsed=dispatcher.elapsed(),
            deadline=None if math.isinf(contest.deadline) else contest.deadline,
            rounds=contest.rounds,
            pulls=sum(record.pulls for record in records),
            cores=settings.rules.cores,
            busy_cores=0,
            arms=records,
            minimize=settings.minimize,
            warnings=tuple(contest.concerns.texts.values()),
        ),
        core_seconds=dispatcher.core_seconds,
        scaling=dispatcher.pool,
        assumed=contest.noise.describe(),
        failures=tuple(
            f"pull {pull} of arm {arm_name(settings.labels[arm])} {failure.message}"
            for arm, pull, failure in dispatcher.failures
        ),
        journal=None if journal is None else str(journal),
    )


def _records(
    contest: "Contest", values: Sequence[Floats], alive: set[int], best: Sequence[int]
) -> tuple[ArmRecord, ...]:
    """A record per arm, with an interval that holds for all arms at all times."""
    dispatcher, settings = contest.dispatcher, contest.settings
    failed, arms = dispatcher.failed, range(len(settings.arms))
    means, low, high = _intervals(values, contest.noise, settings.confidence or 0.95)

    def status(arm: int) -> Status:
        if arm in failed:
            return "failed"
        return "best" if arm in best else "in" if arm in alive else "out"

    return tuple(
        ArmRecord(
            index=arm,
            label=settings.labels[arm],
            mean=float(means[arm]),
            low=float(low[arm]),
            high=float(high[arm]),
            pulls=values[arm].size,
            status=status(arm),
            seconds=float(dispatcher.arm_seconds[arm]),
            failure=failed[arm].message if arm in failed else "",
        )
        for arm in arms
    )


def _intervals(
    values: Sequence[Floats], noise: Noise, confidence: float
) -> tuple[Floats, Floats, Floats]:
    arms = len(values)
    pulls = np.array([one.size for one in values], dtype=np.int64)
    with np.errstate(all="ignore"):  # values near the largest floats: an interval is then unknown
        sums = np.array([one.sum() for one in values])
        means = np.where(pulls > 0, sums / pulls, np.nan)
        spreads = np.array([((one - one.mean()) ** 2).sum() if one.size else 0.0 for one in values])
        tally = Tally(pulls, sums, np.zeros(arms), spreads)
        low, high = noise.intervals(tally, (1 - confidence) / arms)
    unknown = np.isnan(low) | np.isnan(high)
    return means, np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)


def _sentence(contest: "Contest", verdict: Verdict, chosen: Sequence[int]) -> str:
    settings = contest.settings
    names = _list([settings.labels[arm] for arm in chosen])
    best = "the lowest mean" if settings.minimize else "the highest mean"
    if len(chosen) > 1:
        best = f"the {len(chosen)} {'lowest' if settings.minimize else 'highest'} means"
    verb = "have" if len(chosen) > 1 else "has"
    if not verdict.decided:
        among = _list([settings.labels[arm] for arm in verdict.arms.tolist()])
        pulled = any(contest.dispatcher.ledger.values(arm).size for arm in chosen)
        lead = f"; {names} {'lead' if len(chosen) > 1 else 'leads'}" if pulled else ""
        text = f"undecided between {among}: {verdict.reason}{lead}"
    elif verdict.confidence is not None and verdict.reason:
        text = (
            f"{names} {verb} {best} so far: {verdict.reason}. It would have been decided had a "
            f"confidence of {verdict.confidence:g} been asked for instead of "
            f"{settings.confidence:g}"
        )
    elif verdict.confidence is not None:
        slack = f" (or is within {settings.tolerance:g} of it)" if settings.tolerance else ""
        text = f"{names} {verb} {best}{slack}, with probability at least {verdict.confidence:g}"
    else:
        why = f" ({verdict.reason})" if verdict.reason else ""
        text = f"{names} {verb} {best} so far{_tie(contest, chosen)}{why}; nothing is guaranteed"
        ledger, failed = contest.dispatcher.ledger, contest.dispatcher.failed
        unseen = sum(
            not ledger.values(arm, in_order=False).size
            for arm in range(len(settings.arms))
            if arm not in failed
        )
        if unseen:
            text += f", and nothing is known of {unseen} of the {len(settings.arms)} arms"
    out = sorted(contest.dispatcher.failed)
    if out:
        text += f". Out because of failures: {_list([settings.labels[arm] for arm in out])}"
    return text


def _tie(contest: "Contest", chosen: Sequence[int]) -> str:
    """Who has the same mean as the last one chosen, and only lost by lot."""
    if not chosen:
        return ""
    values, last = contest.values(), chosen[-1]
    if not values[last].size:
        return ""
    tied = [
        contest.settings.labels[arm]
        for arm, one in enumerate(values)
        if arm not in chosen and one.size and one.mean() == values[last].mean()
    ]
    return f", which {_list(tied)} {'have' if len(tied) > 1 else 'has'} too" if tied else ""


def _list(names: Sequence[str]) -> str:
    return listed(names, _MOST_NAMED)
