import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import InvalidInput, PowerLaw
from paceline.theory import (
    bottleneck,
    hardness,
    stage_count,
    stage_unit,
    stages_to_combine,
    success_bound,
)
from paceline.theory.deadline import Rule


@given(arms=st.integers(2, 10**6), k=st.integers(1, 20))
def test_the_stages_leave_one_arm_and_no_fewer_would(arms: int, k: int) -> None:
    stages = stage_count(arms, k)
    assert (2**k) ** stages >= arms
    assert (2**k) ** (stages - 1) < arms


def test_x_is_equation_9_without_its_floor() -> None:
    scaling = PowerLaw(0.5)
    for n, k, deadline in [(1024, 2, 500.0), (100, 3, 40.0), (5, 1, 7.0)]:
        stages = math.ceil(math.log(n, 2**k) - 1e-12)
        paper = (deadline / stages) ** 2 / (2 ** (k * stages) * (2**k - 1))
        assert stage_unit(n, k, deadline, scaling) == pytest.approx(paper)


@pytest.mark.parametrize(
    ("q", "deadline", "k"), [(0.1, 5.0, 10), (0.25, 28.0, 5), (0.5, 500.0, 2), (0.9, 5e4, 1)]
)
def test_more_stages_are_combined_where_the_scaling_is_poor(
    q: float, deadline: float, k: int
) -> None:
    assert stages_to_combine(1024, deadline, PowerLaw(q)) == k


def test_the_floor_of_equation_9_misleads_when_time_is_short() -> None:
    # The trap: every floored x(k) is 0 here, and the argmax falls to k = 1.
    scaling = PowerLaw(0.25)
    assert stages_to_combine(1024, 20.0, scaling, rule="literal") == 1
    assert stages_to_combine(1024, 20.0, scaling) == 5


def test_x_misleads_when_n_is_no_power_of_two() -> None:
    # The trap: the bottleneck says which k pulls the arms more.
    scaling = PowerLaw(0.5)
    chosen = stages_to_combine(100, 60.0, scaling)
    better = stages_to_combine(100, 60.0, scaling, rule="bottleneck")
    assert chosen != better
    assert bottleneck(100, better, 60.0, scaling) > bottleneck(100, chosen, 60.0, scaling)


@given(
    arms=st.integers(2, 5000),
    q=st.floats(0.1, 1.0),
    stretch=st.floats(1.0, 50.0),
    rule=st.sampled_from(["unfloored", "bottleneck"]),
)
def test_a_k_that_pulls_every_arm_is_found_if_there_is_one(
    arms: int, q: float, stretch: float, rule: Rule
) -> None:
    scaling = PowerLaw(q)
    deadline = scaling.seconds(float(arms)) * stretch
    k = stages_to_combine(arms, deadline, scaling, rule=rule)
    assert bottleneck(arms, k, deadline, scaling) > 0


def test_hardness_is_the_largest_rank_over_squared_gap() -> None:
    assert hardness([0.5, 0.1, 0.1]) == pytest.approx(max(2 / 0.01, 3 / 0.01, 4 / 0.25))


def test_theorem_3_as_printed() -> None:
    scaling, gaps = PowerLaw(0.5), [0.3, 0.5, 0.6]
    for k in (1, 2):
        units = math.floor(stage_unit(4, k, 60.0, scaling) + 1e-9)
        paper = 1 - 3 * 2 * math.exp(-4 * units / (8 * hardness(gaps)))
        assert success_bound(gaps, 60.0, scaling, k=k) == pytest.approx(max(paper, 0))


def test_the_scale_of_the_rewards_enters_theorem_3_through_its_exponent() -> None:
    scaling, gaps = PowerLaw(0.5), [0.3, 0.5, 0.6]

    def exponent(sigma: float | None) -> float:
        return -math.log((1 - success_bound(gaps, 47.0, scaling, sigma=sigma)) / 6)

    assert exponent(0.5) == pytest.approx(2 * exponent(None))
    assert exponent(1.0) == pytest.approx(0.5 * exponent(None))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: stages_to_combine(1, 1.0, PowerLaw(0.5)), "at least 2"),
        (lambda: stages_to_combine(8, 0.0, PowerLaw(0.5)), "above 0"),
        (lambda: stages_to_combine(8, 1.0, PowerLaw(0.5), rule="best"), "unknown rule"),  # type: ignore[arg-type]
        (
            lambda: success_bound([0.1, 0.2], 9.0, PowerLaw(0.5), k=3),
            "3 of them cannot be combined",
        ),
        (lambda: hardness([0.0, 0.1]), "unique"),
    ],
)
def test_bad_input_is_refused(call: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        call()  # type: ignore[operator]


def test_endless_pulls_are_no_error() -> None:
    poor = PowerLaw(0.02)
    assert success_bound([0.1, 0.2], 2e6, poor) == 1.0
    assert stages_to_combine(100, 1e40, poor, rule="literal") >= 1


def test_a_k_that_cuts_blindly_is_passed_over_unless_asked_for() -> None:
    scaling = PowerLaw(0.9)
    assert bottleneck(1024, 1, 5000.0, scaling) == 0
    assert stages_to_combine(1024, 5000.0, scaling) == 2
    assert stages_to_combine(1024, 5000.0, scaling, blind=True) == 1
