"""Virtual time: pulls end when λ says, and their rewards are drawn as sufficient statistics."""

from dataclasses import replace

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.problem import Problem
from paceline.core.rounds import (
    NO_RESULTS,
    NOT_AHEAD,
    NOTHING,
    Ahead,
    Conditions,
    Looks,
    Results,
    Round,
    Until,
)
from paceline.core.scaling import Scaling
from paceline.pools.timeline import Span, Timeline


class VirtualRunner:
    """Runs pulls of a problem in virtual time; `spans`, if given, records what ran when.

    >>> from paceline.core.problem import Bernoulli
    >>> from paceline.core.scaling import PowerLaw
    >>> runner = VirtualRunner(Bernoulli([0.0, 1.0]), PowerLaw(0.5), np.random.default_rng(0))
    >>> runner.pursue(Round(np.array([0, 1]), np.array([8, 8])))
    >>> runner.wait(until=60.0).sums, runner.now()
    (array([0., 8.]), 4.0)
    """

    def __init__(
        self,
        problem: Problem,
        scaling: Scaling,
        rng: np.random.Generator,
        spans: list[Span] | None = None,
    ) -> None:
        self.pulls = 0
        self._spent = 0
        self._problem = problem
        self._scaling = scaling
        self._rng = rng
        self._timeline = Timeline(problem.arms, scaling, spans)
        self._wanted = NOTHING
        self._ready: Ints | None = None  # finished, but not told until all that is due has finished
        self._drawn: Ints = np.zeros(problem.arms, dtype=np.int64)

    def now(self) -> float:
        """The virtual seconds since the race began."""
        return self._timeline.now

    def spent(self, asked: Round, ahead: Ints) -> int:
        """How many pulls count against a cap: told, or no longer wanted."""
        return self._spent

    def pursue(self, wanted: Round, ahead: Ahead = NOT_AHEAD) -> None:
        """Have exactly these pulls queued or running, besides those finished and not yet told."""
        self._wanted = wanted
        if self._ready is not None:
            kept = np.minimum(self._ready[wanted.arms], wanted.pulls)
            self._spent += int(self._ready.sum() - kept.sum())
            self._ready[:] = 0
            self._ready[wanted.arms] = kept
            if int(kept.sum()) == wanted.total:
                return
            wanted = wanted.keeping(wanted.pulls - kept)
        self._timeline.want(wanted)

    def wait(self, until: float) -> Results:
        """Move to the next completion, or to `until` or the round's own end if that is earlier."""
        how = self._wanted.how
        if isinstance(how, Looks):
            return self._next_look(how.due, until)
        if isinstance(how, Until) and how.moment <= until:
            return self._next(how.moment, last=True)
        return self._next(until)

    def _next(self, until: float, *, last: bool = False) -> Results:
        """What finishes next; or nothing, marked as the `last` of a round if that ends by then."""
        finished = self._timeline.advance(until)
        if not finished:
            return replace(NO_RESULTS, last=last)
        for batch in finished:
            self.pulls += batch.total
            self._spent += batch.total
        return _merge([self._draw(batch.arms, batch.pulls) for batch in finished])

    def _next_look(self, due: Ints, until: float) -> Results:
        """What is due, as soon as all of it has finished."""
        while not self._is_ready(due):
            finished = self._timeline.advance(until)
            if not finished:
                return NO_RESULTS
            if self._ready is None:
                self._ready = np.zeros(self._problem.arms, dtype=np.int64)
            for batch in finished:
                self.pulls += batch.total
                self._ready[batch.arms] += batch.pulls
        return self._tell(self._wanted.arms, due)

    def _is_ready(self, due: Ints) -> bool:
        if self._ready is None or not due.any():
            return False
        return bool((self._ready[self._wanted.arms] >= due).all())

    def _tell(self, arms: Ints, due: Ints) -> Results:
        assert self._ready is not None
        if not due.all():
            arms, due = arms[due > 0], due[due > 0]
        self._ready[arms] -= due
        if not self._ready.any():
            self._ready = None
        self._spent += int(due.sum())
        return self._draw(arms, due)

    def close_round(self, number: int) -> Conditions:
        """The time, and λ, which is known and does not change."""
        return Conditions(self._timeline.now, self._scaling)

    def under_way(self) -> list[Span]:
        """What is running now, each span up to when it would end."""
        return self._timeline.under_way()

    # Rewards.

    def _draw(self, arms: Ints, pulls: Ints) -> Results:
        if self._wanted.how.each and pulls.min() == pulls.max():
            return self._draw_each(arms, pulls)
        # Numbered when they finish: a cancelled pull then leaves no hole.
        first = self._drawn[arms] if self._problem.numbered else self._drawn
        sums, squares = self._problem.draw(arms, pulls, first, self._rng)
        if self._problem.numbered:
            self._drawn[arms] += pulls
        return Results(arms, pulls, sums, squares)

    def _draw_each(self, arms: Ints, pulls: Ints) -> Results:
        first, count = int(self._drawn[arms[0]]), int(pulls[0])
        values = self._problem.draw_each(arms, count, first, self._rng)
        self._drawn[arms] += pulls
        sums = values.sum(axis=1)
        spreads = ((values - sums[:, None] / count) ** 2).sum(axis=1)
        return Results(arms, pulls, sums, (values**2).sum(axis=1), spreads, values)


def _merge(parts: list[Results]) -> Results:
    """Results of batches that ended together, each arm once."""
    if len(parts) == 1:
        return parts[0]
    arms, where = np.unique(np.concatenate([part.arms for part in parts]), return_inverse=True)

    def total(values: list[np.ndarray]) -> np.ndarray:
        return np.bincount(where, weights=np.concatenate(values), minlength=arms.size)

    return Results(
        arms,
        total([part.pulls for part in parts]).astype(np.int64),
        total([part.sums for part in parts]),
        total([part.squares for part in parts]),
    )
