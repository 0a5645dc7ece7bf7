import numpy as np
import pytest

from paceline.core.rounds import Results
from paceline.core.tally import Tally


def test_means_and_variances_are_those_of_the_pulls() -> None:
    rewards = [np.array([1.0, 2.0, 4.0]), np.array([5.0])]
    tally = Tally.empty(3)
    tally.add(
        Results(
            np.array([0, 2]),
            np.array([3, 1]),
            np.array([r.sum() for r in rewards]),
            np.array([(r**2).sum() for r in rewards]),
        )
    )
    arms = np.arange(3)
    assert tally.means(arms).tolist() == [pytest.approx(7 / 3), -np.inf, 5.0]
    variances = tally.variances(arms)
    assert variances[0] == pytest.approx(rewards[0].var(ddof=1))
    assert np.isnan(variances[1:]).all()
