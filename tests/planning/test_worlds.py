import numpy as np
import pytest

from paceline.planning.beliefs import assume
from paceline.planning.worlds import World
from paceline.testing import ProblemContract

KNOWN = [np.array([1.0, 2.0, 3.0]), np.array([5.0])]


class TestWorld(ProblemContract):
    problem = World([0.5, 0.2, 0.1], [1.0, 2.0, 0.5], common=0.5)


class TestZerosAndOnes(ProblemContract):
    problem = World([0.5, 0.2, 0.1])


def test_known_values_come_first_then_drawn_ones() -> None:
    world = World([100.0, 200.0], [0.1, 0.1], known=KNOWN)
    rng, arms = np.random.default_rng(0), np.array([0, 1])
    none, two = np.zeros(2, dtype=np.int64), np.full(2, 2)
    sums, squares = world.draw(arms, two, none, rng)
    assert sums[0] == 3.0
    assert sums[1] == pytest.approx(205, abs=1)
    assert squares[0] == 5.0
    sums, _ = world.draw(arms, two, two, rng)
    assert sums == pytest.approx([103.0, 400.0], abs=1)
    each = world.draw_each(arms, 4, 0, rng)
    assert each[0, :3].tolist() == [1.0, 2.0, 3.0]
    assert each[1, 0] == 5.0
    assert each[:, 3] == pytest.approx([100, 200], abs=1)
    assert each[1, 1:] == pytest.approx(200, abs=1)


def test_what_arms_share_drops_out_of_their_differences() -> None:
    world = World([0.0, 0.0], [1.0, 1.0], common=10.0)
    values = world.draw_each(np.array([0, 1]), 4000, 0, np.random.default_rng(1))
    assert values.std() == pytest.approx(np.sqrt(101), rel=0.1)
    assert (values[0] - values[1]).std() == pytest.approx(np.sqrt(2), rel=0.1)


def test_sums_stay_between_the_limits() -> None:
    world = World([0.99, 0.01], [0.5, 0.5], limits=(0.0, 1.0))
    arms, pulls = np.array([0, 1]), np.full(2, 3)
    for seed in range(50):
        sums, _ = world.draw(arms, pulls, pulls, np.random.default_rng(seed))
        assert ((sums >= 0) & (sums <= 3)).all()


def test_beliefs_say_what_they_are() -> None:
    assert assume(4, gap=0.1).describe() == "one arm ahead of 3 others by 0.1; values 0 and 1"
    assert assume(4, means="linear").is_certain
    uniform = assume(4, means="uniform", sigma=2.0)
    assert not uniform.is_certain
    one, other = (uniform.draw(np.random.default_rng(seed)).means for seed in (0, 1))
    assert one is not None
    assert other is not None
    assert (one != other).all()
