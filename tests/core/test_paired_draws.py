import numpy as np
import pytest
from scipy import stats

from paceline import Bernoulli, Distributions, InvalidInput, Normal, Problem
from paceline.core.arrays import Floats, Ints


class Own(Problem):
    """A problem of a user's, which only says how sums are drawn."""

    def __init__(self) -> None:
        self.arms, self.means, self.sigma = 2, np.array([0.0, 1.0]), 1.0

    def draw(
        self, arms: Ints, pulls: Ints, first: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        assert self.means is not None
        sums = pulls * self.means[arms] + 0.0 * first + rng.normal(0.0, 0.1, arms.size)
        return sums, sums**2


@pytest.mark.parametrize(
    "problem",
    [
        Bernoulli([0.2, 0.8]),
        Normal([0.2, 0.8], sigma=0.5, common=0.5),
        Distributions([stats.uniform(0, 0.4), stats.uniform(0.6, 0.4)]),
        Own(),
    ],
    ids=["bernoulli", "normal", "distributions", "own"],
)
def test_every_problem_gives_single_rewards_with_its_means(problem: Problem) -> None:
    rows = problem.draw_each(np.array([0, 1]), 4000, 0, np.random.default_rng(1))
    assert rows.shape == (2, 4000)
    assert problem.means is not None
    assert rows.mean(axis=1) == pytest.approx(problem.means, abs=0.05)


@pytest.mark.parametrize("common", [0.0, 0.5, 0.9])
def test_a_share_of_the_variance_is_common_to_pulls_with_one_seed(common: float) -> None:
    problem = Normal([0.0, 0.0], sigma=2.0, common=common)
    rows = problem.draw_each(np.array([0, 1]), 20_000, 0, np.random.default_rng(2))
    assert np.asarray(np.corrcoef(rows))[0, 1] == pytest.approx(common, abs=0.03)
    assert rows.std() == pytest.approx(2.0, rel=0.03)


def test_a_share_lies_between_0_and_1() -> None:
    with pytest.raises(InvalidInput, match="common"):
        Normal([0.0, 1.0], common=1.5)
