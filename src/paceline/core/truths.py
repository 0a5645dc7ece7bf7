"""True means, drawn to fit those that were observed.

Noise spreads observed means further than the true ones. So the spread of the true ones is learned:
they are taken as normal around a common centre, with one of several scales for each arm, as many
arms may be alike and a few far off. The share of each scale is unknown, and so is the centre; Gibbs
sampling draws them all.
"""

import numpy as np

from paceline.core.arrays import Floats

_SCALES = 10
_NARROWEST = 0.5  # of the scales, in standard errors of a typical arm
_SHARE = 0.5  # what each scale counts for before anything is seen, in arms


class Truths:
    """Draws of the true means, one after the other, given those `seen`.

    `error` is the standard error of a typical one of them.

    >>> truths = Truths(np.array([0.0, 0.1, 5.0]), 0.1, np.random.default_rng(0))
    >>> truths.step(np.full(3, 0.01)).round().tolist()
    [0.0, 0.0, 5.0]
    """

    def __init__(self, seen: Floats, error: float, rng: np.random.Generator) -> None:
        self.seen = seen
        self.rng = rng
        self.centre = float(np.median(seen))
        widest = max(2.0 * float(np.ptp(seen)), 2 * error)
        self.scales = np.geomspace(_NARROWEST * error, widest, _SCALES) ** 2
        # Nearly flat in the gap of two arms: wide scales are likelier beforehand than narrow ones.
        self.prior = _SHARE * _SCALES * self.scales / self.scales.sum()
        self.shares = np.full(_SCALES, 1 / _SCALES)

    def step(self, errors: Floats) -> Floats:
        """The next draw of all means; `errors` are the squared errors of those seen."""
        rng, total = self.rng, errors[:, None] + self.scales
        chances = np.log(self.shares) - 0.5 * (
            np.log(total) + (self.seen - self.centre)[:, None] ** 2 / total
        )
        chances = np.exp(chances - chances.max(axis=1, keepdims=True)).cumsum(axis=1)
        chosen = (rng.random((errors.size, 1)) * chances[:, -1:] > chances).sum(axis=1)
        scale = self.scales[np.minimum(chosen, _SCALES - 1)]
        variance = 1 / (1 / errors + 1 / scale)
        mean = variance * (self.seen / errors + self.centre / scale)
        means = mean + np.sqrt(variance) * rng.standard_normal(errors.size)
        # The centre, given the means and their scales, nearly any being as likely beforehand.
        weight = float((1 / scale).sum())
        self.centre = float((means / scale).sum()) / weight + rng.standard_normal() / weight**0.5
        counts = np.bincount(chosen, minlength=_SCALES)
        self.shares = np.maximum(rng.dirichlet(counts + self.prior), 1e-12)
        return np.asarray(means)
