import numpy as np
import pytest

from paceline.core.evidence.differences import Differences, loudest, noisiest
from paceline.core.rounds import Results


def cell(arms: list[int], values: np.ndarray) -> Results:
    nothing = np.zeros(len(arms))
    return Results(
        np.array(arms), np.full(len(arms), values.shape[1]), nothing, nothing, values=values
    )


def test_variances_of_differences_are_pooled_over_cells() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(3, 5)), rng.normal(size=(3, 7))
    seen = Differences(4)
    seen.add(cell([0, 1, 3], first))
    seen.add(cell([0, 1, 3], second + 100.0))  # around the means of each cell
    apart = [one[0] - one[2] for one in (first, second)]
    expected = sum(((one - one.mean()) ** 2).sum() for one in apart) / (4 + 6)
    assert seen.free == 10
    assert seen.variances(np.array([0, 3]))[0, 1] == pytest.approx(expected)


def test_the_noisiest_pair_is_found_or_bounded() -> None:
    values = np.random.default_rng(1).normal(size=(6, 9))
    exact = max((values[i] - values[j]).var(ddof=1) for i in range(6) for j in range(i))
    assert noisiest(values, few=6) == pytest.approx(exact)
    assert noisiest(values, few=5) >= exact


def test_a_similar_arm_may_speak_louder_than_the_leader() -> None:
    means = np.array([1.0, 0.9, 0.5])
    noise = np.array([[0.0, 0.01, 4.0], [0.01, 0.0, 0.01], [4.0, 0.01, 0.0]])
    assert loudest(means, noise, free=10_000).index.tolist() == [2, 0, 1]
    alike = np.where(np.eye(3) > 0, 0.0, 1.0)
    assert loudest(means, alike, free=10_000).index.tolist() == [1, 0, 0]
