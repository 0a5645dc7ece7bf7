import numpy as np
import pytest

from paceline import CorePool, PowerLaw, Scaling, simulate
from paceline.core.arrays import Floats
from paceline.core.evidence.boundary import DEPTHS, boundary
from paceline.policies import rollout
from paceline.policies.racing import Racing
from paceline.policies.rollout import Position, first_look, next_look, representatives

LOOKS = tuple(
    zip(
        DEPTHS[: rollout.FIRST_HORIZON].tolist(),
        boundary(0.1).up_to(rollout.FIRST_HORIZON).tolist(),
        strict=True,
    )
)


@pytest.mark.parametrize("arms", [2, 9, 64, 1000])
def test_the_poorer_the_scaling_the_longer_the_first_round(arms: int) -> None:
    """A long round costs little more where many pulls at once take little more time."""
    looks = [first_look(arms, 1, PowerLaw(q), LOOKS) for q in (0.9, 0.5, 0.1)]
    assert looks == sorted(looks)
    assert looks[0] < looks[-1] - 2


def test_without_any_gain_from_waiting_the_first_round_is_short() -> None:
    """At q = 1 pulls cost the same one by one, so a longer round only delays what it shows."""
    assert first_look(16, 1, PowerLaw(1.0), LOOKS) <= 1


def test_the_first_round_ends_where_the_race_does_at_the_latest() -> None:
    """Whatever the scaling: beyond it there is nothing to see."""
    ends = (*LOOKS[:6], (100.0, -np.inf))
    for q in (0.1, 0.5, 0.9):
        assert first_look(16, 1, PowerLaw(q), ends) <= 6
    assert first_look(16, 1, PowerLaw(0.1), ends) == 6


def the_next(
    scaling: Scaling, elapsed: float, *, arms: int, depth: int, seed: int, times: int
) -> tuple[int, Floats]:
    """The look that is chosen, and what a round up to each look would take.

    The arms are so close that in some world the race goes on beyond the last look.
    """
    rng = np.random.default_rng(seed)
    ahead = DEPTHS[depth < DEPTHS][: rollout.HORIZON]
    look = next_look(
        Position(
            rng.normal(0.5, 1e-4, arms),
            np.full(arms, 0.25),
            np.full(arms, depth),
            np.zeros(arms),
            depth,
            ahead,
            boundary(0.1).up_to(60)[np.searchsorted(DEPTHS, ahead)],
        ),
        top=1,
        scaling=scaling,
        elapsed=elapsed,
        leader_pulls=times,
    )
    return look, scaling.seconds((arms - 1 + times) * (ahead - depth).astype(np.float64))


POOL = CorePool(8, lambda cores: 3.0 / cores**0.7)


@pytest.mark.parametrize("scaling", [PowerLaw(0.1), PowerLaw(0.5), PowerLaw(1.0), POOL], ids=repr)
@pytest.mark.parametrize("arms", [2, 9, 200, 5000])
def test_a_round_takes_a_tenth_to_four_times_the_time_that_has_passed(
    scaling: Scaling, arms: int
) -> None:
    times = round((arms - 1) ** 0.5)
    seen = set()
    for seed in range(3):
        for depth in DEPTHS[[0, 7, 16]].tolist():
            for share in (0.01, 0.3, 1.0, 10.0, 1e4):
                elapsed = share * scaling.seconds(float(arms * depth))
                look, seconds = the_next(
                    scaling, elapsed, arms=arms, depth=depth, seed=seed, times=times
                )
                able = np.flatnonzero((seconds >= 0.1 * elapsed) & (seconds <= 4 * elapsed))
                seen.add(able.size > 0)
                if able.size:
                    assert 0.1 * elapsed <= seconds[look] <= 4 * elapsed
                elif seconds[0] > 4 * elapsed:
                    assert look == 0  # the next look is far already
                elif seconds[-1] < 0.1 * elapsed:
                    assert look == seconds.size - 1  # and the last one is near
    assert True in seen


@pytest.mark.parametrize("arms", [1, 15, 16, 63, 64, 65, 66, 100, 5000, 10**6])
@pytest.mark.parametrize("most", [63, 64])
def test_some_arms_stand_for_all(arms: int, most: int) -> None:
    weights = representatives(arms, most)
    assert weights.sum() == arms
    assert weights.size == min(arms, most)
    assert (weights >= 1).all()
    assert (weights[:16] == 1).all()  # those in front stand for themselves


def test_with_many_arms_it_matters_how_many_there_are() -> None:
    """The representatives of 5,000 cost what 5,000 do: as 64 they would go on far longer."""
    scaling = PowerLaw(0.5)
    elapsed = scaling.seconds(64.0 * 140)
    few, _ = the_next(scaling, elapsed, arms=64, depth=140, seed=0, times=1)
    many, seconds = the_next(scaling, elapsed, arms=5000, depth=140, seed=0, times=1)
    assert many < few
    assert seconds[many] <= 4 * elapsed or many == 0


@pytest.mark.parametrize("variance", [0.0, 1e-12, 1e12])
def test_arms_that_tie_or_do_not_vary_can_be_planned_for(variance: float) -> None:
    look = next_look(
        Position(
            np.full(5, 0.5),
            np.full(5, variance),
            np.full(5, 8),
            np.zeros(5),
            8,
            DEPTHS[1:23],
            boundary(0.1).up_to(23)[1:],
        ),
        top=1,
        scaling=PowerLaw(0.5),
        elapsed=0.0,
        leader_pulls=2,
    )
    assert 0 <= look < 22


def test_the_surer_the_world_the_shorter_the_round() -> None:
    """Arms far apart fall at the next look; ties need many more pulls."""
    looks = [
        next_look(
            Position(
                np.r_[0.5, np.full(4, 0.5 - gap)],
                np.full(5, 0.25),
                np.full(5, 140),
                np.zeros(5),
                140,
                DEPTHS[8:30],
                boundary(0.1).up_to(30)[8:],
            ),
            top=1,
            scaling=PowerLaw(0.1),
            elapsed=0.0,
            leader_pulls=2,
        )
        for gap in (0.5, 0.05, 0.005)
    ]
    assert looks == sorted(looks)
    assert looks[0] < looks[-1]


def test_a_pool_of_whole_cores_will_do() -> None:
    result = simulate([0.9, 0.7, 0.5, 0.4], Racing(), POOL, confidence=0.99, replications=5)
    assert result.correct.all()
    looks = [first_look(9, 1, pool, LOOKS) for pool in (POOL, CorePool(1, {1: 1.0}))]
    assert looks[0] >= looks[1]  # one core gains nothing from many pulls at once
