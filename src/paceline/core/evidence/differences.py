"""How much the differences of arms vary that share their seeds, pair by pair."""

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.opponents import Rival
from paceline.core.rounds import Results

_WORTH = 4.0  # values that what an arm's differences have in common counts for
_TINY = 1e-300


class Differences:
    """Products of the values of any two arms, around their means in each cell.

    >>> values = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> seen = Differences(3)
    >>> zeros = np.zeros(3)
    >>> seen.add(Results(np.arange(3), np.full(3, 3), zeros, zeros, values=values))
    >>> seen.variances(np.arange(3)).tolist()
    [[0.0, 0.0, 4.0], [0.0, 0.0, 4.0], [4.0, 4.0, 0.0]]
    """

    def __init__(self, arms: int) -> None:
        self.free = 0  # degrees of freedom
        self._products = np.zeros((arms, arms))

    def add(self, cell: Results) -> None:
        """Take in a cell of the arms alive."""
        assert cell.values is not None
        rest = _rest(cell.values)
        self._products[np.ix_(cell.arms, cell.arms)] += rest @ rest.T
        self.free += rest.shape[1] - 1

    def variances(self, arms: Ints) -> Floats:
        """Of the differences of any two of these arms, all alive."""
        return _of_differences(self._products[np.ix_(arms, arms)]) / max(self.free, 1)


def noisiest(values: Floats, few: int) -> float:
    """The largest variance of a difference of two arms, or no less; a row of values per arm.

    >>> noisiest(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]), few=2)
    4.0
    """
    rest = _rest(values)
    free = rest.shape[1] - 1
    if len(rest) <= few:
        return float(_of_differences(rest @ rest.T).max() / free)
    # No more than if what is left of the noisiest two were opposite.
    own = np.sort((rest**2).sum(axis=1))
    return float((own[-1] ** 0.5 + own[-2] ** 0.5) ** 2 / free)


def loudest(means: Floats, variances: Floats, free: int) -> Rival:
    """For each arm, the other that is furthest above it, in standard deviations of the difference.

    A variance seen in few values is drawn towards the arm's typical one.
    """
    typical = np.median(variances, axis=1, keepdims=True)
    noise = (free * variances + _WORTH * typical) / (free + _WORTH)
    loudness = (means - means[:, None]) / np.sqrt(np.maximum(noise, _TINY))
    np.fill_diagonal(loudness, -np.inf)
    return Rival(np.argmax(loudness, axis=1))


def _rest(values: Floats) -> Floats:
    rest = values - values.mean(axis=1, keepdims=True)
    return np.asarray(rest - rest.mean(axis=0))  # differences stay as they are, only smaller


def _of_differences(products: Floats) -> Floats:
    own = np.diag(products)
    return np.asarray(np.maximum(own[:, None] + own - 2 * products, 0.0))
