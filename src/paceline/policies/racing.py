"""Racing: a guarantee that holds, in rounds sized for the scaling at hand."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.capped import Capped
from paceline.core.evidence.lil import LilEvidence
from paceline.core.evidence.sigma import SURE_OF_CONSTANCY
from paceline.core.rounds import Conditions, Looks, Results, Round, Verdict
from paceline.core.tally import Tally
from paceline.errors import unknown_name
from paceline.policies import rollout
from paceline.policies.base import Pacer, Policy, Task

EVIDENCE = ("auto", "group-sequential", "betting", "lil")

# The levels that an early answer may be said to have reached: round ones, because each may need a
# boundary of its own. Levels above a half are not worth reporting.
_LEVELS = [*(count / 1000 for count in range(1, 10)), *(count / 100 for count in range(1, 51))]


@dataclass(frozen=True)
class Racing(Policy):
    """Arms fall when the evidence against them passes a bar that the best passes with chance δ.

    `evidence` is "group-sequential", "betting" (for values between bounds), "lil" (the paper's
    interval) or "auto": betting for values between bounds, including zeros and ones, and
    group-sequential for all others. It may also be a function that makes evidence for a task.

    >>> from paceline import PowerLaw, simulate
    >>> simulate([0.9, 0.5, 0.4], policy=Racing(), scaling=PowerLaw(0.5)).index
    array([0])
    """

    evidence: str | Callable[[Task, float], Evidence] = "auto"

    name = "racing"
    goal = "confidence"
    learns_sigma = True
    judges_pairs = True
    finds_top = True
    takes_tolerance = True

    def __post_init__(self) -> None:
        if not callable(self.evidence) and self.evidence not in EVIDENCE:
            raise unknown_name("evidence", self.evidence, EVIDENCE)

    def _pacer(self, task: Task) -> Pacer:
        return RacingPacer(task, self._evidence(task))

    def _evidence(self, task: Task) -> Evidence:
        """Evidence that comes to an end, if there is a tolerance."""
        delta, noise = task.delta, task.noise
        if task.tolerance > 0 and self.evidence == "auto":
            return noise.closed(task.arms, delta, task.tolerance, top=task.top, paired=task.paired)
        own = delta if task.tolerance == 0 else Capped.SHARE * delta
        if callable(self.evidence):
            found = self.evidence(task, own)
        else:
            found = make_evidence(task, own, self.evidence)
        if task.tolerance == 0:
            return found
        return noise.capped(found, delta, task.tolerance, paired=task.paired)


def make_evidence(task: Task, delta: float, kind: str = "auto") -> Evidence:
    """The evidence of a kind for a task, at level `delta`."""
    noise, top = task.noise, task.top
    if kind == "lil":
        arms_at_start = task.arms_at_start or task.arms
        return LilEvidence(task.arms, delta, task.sigma, arms_at_start=arms_at_start, top=top)
    made = {
        "auto": noise.evidence,
        "betting": noise.betting,
        "group-sequential": noise.group_sequential,
    }
    return made[kind](task.arms, delta, top=top, paired=task.paired)


class RacingPacer(Pacer):
    """Rounds end at a look; within a round, arms fall as soon as a look is complete."""

    def __init__(self, task: Task, evidence: Evidence) -> None:
        super().__init__(task)
        self.evidence = evidence
        self.target = 0  # the depth at which the round ends
        self.sizes: list[float] = []  # the pulls of each round; λ turns them into elapsed seconds
        self.leader = -1  # the arm that is pulled more often in the round
        self.leader_pulls = 1  # how many times as often
        self._parts: Tally | None = None  # of a slice that is not complete yet
        self._spoilt = False  # whether more was told than was due: then no look can be complete

    def opening(self) -> Round:
        """Pull every arm as often as a guess at the gaps suggests."""
        task = self.task
        grid = self.evidence.ahead()[: rollout.FIRST_HORIZON]
        looks = tuple(zip(grid.tolist(), self.evidence.bars(grid).tolist(), strict=True))
        try:
            look = rollout.first_look(task.arms, task.top, self.scaling, looks)
        except TypeError:  # a scaling without a hash cannot be cached
            look = rollout.first_look.__wrapped__(task.arms, task.top, self.scaling, looks)
        return self._round_to(grid[: look + 1])

    def decide(self) -> Round | Verdict:
        """A round that ends at the look chosen by rollout."""
        evidence, task = self.evidence, self.task
        alive = self.alive
        if self._nothing_varies():
            return self.stop("no arm's values vary as far as floating-point numbers can tell")
        means = evidence.tally.means(alive)
        self.leader = int(alive[np.argmax(means)])
        self.leader_pulls = self._times(self.leader)
        most = MOST_PULLS_PER_ARM // (alive.size + self.leader_pulls)  # countable in all
        grid = evidence.ahead()
        grid = grid[most >= grid]
        if not grid.size:
            return self.stop("the pulls have reached the largest number that can be counted")
        ahead = grid[: rollout.HORIZON]
        look = rollout.next_look(
            rollout.Position.of(evidence, ahead),
            top=task.top,
            scaling=self.scaling,
            elapsed=float(self.scaling.seconds(np.array(self.sizes)).sum()),
            leader_pulls=self.leader_pulls,
        )
        return self._round_to(ahead[: look + 1])

    def _times(self, leader: int) -> int:
        """How many times as often the leader is pulled, since all others are compared with it.

        r pulls of the leader and one of each other arm cost r·c + C. That times the variance of a
        comparison, 1 + 1/r, is least at r = √(C/c); it is √(k−1) if all arms cost the same.
        """
        alive, task = self.alive, self.task
        if alive.size <= 2 or task.top > 1 or task.paired or self.evidence.even:
            return 1
        if not self.costs:
            return round(math.sqrt(alive.size - 1))
        costs = np.array(self.costs)
        others = float(costs[alive].sum()) / float(costs[leader]) - 1
        return max(1, round(math.sqrt(others)))

    def _nothing_varies(self) -> bool:
        """Whether no arm's values vary: then arms that tie would do so for ever.

        Only zeros, or only ones, do not count: successes or failures may just be rare.
        """
        tally, arms = self.evidence.tally, np.arange(self.task.arms)
        if self.evidence.depth < SURE_OF_CONSTANCY or (tally.variances(arms) != 0).any():
            return False
        return self.task.noise.limits is None or bool(np.ptp(tally.means(arms)) > 0)

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        """Take in results; once all that were due are in, weigh the evidence."""
        if self.verdict is not None:
            return
        if conditions is not None:
            self.adjust(conditions)
        # Virtual time reports what is due in the same arrays that asked for it.
        missing = self._missing
        at_once = results.arms is missing.arms and results.pulls is _due(missing)
        self.tally.add(results)
        fresh = results if at_once else self._gather(results)
        if fresh is not None:
            self._look(fresh)

    def _gather(self, results: Results) -> Results | None:
        """The fresh values, if these results complete what was due; else None."""
        missing, self._missing = self._missing, self._without(results)
        lacking = np.zeros(self.task.arms, dtype=np.int64)
        lacking[missing.arms] = _due(missing)
        lacking[results.arms] -= results.pulls
        self._spoilt |= bool((lacking < 0).any())
        if self._spoilt:
            return None
        if self._parts is None and not lacking.any():
            return results
        if self._parts is None:
            self._parts = Tally.empty(self.task.arms)
        self._parts.add(results)
        if lacking.any():
            return None
        parts, self._parts = self._parts, None
        arms = np.flatnonzero(parts.pulls)  # those of which something was due
        spreads = None if parts.spreads is None else parts.spreads[arms]
        cubes = None if parts.cubes is None else parts.cubes[arms]
        sums, squares = parts.sums[arms], parts.squares[arms]
        return Results(arms, parts.pulls[arms], sums, squares, spreads, cubes=cubes)

    def _look(self, fresh: Results) -> None:
        """Drop arms and end the race if it is decided; else go to the next look or round."""
        evidence = self.evidence
        evidence.take(fresh)
        self.alive = evidence.alive
        answer = self._answer()
        if answer is None and evidence.depth < self.target:
            self._missing = self._round()
            return
        self.rounds += 1
        if answer is None:
            self._adopt(self.decide())
        else:
            best_first = answer[np.argsort(-evidence.tally.means(answer), kind="stable")]
            self._adopt(Verdict(best_first, decided=True, confidence=self.task.confidence))

    def reached(self, answer: Ints) -> float | None:
        """The confidence at which the others could be out by now; never more than was requested.

        For the answer to be wrong, one of the best k must be among the others. If these are out at
        the level p, or fell at δ ≤ p, so is that one; and for any α it is ever out at α or less
        with probability at most α. So P(the answer is wrong, and p ≤ α) ≤ α, whichever arm is the
        answer and whenever the race ends. With a tolerance the evidence takes off what it has spent
        on other ways to end the race.
        """
        levels = [level for level in _LEVELS if level >= self.task.delta]
        place = bisect_left(levels, True, key=lambda level: self._others_out(level, answer))
        return round(1 - levels[place], 3) if place < len(levels) else None

    def _others_out(self, level: float, answer: Ints) -> bool:
        """Whether all arms but the answer would be out by now, were δ this `level`."""
        return self.evidence.out_at(level, np.setdiff1d(self.alive, answer))

    def judged(self) -> Evidence:
        """Its evidence."""
        return self.evidence

    def _answer(self) -> Ints | None:
        """The arms that are left, if these are the answer; None if there is none yet."""
        return self.alive if self.alive.size <= self.task.top else None

    def _round_to(self, depths: Ints) -> Round:
        """A round that ends at the last of these looks, or at the last before the deadline."""
        for depth in reversed(depths.tolist()):
            self.target = depth
            decided = self._round()
            seconds = self.scaling.seconds(float(decided.total))
            if self.task.deadline is None or self.elapsed + seconds <= self.task.deadline:
                break
        self.sizes.append(float(decided.total))
        return decided

    def _round(self) -> Round:
        """All pulls missing up to the target; those that the next look needs are due first."""
        depth = self.evidence.depth
        times = np.where(self.alive == self.leader, self.leader_pulls, 1)
        look = min(self.evidence.next_look(), self.target)
        pulls, due = times * (self.target - depth), times * (look - depth)
        room = self.evidence.room()
        if room is None:
            return Round(self.alive, pulls, Looks(due, each=self.task.paired))
        some = room > 0
        pulls, due = np.minimum(pulls, room)[some], np.minimum(due, room)[some]
        return Round(self.alive[some], pulls, Looks(due, each=self.task.paired))


def _due(wanted: Round) -> Ints:
    """What the next look needs of each arm."""
    assert isinstance(wanted.how, Looks)  # as in all rounds of this policy
    return wanted.how.due
