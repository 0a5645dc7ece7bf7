"""Rounds that get ever longer: shared by APR and by uniform pulls to a confidence."""

import numpy as np

from paceline.core.arrays import MOST_PULLS_PER_ARM, positive
from paceline.core.rounds import Conditions, Round, Verdict
from paceline.core.scaling import differs
from paceline.errors import InvalidInput
from paceline.policies.base import Pacer, Task
from paceline.policies.elimination import Elimination


def check_growth(beta: float) -> None:
    """Refuse a β that would not make rounds longer."""
    if not positive(beta, "beta") > 1:
        raise InvalidInput(
            f"beta must be above 1, got {beta!r}: each round lasts beta times longer"
        )


class ClockPacer(Pacer):
    """Each round lasts `beta` times longer; it pulls the open arms (without `drop`, all arms)."""

    def __init__(
        self, task: Task, beta: float, elimination: Elimination, *, drop: bool = True
    ) -> None:
        super().__init__(task)
        self.beta = beta
        self.elimination = elimination
        self.drop = drop
        self.pulls_in_round = task.arms
        self.seconds = task.scaling.seconds(float(task.arms))  # t_1 = λ(n)

    def opening(self) -> Round:
        """Every arm once."""
        return Round(self.alive, np.ones(self.alive.size, dtype=np.int64))

    def decide(self) -> Round | Verdict:
        """Accept and reject arms; then plan as many pulls as fit into the next, longer round."""
        verdict = self.elimination.update(self.tally)
        if verdict is not None:
            return verdict
        self.alive = self.elimination.alive
        arms = self.alive if self.drop else np.arange(self.task.arms)
        self.seconds *= self.beta
        per_arm = self.scaling.whole_pulls(self.seconds) // arms.size  # Alg. 1, line 10
        # A step of λ may leave less than a pull per arm, and a poor λ may ask for more pulls than
        # can be counted.
        per_arm = min(max(per_arm, 1), MOST_PULLS_PER_ARM)
        self.pulls_in_round = arms.size * per_arm
        return Round(arms, np.full(arms.size, per_arm, dtype=np.int64))

    def adjust(self, conditions: Conditions) -> None:
        """If λ was learned anew, set the clock to the time of the last round under the new λ."""
        if differs(conditions.scaling, self.scaling):
            self.seconds = conditions.scaling.seconds(float(self.pulls_in_round))
        super().adjust(conditions)

    def look(self) -> None:
        """The intervals hold at all times: an arm may fall, or win, before the round is over."""
        if not self.drop:
            return
        verdict = self.elimination.update(self.tally)
        if verdict is not None:
            self._adopt(verdict)
        else:
            self._drop_to(self.elimination.alive)
