import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import Amdahl, CorePool, InvalidInput, Measured, PowerLaw, Scaling
from paceline.theory import oracle_schedule, oracle_seconds, schedule_seconds


def as_printed(z: list[float], scaling: Scaling) -> float:
    """Equation 4 of the paper, word by word; z holds z_2 … z_n."""
    padded = [*sorted(z, reverse=True), 0.0]  # z_{n+1} = 0
    n = len(z) + 1
    least = {n + 1: 0.0}
    for j in range(n, 1, -1):
        least[j] = min(
            scaling.seconds(k * (padded[j - 2] - padded[k - 1])) + least[k + 1]
            for k in range(j, n + 1)
        )
    return least[2]


measured = st.builds(
    lambda slopes, gaps: Measured(
        np.cumsum(gaps), np.cumsum(np.sort(slopes)[::-1] * np.array(gaps))
    ),
    st.lists(st.floats(0.01, 10.0), min_size=4, max_size=4),
    st.lists(st.floats(0.5, 40.0), min_size=4, max_size=4),
)
scalings = st.one_of(
    st.builds(PowerLaw, st.floats(0.05, 1.0)),
    st.builds(Amdahl, st.floats(0.0, 0.9)),
    measured,
)


@given(z=st.lists(st.floats(0.0, 500.0), min_size=1, max_size=12), scaling=scalings)
def test_it_is_the_program_of_the_paper(z: list[float], scaling: Scaling) -> None:
    assert oracle_seconds(z, scaling) == pytest.approx(as_printed(z, scaling), rel=1e-9, abs=1e-12)


@given(z=st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_also_on_a_pool_of_whole_cores(z: list[int]) -> None:
    pool = CorePool(6, lambda cores: cores**-0.6)
    assert oracle_seconds(z, pool) == pytest.approx(as_printed([float(v) for v in z], pool))


@given(z=st.lists(st.floats(0.1, 500.0), min_size=1, max_size=30), scaling=scalings)
def test_the_schedule_attains_the_time_and_drops_every_arm(
    z: list[float], scaling: Scaling
) -> None:
    stages = oracle_schedule(z, scaling)
    assert stages[0].survivors == len(z) + 1
    assert sum(stage.eliminated for stage in stages) == len(z)
    assert sum(stage.pulls for stage in stages) == pytest.approx(max(z))
    alive = len(z) + 1
    for stage in stages:
        assert stage.survivors == alive
        assert stage.seconds == pytest.approx(scaling.seconds(alive * stage.pulls))
        alive -= stage.eliminated
    assert schedule_seconds(stages) == pytest.approx(oracle_seconds(z, scaling))


@settings(max_examples=60)
@given(
    z=st.lists(st.floats(0.01, 1e4), min_size=20, max_size=60),
    scaling=scalings,
    levels=st.integers(4, 15),
)
def test_rounding_costs_at_most_the_factor_it_promises(
    z: list[float], scaling: Scaling, levels: int
) -> None:
    exact = oracle_seconds(z, scaling)
    rounded = oracle_seconds(z, scaling, levels=levels)
    factor = math.exp(math.log(max(z) / min(z)) / (levels - 1))
    assert exact * (1 - 1e-9) <= rounded <= exact * factor * (1 + 1e-9)


def test_a_monotone_shortcut_would_be_wrong_for_a_piecewise_linear_scaling() -> None:
    """The choice of how many arms fall together is not monotone; a deque that says so errs."""

    def monotone(z: list[float], scaling: Scaling) -> float:
        padded = [*sorted(z, reverse=True), 0.0]
        n = len(z) + 1
        least, last = {n + 1: 0.0}, n
        for j in range(n, 1, -1):
            options = {
                k: scaling.seconds(k * (padded[j - 2] - padded[k - 1])) + least[k + 1]
                for k in range(j, last + 1)
            }
            last = min(options, key=lambda k: options[k])
            least[j] = options[last]
        return least[2]

    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        knots = np.cumsum(rng.uniform(1, 60, 3))
        slopes = np.sort(rng.exponential(1, 3))[::-1]
        scaling = Measured(knots, np.cumsum(slopes * np.diff(np.r_[0, knots])))
        z = rng.uniform(1, 100, 6).tolist()
        assert oracle_seconds(z, scaling) == pytest.approx(as_printed(z, scaling))
        wrong += monotone(z, scaling) > oracle_seconds(z, scaling) * 1.001
    assert wrong > 0


def test_the_examples_of_the_paper() -> None:
    root = PowerLaw(0.5)
    assert oracle_seconds([32], root) == 8.0
    assert oracle_seconds([300, 5], root) == pytest.approx(28.16, abs=0.005)
    assert oracle_seconds([300, 100], root) == pytest.approx(30.0)
    # What dropping the third arm first would take in the last one.
    assert root.seconds(300) + root.seconds(400) == pytest.approx(37.32, abs=0.005)


@pytest.mark.parametrize(
    ("z", "says"), [([], "empty"), ([-1.0], "at least 0"), ([math.nan], "finite"), ("x", "numbers")]
)
def test_bad_input_is_refused(z: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        oracle_seconds(z, PowerLaw(0.5))


@pytest.mark.parametrize(
    ("z", "levels"),
    [
        (np.r_[0.0, np.arange(1, 31.0)], 30),
        (1 + np.arange(21) * 2.0**-52, 15),
        (np.array([5e-324, 1.0, 2.0, 3.0, 1e300]), 4),
        (np.geomspace(1, 1e12, 500), 2),
    ],
)
def test_rounding_ends_for_any_values(z: np.ndarray, levels: int) -> None:
    assert oracle_seconds(z, PowerLaw(0.5), levels=levels) > 0


def test_a_rounding_to_one_level_is_refused() -> None:
    with pytest.raises(InvalidInput, match="levels"):
        oracle_seconds([1.0, 2.0], PowerLaw(0.5), levels=1)
