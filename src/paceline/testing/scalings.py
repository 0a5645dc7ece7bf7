"""The laws of scalings."""

import pickle
from copy import deepcopy
from typing import ClassVar

import numpy as np
import pytest

from paceline.core.arrays import Floats
from paceline.core.assumptions import check_assumptions
from paceline.core.scaling import Scaling

_POINTS = 500
_CLOSE = 1e-9


class ScalingContract:
    """Every scaling keeps these laws. Say which one to test.

    ```python
    class TestLogarithmic(ScalingContract):
        scaling = Logarithmic(unit_seconds=2.0)
    ```

    λ must rise from 0 without bound. Two rounds should never be faster than one of both, but some
    machines are different: if λ is, say `subadditive = False`.
    """

    scaling: ClassVar[Scaling]
    subadditive: ClassVar[bool] = True
    most_pulls: ClassVar[float] = 1e9  # it is tested up to these
    longest_seconds: ClassVar[float] = 1e6

    def some_pulls(self) -> Floats:
        """Numbers of pulls of all magnitudes."""
        return np.exp(np.random.default_rng(0).uniform(0.0, np.log(self.most_pulls), _POINTS))

    def some_seconds(self) -> Floats:
        """Times of all magnitudes."""
        ends = np.log(1e-6), np.log(self.longest_seconds)
        return np.exp(np.random.default_rng(1).uniform(*ends, _POINTS))

    def test_it_rises_from_zero_without_bound(self) -> None:
        """More pulls take more time, or the same."""
        assert self.scaling.seconds(0.0) == 0.0
        assert self.scaling.pulls(0.0) == 0.0
        found = check_assumptions(self.scaling, self.most_pulls)
        assert found.rising is None, found.rising
        assert found.unbounded is None, found.unbounded

    def test_it_is_subadditive_or_says_that_it_is_not(self) -> None:
        """Two rounds are never faster than one that has both."""
        found = check_assumptions(self.scaling, self.most_pulls).subadditive
        assert (found is None) == self.subadditive, found

    def test_the_inverse_gives_back_the_pulls(self) -> None:
        """Or more, if more take the same time."""
        pulls = self.some_pulls()
        seconds = self.scaling.seconds(pulls)
        back = self.scaling.pulls(seconds * (1 + 1e-12))
        assert (back >= pulls * (1 - _CLOSE)).all()
        assert self.scaling.seconds(back) == pytest.approx(seconds, rel=_CLOSE)

    def test_the_inverse_is_the_largest_that_fits(self) -> None:
        """That many pulls are done in time, and slightly more are not."""
        seconds = self.some_seconds()
        most = self.scaling.pulls(seconds)
        assert (self.scaling.seconds(most) <= seconds * (1 + _CLOSE)).all()
        more = self.scaling.seconds(most * (1 + 1e-6) + 1e-6)
        assert (more >= seconds * (1 - _CLOSE)).all()

    def test_whole_numbers_come_back_whole(self) -> None:
        """In floating point λ⁻¹(λ(n)) is often just below n: `whole_pulls` corrects that."""
        for n in range(1, 300):
            seconds = self.scaling.seconds(float(n))
            count = self.scaling.whole_pulls(seconds)
            assert count >= n
            assert self.scaling.seconds(float(count)) == pytest.approx(seconds, rel=_CLOSE)

    def test_arrays_and_numbers_agree(self) -> None:
        """To the last bit: a plan made with arrays is carried out with numbers."""
        pulls: Floats = np.r_[0.0, 0.5, 1.0, 7.0, self.some_pulls()[:50]]
        seconds = self.scaling.seconds(pulls)
        assert seconds.tolist() == [self.scaling.seconds(float(m)) for m in pulls]
        assert self.scaling.pulls(seconds).tolist() == [
            self.scaling.pulls(float(t)) for t in seconds
        ]

    def test_it_compares_by_value(self) -> None:
        """So that plans made for it can be cached."""
        same = deepcopy(self.scaling)
        assert same == self.scaling
        assert hash(same) == hash(self.scaling)
        assert self.scaling != 2.0 * self.scaling

    def test_it_survives_pickling(self) -> None:
        """So that races can be simulated in several processes."""
        same = pickle.loads(pickle.dumps(self.scaling))
        pulls = self.some_pulls()
        assert same.seconds(pulls).tolist() == self.scaling.seconds(pulls).tolist()
        assert same == self.scaling
