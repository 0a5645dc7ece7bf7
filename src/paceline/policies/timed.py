"""Racing to a confidence while a deadline approaches: whichever comes first.

The evidence holds for any allocation that is decided before the values it is judged by. So
`racing` decides who is pulled as long as the race is likely to be over in time, and otherwise the
chain of cuts of `staged`; the evidence is weighed all the while. A cut by that chain proves
nothing: the arms cut are set aside, with the evidence against them as it was. If the others are
settled before the deadline, those set aside last come back first, and meet the winner with fresh
values. The confidence is stated once no arm is left, in the race or aside.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.boundary import DEPTHS
from paceline.core.rounds import Conditions, Results, Round, Verdict
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput
from paceline.policies import rollout
from paceline.policies.base import Pacer, Policy, Task
from paceline.policies.racing import Racing, RacingPacer
from paceline.policies.staged import Staged, StagedPacer
from paceline.theory.raceplan import too_short

# The chance of being over in time from which on no arm is cut without evidence: with 0.5, arms were
# cut in races that `racing` would have decided in time, and answers were no better. But where λ is
# far from proportional, each round more leaves time for fewer pulls: one that would lose more than
# this share of them is raced only with the higher chance.
_LIKELY, _LOSS, _SURE = 0.2, 0.1, 0.6
# How much of the deadline a first look, before the first stage is over, may cost. More such pauses
# on the way to a cut cost a tenth of all pulls on 40 cores, and found the best in .90, not .93.
_FIRST_LOOK = 0.075


@dataclass(frozen=True)
class Timed(Policy):
    """The confidence as soon as `racing` would have it; else the answer of `staged` in time.

    At the deadline the verdict says which confidence was reached. `evidence` is that of `racing`.
    Without a deadline, or with a tolerance, whose horizon cuts know nothing of, this is `racing`.

    >>> from paceline import PowerLaw, simulate
    >>> easy, hard = ([0.9, 0.5, 0.4], [0.5, 0.49, 0.4])
    >>> goals = {"scaling": PowerLaw(0.5), "confidence": 0.95, "deadline": 30}
    >>> simulate(easy, Timed(), **goals).confidence, simulate(hard, Timed(), **goals).confidence
    (0.95, None)
    """

    evidence: str | Callable[[Task, float], Evidence] = "auto"

    name = "timed"
    goal = "confidence"
    learns_sigma = True
    judges_pairs = True
    finds_top = True
    takes_tolerance = True

    def __post_init__(self) -> None:
        Racing(self.evidence)  # which refuses what it does not know

    def _pacer(self, task: Task) -> Pacer:
        pacer = Racing(self.evidence)._pacer(task)
        assert isinstance(pacer, RacingPacer)
        if task.deadline is None or task.tolerance > 0:
            return pacer
        return TimedPacer(task, pacer.evidence)


class Plan(StagedPacer):
    """The chain of cuts of `staged`, for arms that have all been pulled to some depth."""

    def __init__(self, task: Task) -> None:
        super().__init__(Staged(stragglers="wait"), replace(task, confidence=None, tolerance=0.0))
        self.depth = 0
        self.size = task.arms  # of the stage that has begun

    def _pulled(self) -> Ints:
        """The depth: pulls of the leader beyond it are no reason to pull it less."""
        return np.full(self.alive.size, self.depth, dtype=np.int64)

    def _too_short(self, clock: Scaling) -> InvalidInput:
        return too_short(self.deadline, self.alive.size, clock)

    def go_on(self, alive: Ints, depth: int) -> Round | Verdict:
        """The next stage, from where the race now is."""
        self.alive, self.depth = alive, depth
        if depth >= self.chain.pulls[self.stage + 1]:
            return self.decide()
        left = self.deadline - self.elapsed
        stage = self.clock.seconds(float(alive.size * (self.chain.pulls[self.stage + 1] - depth)))
        late = stage + sum(self.chain.seconds[self.stage + 1 :]) > left
        if left > 0 and (late or alive.size < self.size):  # those out leave more time for others
            self._plan_rest(left, as_planned=False)
        return self._next_stage()

    def _next_stage(self) -> Round | Verdict:
        """Note how many arms it begins with."""
        stage = super()._next_stage()
        self.size = self.alive.size
        return stage

    def pause(self, depth: int) -> int:
        """Where to decide for the first time: at the last look up to `depth` that costs little.

        That is how much longer two rounds take than one up to the first cut. If all looks cost too
        much, the cut is the first.
        """
        arms, cut = self.alive.size, self.chain.pulls[1]
        looks = DEPTHS[(depth >= DEPTHS) & (cut > DEPTHS)].astype(np.float64)
        seconds = self.clock.seconds
        longer = seconds(arms * looks) + seconds(arms * (cut - looks)) - seconds(float(arms * cut))
        cheap = looks[longer <= _FIRST_LOOK * self.deadline]
        return int(cheap[-1]) if cheap.size else cut


class TimedPacer(RacingPacer):
    """Races, or follows the plan; `aside` are the arms that the plan has cut, the last ones last.

    Stages wait for all of their pulls, and the values of an arm are told in the order of their
    numbers: which of them were quick has no say.
    """

    def __init__(self, task: Task, evidence: Evidence) -> None:
        super().__init__(task, evidence)
        self.plan = Plan(task)
        self.plan.tally = self.tally
        self.aside: list[Evidence] = []

    @property
    def _is_settled(self) -> bool:
        """Whether the evidence has left only as many as are wanted of those not set aside."""
        return self.alive.size <= self.task.top

    def opening(self) -> Round:
        """As in `racing`, but not beyond the first stage of the plan, nor at its expense."""
        self.plan.open()
        super().opening()
        self.sizes.clear()
        return self._to_depth(self.plan.pause(self.target))

    def decide(self) -> Round | Verdict:
        """Race on if that is likely to end in time, or if it is all that is left to do."""
        if self._is_settled:
            if self.task.paired:
                return self.stop("arms that were cut cannot be raced on with seeds that are known")
            self._bring_back()
        if self.evidence.safe.size:  # they are back: nothing else is left to do
            return super().decide()
        chance = 0.0 if self.aside else self._chance()
        if chance >= _LIKELY:
            more = super().decide()
            if isinstance(more, Verdict) or chance >= _SURE or self._costs_little(more):
                return more
            self.sizes.pop()
        return self._follow_plan()

    def _costs_little(self, more: Round) -> bool:
        """Whether about as many pulls fit before the deadline if this round comes first."""
        assert self.task.deadline is not None
        left, first = self.task.deadline - self.elapsed, self.scaling.seconds(float(more.total))
        if first >= left:
            return False
        lost = 1 - (more.total + self.scaling.pulls(left - first)) / self.scaling.pulls(left)
        return bool(lost <= _LOSS)

    def _chance(self) -> float:
        """The chance that `racing` would be over in time."""
        evidence, task, alive = self.evidence, self.task, self.alive
        assert task.deadline is not None
        ahead = evidence.ahead()[: rollout.HORIZON]
        if not ahead.size:
            return 0.0
        position = rollout.Position.of(evidence, ahead)
        return rollout.chance_in_time(
            position,
            top=task.top,
            scaling=self.scaling,
            seconds=task.deadline - self.elapsed,
            leader_pulls=self._times(int(alive[np.argmax(position.means)])),
        )

    def _follow_plan(self) -> Round | Verdict:
        """The next stage; arms that it cuts are set aside."""
        depth = self.evidence.depth
        stage = self.plan.go_on(self.alive, depth)
        if isinstance(stage, Verdict):
            best, reason = stage.arms, "no more pulls fit before the deadline"
            return Verdict(best, decided=True, confidence=self.reached(best), reason=reason)
        cut = np.setdiff1d(self.alive, stage.arms)
        if cut.size:
            self.aside.append(self.evidence.set_aside(cut))
            self.alive = self.evidence.alive
        return self._to_depth(depth + int(stage.pulls.max()))

    def _to_depth(self, depth: int) -> Round:
        """A round of equally many pulls of each arm."""
        self.target, self.leader_pulls = depth, 1
        decided = super()._round()
        self.sizes.append(float(decided.total))
        return decided

    def _round(self) -> Round:
        """If the arms are settled in mid-round, those set aside go to their next look first."""
        if self._is_settled:
            self._bring_back()
            self.target, self.leader_pulls = self.evidence.next_look(), 1
        return super()._round()

    def _bring_back(self) -> None:
        self.evidence = self.evidence.bring_back(self.aside.pop())
        self.alive = self.evidence.alive

    def _answer(self) -> Ints | None:
        """None while arms are set aside: they may be the best."""
        if not self.aside and not self.evidence.safe.size:
            return super()._answer()
        if self._is_settled and self.task.paired:
            self.target = self.evidence.depth  # the round is over
        return self.alive if self._is_settled and not self.aside else None

    def _others_out(self, level: float, answer: Ints) -> bool:
        """Those set aside, too. A winner that met these again was no longer tested itself."""
        if np.setdiff1d(self.evidence.safe, answer).size:
            return False
        aside = all(one.out_at(level, one.alive) for one in self.aside)
        return aside and super()._others_out(level, answer)

    def tell(self, results: Results, conditions: Conditions | None = None) -> None:
        """Take in results; the plan sees them, too."""
        if self.verdict is None:
            self.plan.sight.take(results)
        super().tell(results, conditions)

    def adjust(self, conditions: Conditions) -> None:
        """From now on, plan with λ and the delays as they are now known."""
        super().adjust(conditions)
        self.plan.adjust(conditions)
