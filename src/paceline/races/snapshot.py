"""How a race stands or ended, as frozen values, from everything known about it at one moment."""

import math
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.noise import Noise
from paceline.core.pool import CorePool
from paceline.core.rounds import Verdict
from paceline.core.statistics import mean_of
from paceline.core.tally import Tally
from paceline.pools.books import Books
from paceline.races.recipe import recipe_of
from paceline.races.sentence import describe_failure, detail_of, sentence
from paceline.races.settings import Settings
from paceline.result import Result
from paceline.story.standing import ArmRecord, Standing, Status, ranked
from paceline.story.story import Outcome, Story, Trouble


@dataclass(frozen=True)
class View:
    """Everything known about a race at one moment."""

    settings: Settings
    books: Books
    noise: Noise
    values: list[Floats]  # of each arm
    alive: frozenset[int]
    elapsed: float
    deadline: float | None
    rounds: int
    busy_cores: int
    warnings: tuple[str, ...]


def standing_of(
    view: View, outlook: str = "", remaining: tuple[float, float, float] | None = None
) -> Standing:
    """How a race under way stands; the policy says who is in."""
    standing = _standing(view, _records(view, view.alive, best=()), outlook)
    return standing if remaining is None else replace(standing, remaining=remaining)


def result_of(
    view: View, verdict: Verdict, scaling: CorePool | None, journal: Any = None
) -> Result:
    """How a race ended."""
    settings, named = view.settings, tuple(verdict.arms.tolist())
    chosen = named
    if verdict.decided:
        arms = _records(view, set(), best=named)
    else:
        arms = _records(view, set(named), best=())
        leaders = ranked([arms[arm] for arm in named], minimize=settings.goal.minimize)
        chosen = tuple(record.index for record in leaders[: settings.goal.top])
    if not any(record.pulls for record in arms):
        chosen = ()  # there are no values, so nobody leads
    outcome = Outcome(
        index=chosen[0] if chosen else -1,
        decided=verdict.decided,
        verdict=sentence(settings, verdict, chosen, arms),
        confidence=verdict.confidence,
        chosen=chosen,
        still_in=() if verdict.decided else named,
    )
    view = replace(view, busy_cores=0)
    best = settings.arms[chosen[0]] if chosen else None
    return told(view, _standing(view, arms), outcome, best, scaling, journal)


def told(
    view: View,
    standing: Standing,
    outcome: Outcome,
    best: Any,
    scaling: CorePool | None,
    journal: Any = None,
) -> Result:
    """A race as a result, given how it stands or ended."""
    return Result(
        best=best,
        story=story_of(view, standing, outcome, scaling, journal),
        failures=tuple(
            describe_failure(view.settings.labels[failure.arm], failure, in_full=False)
            for failure in view.books.attempts.failures
        ),
    )


def story_of(
    view: View,
    standing: Standing,
    outcome: Outcome,
    scaling: CorePool | None,
    journal: Any = None,
) -> Story:
    """All that can be told of a race at one moment."""
    settings, books = view.settings, view.books
    return Story(
        standing=standing,
        outcome=outcome,
        timeline=books.timeline(view.elapsed),
        values=replace(
            books.usage.values(settings.seeds),
            labels=settings.labels,
            parameters=settings.parameters,
        ),
        milestones=books.course.milestones(),
        recipe=recipe_of(settings, journal),
        noise=view.noise,
        assumed=view.noise.describe(),
        level=1 - (settings.goal.confidence or 0.95),
        core_seconds=books.core_seconds,
        scaling=scaling,
        troubles=tuple(
            Trouble(
                one.at,
                one.arm,
                one.pull,
                one.attempt,
                one.what,
                one.message,
                detail_of(one),
                one.printed,
            )
            for one in books.attempts.failures
        ),
        printed=books.prints.printouts(),
        parameters=settings.parameters,
    )


def _standing(view: View, arms: tuple[ArmRecord, ...], outlook: str = "") -> Standing:
    return Standing(
        elapsed=view.elapsed,
        deadline=view.deadline,
        rounds=view.rounds,
        pulls=sum(record.pulls for record in arms),
        cores=view.settings.rules.cores,
        busy_cores=view.busy_cores,
        arms=arms,
        minimize=view.settings.goal.minimize,
        warnings=view.warnings,
        outlook=outlook,
        notes=view.settings.notes,
    )


def _records(view: View, alive: Set[int], best: tuple[int, ...]) -> tuple[ArmRecord, ...]:
    """A record per arm, with an interval that holds for all arms at all times."""
    out = view.books.attempts.out
    means, low, high = _intervals(view)

    def status(arm: int) -> Status:
        if arm in out:
            return "failed"
        return "best" if arm in best else "in" if arm in alive else "out"

    return tuple(
        ArmRecord(
            index=arm,
            label=label,
            mean=float(means[arm]),
            low=float(low[arm]),
            high=float(high[arm]),
            pulls=view.values[arm].size,
            status=status(arm),
            seconds=view.books.arm_seconds[arm],
            failure=out[arm].message if arm in out else "",
        )
        for arm, label in enumerate(view.settings.labels)
    )


def _intervals(view: View) -> tuple[Floats, Floats, Floats]:
    values, arms = view.values, len(view.values)
    alpha = (1 - (view.settings.goal.confidence or 0.95)) / arms
    pulls = np.array([one.size for one in values], dtype=np.int64)
    with np.errstate(all="ignore"):  # values near the largest floats: an interval is then unknown
        sums = np.array([one.sum() for one in values])
        means = np.where(pulls > 0, sums / pulls, np.nan)
        spreads = np.array([((one - one.mean()) ** 2).sum() if one.size else 0.0 for one in values])
        low, high = view.noise.intervals(Tally(pulls, sums, np.zeros(arms), spreads), alpha)
    overflown = ~np.isfinite(sums)
    for arm in np.flatnonzero(overflown):
        means[arm] = mean_of(values[arm])
    unknown = np.isnan(low) | np.isnan(high) | overflown
    return means, np.where(unknown, -math.inf, low), np.where(unknown, math.inf, high)
