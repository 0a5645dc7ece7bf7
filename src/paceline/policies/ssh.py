"""SSH, Staged Sequential Halving: the paper's Algorithm 2, for any number of arms."""

from bisect import bisect
from dataclasses import dataclass
from typing import Literal

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, Floats, whole
from paceline.core.rounds import Conditions, Round, Verdict
from paceline.core.scaling import differs
from paceline.errors import InvalidInput, at_least, unknown_name
from paceline.policies.base import Pacer, Policy, Task
from paceline.theory.deadline import RULES, Rule, stage_count, stages_to_combine

TooShort = Literal["refuse", "subset", "blind"]
_ON_PLAN = 0.01  # a stage may be early or late by this share of the deadline
_TOO_SHORT: tuple[TooShort, ...] = ("refuse", "subset", "blind")


@dataclass(frozen=True)
class SSH(Policy):
    """Equal stages; after each, the best 1 of every 2^k arms stay. `k=None` takes k*.

    `rule` says how k* is chosen (see `theory.stages_to_combine`). A stage ranks arms by its own
    pulls, as in the theorem's proof, or with `keep_samples` by all pulls so far. If real stages
    take longer or shorter than λ said, or λ is learned anew, the remaining stages are planned again
    for the remaining time.

    `too_short` says what to do if a stage is too short for one pull of every arm: `"refuse"` names
    the shortest deadline that is enough; `"subset"` races a random subset, whose share of the arms
    then caps the success; `"blind"` cuts without pulls, as the paper's pseudocode does.

    >>> from paceline import PowerLaw, simulate
    >>> result = simulate([0.9, 0.5, 0.4, 0.3], policy=SSH(), scaling=PowerLaw(0.25), deadline=4)
    >>> result.index, result.pulls, result.rounds
    (array([0]), array([256]), array([1]))
    """

    k: int | None = None
    rule: Rule = "unfloored"
    keep_samples: bool = False
    too_short: TooShort = "refuse"

    name = "ssh"
    goal = "deadline"

    def __post_init__(self) -> None:
        if self.k is not None:
            whole(self.k, "k of ssh")
        if self.rule not in RULES:
            raise unknown_name("rule", self.rule, RULES)
        if self.too_short not in _TOO_SHORT:
            raise unknown_name("too_short", self.too_short, _TOO_SHORT)
        if self.too_short == "subset" and self.rule == "literal":
            raise InvalidInput("a subset is sized for the k that will be used: choose another rule")

    def _pacer(self, task: Task) -> Pacer:
        return _SSHPacer(self, task)


class _SSHPacer(Pacer):
    def __init__(self, policy: SSH, task: Task) -> None:
        super().__init__(task)
        self.policy = policy
        self.stage_pulls = 0  # of every arm in the stage
        self.sums_before: Floats = np.zeros(0)
        self.replan = False

    def opening(self) -> Round | Verdict:
        assert self.task.deadline is not None
        if self.policy.too_short == "subset":
            most = self._most_arms(self.task.deadline)
            self.alive = np.sort(self.rng.permutation(self.alive)[:most])
        arms = self.alive.size
        self.combined = self.policy.k or stages_to_combine(
            arms,
            self.task.deadline,
            self.task.scaling,
            rule=self.policy.rule,
            blind=self.policy.too_short == "blind",
        )
        stages = stage_count(arms, self.combined)
        stage_seconds = self.task.deadline / stages
        self.most_pulls = self.scaling.whole_pulls(stage_seconds)  # Alg. 2, line 2
        self.expected_seconds = 0.0
        if self.most_pulls < arms and self.policy.too_short == "refuse":
            raise self._deadline_error(arms)
        return self._stage()

    def _most_arms(self, deadline: float) -> int:
        """How many arms can be pulled once in every stage; at least two, or there is no race."""
        scaling, k = self.task.scaling, self.policy.k
        # With k*, there is a single stage if nothing else fits.
        most = bisect(
            range(2, self.task.arms + 1),
            False,
            key=lambda arms: (
                scaling.whole_pulls(deadline / (1 if k is None else stage_count(arms, k))) < arms
            ),
        )
        if most == 0:
            raise InvalidInput(
                f"deadline {deadline:g} s is too short to pull even two arms once: "
                f"raise it to at least {at_least(scaling.seconds(2.0))} s"
            )
        return 1 + most

    def _deadline_error(self, arms: int) -> InvalidInput:
        once = self.task.scaling.seconds(float(arms))
        adapts = self.policy.k is None and self.policy.rule != "literal"
        stages = 1 if adapts else stage_count(arms, self.combined)
        needed = f"{once:g} s" if stages == 1 else f"{stages} stages of {once:g} s each"
        enough = at_least(stages * once)
        return InvalidInput(
            f"deadline {self.task.deadline:g} s is too short to pull each of the {arms} arms once "
            f"in every stage ({needed}): raise the deadline to at least {enough} s"
            + (", or race a random subset of the arms (too_short='subset')" if arms > 2 else "")
        )

    def _stage(self) -> Round | Verdict:
        """The pulls of the next stage; cut blindly while there is less than one pull per arm."""
        while self.alive.size > 1:
            per_arm = self.most_pulls // self.alive.size  # Alg. 2, line 5
            self.stage_pulls = min(per_arm, MOST_PULLS_PER_ARM)
            if self.stage_pulls > 0:
                self.sums_before = self.tally.sums[self.alive]
                planned = self.stage_pulls * self.alive.size
                self.expected_seconds += self.scaling.seconds(float(planned))
                return Round(self.alive, np.full(self.alive.size, self.stage_pulls, dtype=np.int64))
            self._cut(np.zeros(self.alive.size))
        return Verdict(self.alive, decided=True, confidence=None)

    def _cut(self, means: Floats) -> None:
        """Keep the best 1 of every 2^k arms, ties broken at random (Alg. 2, line 6)."""
        kept = -(-self.alive.size // 2**self.combined)
        order = np.lexsort((self.rng.random(means.size), -means))
        self.alive = np.sort(self.alive[order[:kept]])

    def adjust(self, conditions: Conditions) -> None:
        """Check whether the time went as λ said: only then does the plan still hold."""
        assert self.task.deadline is not None
        off_plan = abs(conditions.seconds - self.expected_seconds) > _ON_PLAN * self.task.deadline
        self.replan = off_plan or differs(conditions.scaling, self.scaling)
        super().adjust(conditions)

    def _plan_rest(self) -> None:
        """Spread the time that is really left over the remaining stages."""
        assert self.task.deadline is not None
        left, arms = self.task.deadline - self.elapsed, self.alive.size
        self.expected_seconds, self.most_pulls = self.elapsed, 0
        if arms > 1 and left > 0:
            self.combined = self.policy.k or stages_to_combine(
                arms, left, self.scaling, rule=self.policy.rule
            )
            stages = stage_count(arms, self.combined)
            self.most_pulls = self.scaling.whole_pulls(left / stages)
        if self.most_pulls < arms:  # less than one pull each: decide by what is known now
            self.alive = self.ranked(self.alive, self.rng)[:1]

    def decide(self) -> Round | Verdict:
        if self.policy.keep_samples:
            self._cut(self.tally.means(self.alive))
        else:
            self._cut((self.tally.sums[self.alive] - self.sums_before) / self.stage_pulls)
        if self.replan:
            self._plan_rest()
        return self._stage()
