"""Staged elimination for a deadline: a chain of cuts planned for λ, and replanned on the way."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.delays import Boxed, Delays
from paceline.core.rounds import Conditions, Results, Round, Together, Until, Verdict
from paceline.core.scaling import Scaling, differs
from paceline.errors import InvalidInput, unknown_name
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.sight import Sight
from paceline.theory.chain import Chain, chain_sizes, plan_chain, plan_wider
from paceline.theory.raceplan import RacePlan, plan_race, too_short

Stragglers = Literal["cut", "wait"]
_STRAGGLERS: tuple[Stragglers, ...] = ("cut", "wait")

_WIDER = 3.0  # if nothing is clear yet and time allows, keep three times as many arms as planned
_NARROWING = 0.7
_CLOSE_ENOUGH = 1e-3  # how near to the best plan, as a share of its bottleneck
_ON_TIME = 1e-6  # as a share of the deadline
_WORTH_A_STAGE = 0.1  # share of more pulls that is worth one more stage at the end
_SUBSET_PULLS = 0.7  # bottleneck per arm of a subset: with more arms each is pulled too rarely


@dataclass(frozen=True)
class Staged(Policy):
    """Stages of equal pulls with a cut after each, for the best chance by the deadline.

    The chain of cuts is the one with the largest bottleneck (see `theory.plan_chain`), planned
    anew after each stage for the time that is really left. Arms that are clearly behind go earlier
    than planned, within a floor that keeps the guarantee. If nothing is clear yet, more arms stay.

    If the times of pulls vary, a stage ends when most of its pulls are back, and the rest is cut
    off (`stragglers="cut"`). With `"wait"`, or if pulls are paired, it waits for all.

    A deadline that is too short to pull every arm once is refused. With `best_effort`, a random
    subset is raced instead, as large as makes sense.

    >>> from paceline import PowerLaw, simulate
    >>> result = simulate([0.9, 0.5, 0.4, 0.3], policy=Staged(), scaling=PowerLaw(0.5), deadline=8)
    >>> result.index, bool(result.seconds[0] <= 8)
    (array([0]), True)
    """

    stragglers: Stragglers = "cut"
    best_effort: bool = False

    name = "staged"
    goal = "deadline"
    finds_top = True
    learns_sigma = True

    def __post_init__(self) -> None:
        if self.stragglers not in _STRAGGLERS:
            raise unknown_name("stragglers", self.stragglers, _STRAGGLERS)

    def _pacer(self, task: Task) -> Pacer:
        return StagedPacer(self, task)

    def outline(self, task: Task) -> list[tuple[str, str]]:
        """The planned cuts."""
        assert task.deadline is not None
        plan = plan_race(task.arms, task.scaling, task.deadline, top=task.top)
        if plan is None:
            return []  # too short for all arms; with `best_effort` a subset is raced
        chain = plan.chain.merged()
        sizes = " → ".join(str(size) for size in chain.sizes)
        pulls = ", ".join(str(each) for each in chain.pulls[1:])
        return [("plan", f"{sizes} arms, after {pulls} pulls each")]


class StagedPacer(Pacer):
    """Follows a chain; its stage number `stage` is running or about to begin."""

    def __init__(self, policy: Staged, task: Task) -> None:
        super().__init__(task)
        assert task.deadline is not None
        self.policy = policy
        self.deadline = task.deadline
        self.wait = policy.stragglers == "wait" or task.paired
        self.stage = 0
        self.expected = 0.0  # when the stage should end, by the plan
        self.waited = False  # whether we have waited for arms without any result
        self.sight = Sight(task)
        self.clock = self._make_clock(task.scaling, task.delays)

    def _make_clock(self, scaling: Scaling, delays: Delays | None) -> Scaling:
        """λ; or, if pulls follow it only on average, the time that a stage takes then."""
        return scaling if delays is None else Boxed(scaling, delays, wait=self.wait)

    def adjust(self, conditions: Conditions) -> None:
        """From now on, plan with λ and the delays as they are now known."""
        if differs(conditions.scaling, self.scaling) or conditions.delays != self.delays:
            self.clock = self._make_clock(conditions.scaling, conditions.delays)
        super().adjust(conditions)

    # Planning.

    def opening(self) -> Round | Verdict:
        """Plan the whole race."""
        task, clock = self.task, self.clock
        plan = _first_plan(task.arms, task.top, clock, self.deadline)
        if plan is None and self.policy.best_effort:
            self._take_subset(clock)
            plan = _first_plan(self.alive.size, task.top, clock, self.deadline)
        if plan is None:
            raise self._too_short(clock)
        self.sizes = chain_sizes(self.alive.size, task.top)
        self.chain, self.floor = plan.chain, plan.floor
        self.planned_by = clock
        return self._next_stage()

    def _take_subset(self, clock: Scaling) -> None:
        """Take a random subset, as large as can still be told apart; its share caps the success.

        With more arms, each would be pulled so rarely that only luck finds the best.
        """
        low, high = self.task.top + 1, self.task.arms
        while low < high:
            arms = (low + high + 1) // 2
            plan = plan_chain(arms, clock, self.deadline, top=self.task.top, tolerance=0.01)
            enough = plan is not None and plan.bottleneck >= _SUBSET_PULLS * arms
            low, high = (arms, high) if enough else (low, arms - 1)
        self.alive = np.sort(self.rng.permutation(self.alive)[:low])

    def _too_short(self, clock: Scaling) -> InvalidInput:
        arms = self.alive.size
        if arms < self.task.arms:
            return too_short(self.deadline, arms, clock, which=f"even {arms} arms")
        subset = ", or race a random subset (best_effort=True)" if arms > self.task.top + 1 else ""
        return too_short(self.deadline, arms, clock, more=subset)

    def _plan_rest(self, left: float, *, as_planned: bool) -> None:
        """Plan the best chain from here, unless the current one is known to be the best."""
        on_time = abs(self.elapsed - self.expected) <= _ON_TIME * self.deadline
        if as_planned and on_time and not differs(self.clock, self.planned_by):
            return
        clock, options = self.clock, self._options()
        guess = float(self.chain.bottleneck)
        plan = plan_chain(
            self.alive.size, clock, left, tolerance=_CLOSE_ENOUGH, guess=guess, **options
        )
        if plan is None and math.fsum(self.chain.seconds[self.stage :]) > left * (1 + _ON_TIME):
            options["floor"] = 0.0  # we are late: the deadline comes first
            plan = plan_chain(
                self.alive.size, clock, left, tolerance=_CLOSE_ENOUGH, guess=guess, **options
            )
        if plan is not None:
            self.chain, self.stage, self.planned_by = plan, 0, clock

    def _options(self) -> dict[str, Any]:
        return {
            "top": self.task.top,
            "pulls": int(self._pulled().mean()),
            "floor": self.floor,
            "sizes": self.sizes,
        }

    def _pulled(self) -> Ints:
        """How often each arm still in has been pulled."""
        return self.tally.pulls[self.alive]

    # Stages.

    def _next_stage(self) -> Round | Verdict:
        """The pulls up to the next cut; cuts that already have enough pulls are made at once."""
        while self.alive.size > self.task.top:
            target = self.chain.pulls[self.stage + 1]
            missing = np.maximum(target - self._pulled(), 0)
            if missing.any():
                return self._round(missing)
            self.stage += 1
            self._cut_to(self.chain.sizes[self.stage])
        return Verdict(self.ranked(self.alive, self.rng), decided=True, confidence=None)

    def _round(self, missing: Ints) -> Round:
        need, clock = int(missing.sum()), self.clock
        self.expected = self.elapsed + clock.seconds(float(need))
        if not isinstance(clock, Boxed) or self.wait:
            return Round(self.alive, missing, Together(each=self.task.paired))
        until = self.expected
        if self.chain.sizes[self.stage + 1] <= self.task.top:
            until = self.deadline
        started = self._spread(missing, clock.launch(float(need)))
        return Round(self.alive, started, Until(min(until, self.deadline)))

    def _spread(self, missing: Ints, total: int) -> Ints:
        """Spread `total` pulls in proportion to what the arms lack; the remainder is drawn by lot.

        Rounding up for each arm would double the pulls if one pull of each arm is missing.
        """
        exact = missing * (total / int(missing.sum()))
        started = np.maximum(exact.astype(np.int64), missing)
        over = total - int(started.sum())
        if over > 0:
            short = np.flatnonzero(missing)
            started[self.rng.permutation(short)[:over]] += 1
        return started

    def decide(self) -> Round | Verdict:
        """Cut as planned, or more, or less; then plan the rest for the time that is left."""
        left = self.deadline - self.elapsed
        unheard = self.alive[self.tally.pulls[self.alive] == 0]
        if unheard.size:  # an arm must not fall only because its pulls are slow
            if not self.waited and left > 0:
                self.waited = True
                one = np.ones(unheard.size, dtype=np.int64)
                return Round(unheard, one, Until(self.elapsed + 0.5 * left))
            heard = self.alive[self.tally.pulls[self.alive] > 0]
            if heard.size <= self.task.top:
                return self.stop("too few arms had a result in time")
            self.alive = heard
        self.stage += 1
        planned = self.chain.sizes[self.stage]
        if planned <= self.task.top or left <= 0:
            return self._end(left)
        self.sight.look(self.tally, self.alive)
        kept = min(planned, self._not_behind(planned))
        if kept == planned and self.sight.unclear and self._keep_more(planned, left):
            return self._next_stage()
        as_planned = kept == planned and planned <= self.alive.size
        self._cut_to(kept)
        self._plan_rest(left, as_planned=as_planned)
        return self._next_stage()

    def _end(self, left: float) -> Round | Verdict:
        """Make the last cut; or add a stage, if the pulls were quicker than expected."""
        arms, each = self.alive.size, int(self._pulled().min())
        more = self.clock.whole_pulls(max(left, 0.0)) // arms
        if more >= max(1.0, _WORTH_A_STAGE * each):
            self.chain = Chain((arms, self.task.top), (each, each + more), (left,), self.task.top)
            self.stage = 0
            return self._next_stage()
        self._cut_to(self.task.top)
        return self._next_stage()

    def _cut_to(self, kept: int) -> None:
        if kept < self.alive.size:
            self.alive = np.sort(self.ranked(self.alive, self.rng)[:kept])

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        """Take in results, including what single values show."""
        if self.verdict is None:
            self.sight.take(results)
        super().tell(results, conditions)

    def _not_behind(self, planned: int) -> int:
        """How many arms are not clearly behind; more if the floor demands it."""
        top, each = self.task.top, int(self._pulled().min())
        kept = max(self.sight.near(self.tally, self.alive), top + 1)
        while kept < planned and each * _power_of_two(kept - top + 1) < self.floor:
            kept = top - 1 + 2 * _power_of_two(kept - top + 1)
        return kept

    def _keep_more(self, planned: int, left: float) -> bool:
        """Keep more arms than planned, because nothing is clear yet; False if that does not fit."""
        clock, options = self.clock, self._options()
        kept = min(int(_WIDER * planned), self.alive.size)
        while kept > planned:
            plan = plan_wider(kept, clock, left, **options)
            if plan is not None:
                self._cut_to(kept)
                self.chain, self.stage, self.planned_by = plan, 0, clock
                return True
            kept = int(_NARROWING * kept)
        return False


def _power_of_two(kept: int) -> int:
    return 1 << (kept.bit_length() - 1)


def _first_plan(arms: int, top: int, clock: Scaling, deadline: float) -> RacePlan | None:
    """The plan of a whole race; all races of a simulation share it."""
    try:
        return _remembered_plan(arms, top, clock, deadline)
    except TypeError:  # a scaling without a hash cannot be cached
        return plan_race(arms, clock, deadline, top=top)


@lru_cache(maxsize=64)
def _remembered_plan(arms: int, top: int, clock: Scaling, deadline: float) -> RacePlan | None:
    return plan_race(arms, clock, deadline, top=top)
