"""What the arms' differences show so far: which arms are clearly behind, if any.

`staged` uses it to cut more or less than planned. Nothing here is guaranteed.
"""

import math

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import Results
from paceline.core.tally import Tally
from paceline.policies.base import Task

_CLEARLY_BEHIND = 2.0  # standard errors, if the arms differ by more than the noise
_UNCLEAR = 0.1  # share of real differences in the spread of the means: below this, noise rules
_LEAST_SHARE = 0.001
_WORTH = 4.0  # values that the common variance counts for


class Sight:
    """Standard errors of the means, and how much of their spread is real.

    `share` is the real part: 1 if all of it is real, None if it is too early to tell.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.share: float | None = None
        self._variances = (0.0, 0.0)  # of the true means, and of a pull, as last estimated
        self._arms = 0  # the number of arms that this was estimated from
        # For paired pulls: squares around what the arms have in common.
        self._residuals = np.zeros(task.arms)
        self._residual_pulls = np.zeros(task.arms)

    @property
    def unclear(self) -> bool:
        """Whether the differences of the means are mostly noise."""
        return self.share is not None and self.share < _UNCLEAR

    def take(self, results: Results) -> None:
        """Take in results; only single values say more than the tally already does."""
        values = results.values
        if values is None or results.arms.size < 2:
            return
        apart = values - values.mean(axis=0)  # from what all arms share in a pull
        apart -= apart.mean(axis=1, keepdims=True)
        correction = results.arms.size / (results.arms.size - 1)
        self._residuals[results.arms] += correction * (apart**2).sum(axis=1)
        self._residual_pulls[results.arms] += values.shape[1] - 1

    def look(self, tally: Tally, alive: Ints) -> None:
        """Estimate how much of the spread is real now.

        The variance of the true means is estimated while all arms are in, because survivors differ
        less.
        """
        pulls = float(tally.pulls[alive].mean())
        if self.share is None or alive.size == self._arms:
            variances = self._of_pulls(tally, alive)
            if variances is None:
                return
            noise = float(variances.mean())
            spread = float(tally.means(alive).var(ddof=1))
            self._variances, self._arms = (max(0.0, spread - noise / pulls), noise), alive.size
        real, noise = self._variances
        total = real + noise / pulls
        self.share = max(_LEAST_SHARE, real / total) if total > 0 else _LEAST_SHARE

    def near(self, tally: Tally, alive: Ints) -> int:
        """How many arms are not clearly behind the best; all, if it is too early to tell."""
        estimates = self._estimates(tally, alive)
        if estimates is None or self.share is None:
            return alive.size
        order = np.argsort(-estimates[0], kind="stable")
        means, last = estimates[0][order], self.task.top - 1
        errors = estimates[1][order] / tally.pulls[alive][order]
        # The luckiest of many arms is this far ahead; by chance, no arm is further behind it.
        most = math.sqrt(2 * math.log(self.task.arms)) + 1.0
        bar = min(_CLEARLY_BEHIND / math.sqrt(self.share), most)
        behind = means[last] - means > bar * np.sqrt(errors[last] + errors)
        return alive.size - int(np.count_nonzero(behind))

    def _estimates(self, tally: Tally, alive: Ints) -> tuple[Floats, Floats] | None:
        """Means, and variances of a pull, drawn towards the common one while pulls are few."""
        free = self._residual_pulls[alive]
        if self.task.paired and free.any():
            residuals = self._residuals[alive]
            common = residuals.sum() / free.sum()
            return tally.means(alive), (residuals + _WORTH * common) / (free + _WORTH)
        return self.task.noise.estimates(tally, alive)

    def _of_pulls(self, tally: Tally, alive: Ints) -> Floats | None:
        """Unbiased variances of a pull; None if no arm has had two."""
        if self.task.paired:
            estimates = self._estimates(tally, alive)
            return None if estimates is None else estimates[1]
        return self.task.noise.pull_variances(tally, alive)
