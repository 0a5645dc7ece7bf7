"""The laws of problems."""

import math
from typing import ClassVar

import numpy as np
import pytest

from paceline.core.arrays import Floats
from paceline.core.problem import Problem

_CERTAIN = 5.0  # standard errors: by chance once in a million
_SEED = 7


class ProblemContract:
    """Every problem keeps these laws. Say which one to test.

    ```python
    class TestCoins(ProblemContract):
        problem = Coins([0.2, 0.8])
    ```

    Rewards are drawn and compared with the means and the noise that it declares, by tests that a
    good problem fails once in a million. `times` says how many sums of `pulls` rewards are drawn
    for each arm; choose fewer if they are slow.
    """

    problem: ClassVar[Problem]
    pulls: ClassVar[int] = 20
    times: ClassVar[int] = 4000

    def drawn(self, arm: int) -> tuple[Floats, Floats]:
        """Many sums and sums of squares of one arm, each of `pulls` rewards."""
        rng = np.random.default_rng(1)
        pairs = [
            self.problem.draw(
                np.array([arm]), np.array([self.pulls]), np.array([number * self.pulls]), rng
            )
            for number in range(self.times)
        ]
        return np.array([s[0] for s, _ in pairs]), np.array([q[0] for _, q in pairs])

    def each(self) -> Floats:
        """Many single rewards, a row per arm."""
        arms = np.arange(self.problem.arms)
        rng = np.random.default_rng(2)
        return self.problem.draw_each(arms, min(20_000, self.pulls * self.times), 0, rng)

    def test_it_says_how_many_arms_and_how_noisy(self) -> None:
        """At least two; and one mean for each, if it knows them."""
        assert self.problem.arms >= 2
        assert self.problem.sigma > 0
        assert self.problem.means is None or self.problem.means.shape == (self.problem.arms,)

    def test_sums_have_the_declared_means_and_noise(self) -> None:
        """And their squares fit them."""
        for arm in {0, self.problem.arms - 1}:
            sums, squares = self.drawn(arm)
            means, variances = (
                sums / self.pulls,
                (squares - sums**2 / self.pulls) / (self.pulls - 1),
            )
            assert (variances >= -1e-9 * squares).all(), "squares that are too small for the sums"
            self._check_mean(arm, means)
            self._check_variance(variances)
            # The variance within sums equals that between them.
            between = self.pulls * (means - means.mean()) ** 2
            assert abs(between.mean() - variances.mean()) <= _CERTAIN * _error(between - variances)

    def test_single_rewards_have_the_declared_means_and_noise(self) -> None:
        """Paired races need them."""
        rows = self.each()
        assert rows.shape == (self.problem.arms, rows.shape[1])
        for arm, row in enumerate(rows):
            self._check_mean(arm, row)
            self._check_variance((row - row.mean()) ** 2)
        noise = self.problem.noise
        if noise.limits is not None:
            assert noise.limits[0] <= rows.min() <= rows.max() <= noise.limits[1]
        if noise.kind == "bernoulli":
            assert set(np.unique(rows)) <= {0.0, 1.0}

    def test_of_one_pull_the_square_is_the_square(self) -> None:
        """The sum and the square agree."""
        arms = np.arange(self.problem.arms)
        one, none = np.ones_like(arms), np.zeros_like(arms)
        sums, squares = self.problem.draw(arms, one, none, np.random.default_rng(3))
        assert squares == pytest.approx(sums**2)

    def test_the_same_seed_gives_the_same_draws(self) -> None:
        """A problem has no randomness of its own."""
        arms = np.arange(self.problem.arms)
        few, none = np.full(arms.size, 5), np.zeros_like(arms)

        def draw() -> list[list[float]]:
            rng = np.random.default_rng(_SEED)
            twice = [self.problem.draw(arms, few, none, rng) for _ in range(2)]
            rows = self.problem.draw_each(arms, 4, 10, rng)
            return [*(part.tolist() for pair in twice for part in pair), *rows.tolist()]

        assert draw() == draw()

    def test_a_numbered_draw_depends_on_the_arm_and_the_number_alone(self) -> None:
        """Not on how many are drawn at once, nor on which arm is drawn before."""
        if not self.problem.numbered:
            pytest.skip("its draws have no numbers")
        arms = np.arange(self.problem.arms)
        few, none = np.full(arms.size, 3), np.zeros_like(arms)
        at_once = self.problem.draw(arms, few, none, np.random.default_rng(_SEED))
        rng = np.random.default_rng(_SEED)
        sums, squares = np.zeros(arms.size), np.zeros(arms.size)
        for number in (2, 0, 1):
            for arm in arms[::-1]:
                one = np.array([arm]), np.array([1]), np.array([number])
                more, more_squares = self.problem.draw(*one, rng)
                sums[arm] += more[0]
                squares[arm] += more_squares[0]
        assert sums == pytest.approx(at_once[0])
        assert squares == pytest.approx(at_once[1])
        rows = self.problem.draw_each(arms, 4, 3, np.random.default_rng(_SEED))
        later = self.problem.draw_each(arms[::-1], 2, 5, np.random.default_rng(_SEED))
        assert rows[:, 2:].tolist() == later[::-1].tolist()

    def _check_mean(self, arm: int, values: Floats) -> None:
        if self.problem.means is None:
            return
        apart = abs(values.mean() - self.problem.means[arm])
        assert apart <= _CERTAIN * _error(values) + 1e-12, f"arm {arm} has another mean"

    def _check_variance(self, variances: Floats) -> None:
        """At most σ²; exactly that, if the noise is normal and its scale is declared."""
        most, error = self.problem.sigma**2, _CERTAIN * _error(variances) + 1e-12
        noise = self.problem.noise
        assert variances.mean() <= most + error, "it is noisier than sigma says"
        if noise.shaped and noise.scale is not None:
            assert variances.mean() >= most - error, "it is less noisy than sigma says"


def _error(values: Floats) -> float:
    """The standard error of their mean."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)
