"""Racing by intervals: which arms are surely in the top k, which are not, and which are open.

The policies that compare simultaneous confidence intervals share this.
"""

import numpy as np

from paceline.core.arrays import Bools, Floats, Ints, positive
from paceline.core.evidence.lil import LilInterval
from paceline.core.rounds import NO_ARMS, Verdict
from paceline.core.tally import Tally
from paceline.policies.base import Task


def check_interval(deviation: float, sigma: float | None = None) -> None:
    """Refuse an impossible width of an interval; `sigma=None` stands for the problem's own."""
    positive(deviation, "deviation")
    if sigma is not None:
        positive(sigma, "sigma")


class Elimination:
    """The arms still open, those accepted, and the rule that moves them.

    An arm is out when its upper bound is at or below the k-th highest lower bound; it is in when
    its lower bound is above the (k+1)-th highest upper bound. The intervals hold for all arms at
    all times with probability 1 − δ, and then no decision is wrong.
    """

    def __init__(self, task: Task, deviation: float, sigma: float | None) -> None:
        scale = task.sigma if sigma is None else sigma
        self.task = task
        arms = task.arms_at_start or task.arms
        self.interval = LilInterval(task.delta, arms, scale, deviation)
        self.alive: Ints = np.arange(task.arms)
        self.accepted: Ints = NO_ARMS
        # There is no proof for an interval narrower than the theorem's, or noise than the task's.
        narrower = scale is not None and task.sigma is not None and scale < task.sigma
        honest = deviation >= 1 and not narrower
        self.confidence = task.confidence if honest else None

    def update(self, tally: Tally) -> Verdict | None:
        """Accept and reject arms by what is known now; return the verdict once the top k are in."""
        low, high = self.interval.bounds(tally, self.alive)
        wanted = self.task.top - self.accepted.size
        accept, reject = judge(low, high, wanted, self.task.tolerance)
        if accept.any():
            self.accepted = np.r_[self.accepted, self.alive[accept]]
        self.alive = self.alive[~(accept | reject)]
        if self.accepted.size < self.task.top:
            return None
        best_first = self.accepted[np.argsort(-tally.means(self.accepted), kind="stable")]
        return Verdict(best_first, decided=True, confidence=self.confidence)


def judge(low: Floats, high: Floats, wanted: int, tolerance: float = 0.0) -> tuple[Bools, Bools]:
    """Say which of the open arms are among the best `wanted`, and which are not.

    With a `tolerance`, an arm is also in when it is at most that much worse than those left out.

    >>> accept, reject = judge(np.array([0.6, 0.3, 0.1]), np.array([0.9, 0.5, 0.2]), wanted=1)
    >>> accept, reject
    (array([ True, False, False]), array([False,  True,  True]))
    """
    if low.size <= wanted:
        # No more than are wanted: accept them all. The paper's line 8 would run one more round
        # when the runner-up's upper bound just meets the winner's lower bound.
        return np.ones(low.size, dtype=bool), np.zeros(low.size, dtype=bool)
    lows, highs = np.sort(low), np.sort(high)
    # Alg. 1, line 9. An interval may be too narrow for floats; the arms that set the bar stay in.
    reject = (high <= lows[-wanted]) & (low < lows[-wanted])
    # The rival is the `wanted`-th of the others: an arm among the highest skips itself.
    rival = np.where(high >= highs[-wanted], highs[-wanted - 1], highs[-wanted])
    accept = low > rival - tolerance  # Alg. 1, line 8
    if np.count_nonzero(~reject) <= wanted:
        return ~reject, reject
    if np.count_nonzero(accept) > wanted:  # a tolerance may let in too many
        last_in = np.argsort(-low, kind="stable")[wanted:]
        accept[last_in] = False
    return accept, reject & ~accept
