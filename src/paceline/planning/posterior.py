"""What values say about the arms: draws of the true means and deviations that fit them.

The means that were observed differ more than the true ones, since noise adds to the spread: the
leader is usually the luckiest. So the spread of the true means is estimated too, as
`paceline.core.truths` says; and variances are drawn with them.
"""

import math
from collections.abc import Sequence

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.truths import Truths
from paceline.core.words import count
from paceline.errors import InvalidInput
from paceline.planning.beliefs import Belief
from paceline.planning.worlds import Limits, World

_DRAWS = 240
_BURN_IN, _THIN = 60, 3
_WORTH = 4.0  # values that the common variance counts for


class Posterior(Belief):
    """Draws of worlds that fit the values seen, a row of them for each arm; high ones are good.

    The worlds begin with these values. `binary` values are 0 and 1. With `paired`, the k-th values
    of all arms share what their common seed gives.

    >>> rng = np.random.default_rng(0)
    >>> belief = Posterior([rng.normal(mean, 1, 50) for mean in (0.0, 0.0, 3.0)])
    >>> worlds = [belief.draw(np.random.default_rng(seed)) for seed in range(20)]
    >>> {int(np.argmax(world.means)) for world in worlds}
    {2}
    """

    def __init__(
        self,
        values: Sequence[Floats],
        *,
        binary: bool = False,
        paired: bool = False,
        limits: Limits | None = None,
        seed: int = 0,
    ) -> None:
        self.arms = len(values)
        self.pulls = np.array([one.size for one in values], dtype=np.int64)
        if self.pulls.min() < 1 or (self.pulls.max() < 2 and not binary):
            raise InvalidInput(
                "there are too few values to learn from: some arm has none, or none has two. Make "
                "the pilot longer"
            )
        self.limits = limits
        self.binary = binary
        # Only differences matter, unless there are limits; and squares of large values are rounded.
        centred = not binary and limits is None
        offset = float(np.concatenate(values).mean()) if centred else 0.0
        self.values = [one - offset for one in values]
        self.common = 0.0
        residuals = self.values
        if paired and not binary:
            residuals = _without_shared(self.values)
            shared = [one - rest for one, rest in zip(self.values, residuals, strict=True)]
            longest = shared[int(np.argmax(self.pulls))]
            self.common = float(longest.std()) if longest.size > 1 else 0.0
        rng = np.random.default_rng((seed, 5))
        self._means, self._variances = _draws(residuals, rng, binary=binary)

    def draw(self, rng: np.random.Generator) -> World:
        """One of the draws."""
        one = int(rng.integers(self._means.shape[0]))
        means = self._means[one]
        if self.binary:
            return World(means, known=self.values)
        return World(
            means,
            np.sqrt(self._variances[one]),
            common=self.common,
            known=self.values,
            limits=self.limits,
        )

    def describe(self) -> str:
        """How much was seen."""
        return f"{count(int(self.pulls.sum()), 'value')} of {self.arms} arms"


def _without_shared(values: Sequence[Floats]) -> list[Floats]:
    """The values less what all arms have in common in pulls with the same seed."""
    least = min(one.size for one in values)
    longest = max(one.size for one in values)
    apart = np.full((len(values), longest), np.nan)
    for arm, one in enumerate(values):
        apart[arm, : one.size] = one - one[:least].mean()
    there = np.isfinite(apart)
    shared = np.where(there, apart, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    shared[there.sum(axis=0) < 2] = 0.0  # of one arm alone nothing can be told apart
    return [one - shared[: one.size] for one in values]


def _draws(
    values: Sequence[Floats], rng: np.random.Generator, *, binary: bool
) -> tuple[Floats, Floats]:
    """Means and variances, a row per draw."""
    pulls = np.array([one.size for one in values], dtype=np.float64)
    seen = np.array([one.mean() for one in values])
    spreads = np.array([((one - one.mean()) ** 2).sum() for one in values])
    if binary:
        return _chances(seen * pulls, pulls, rng), np.zeros((_DRAWS, pulls.size))
    free = np.maximum(pulls - 1, 0)
    common = max(float(spreads.sum() / max(free.sum(), 1.0)), 1e-300)
    means, variances = [], []
    sampler = Truths(seen, math.sqrt(common / float(np.median(pulls))), rng)
    for step in range(_BURN_IN + _DRAWS * _THIN):
        drawn = (spreads + _WORTH * common) / rng.chisquare(free + _WORTH)
        found = sampler.step(drawn / pulls)
        if step >= _BURN_IN and (step - _BURN_IN) % _THIN == 0:
            means.append(found)
            variances.append(drawn)
    return np.array(means), np.array(variances)


def _chances(ones: Floats, pulls: Floats, rng: np.random.Generator) -> Floats:
    """Chances of a one, a row per draw: on the scale of the arcsine, where errors are alike."""
    seen = np.arcsin(np.sqrt((ones + 0.375) / (pulls + 0.75)))
    errors = 1 / (4 * pulls + 2)
    sampler = Truths(seen, math.sqrt(float(np.median(errors))), rng)
    steps = [sampler.step(errors) for _ in range(_BURN_IN + _DRAWS * _THIN)]
    return np.asarray(np.sin(np.array(steps[_BURN_IN::_THIN])) ** 2)
