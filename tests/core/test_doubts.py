"""What looks wrong is found, and what is as assumed raises no alarm."""

import numpy as np
import pytest

from paceline.core.arrays import Floats
from paceline.core.doubts import Doubt, find_doubts
from paceline.core.noise import Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise

NORMAL = NormalNoise()
BINARY = BernoulliNoise()
LABELS = ["a", "b", "c", "d", "e"]


def kinds(values: list[Floats], noise: Noise = NORMAL, *, claims: bool = True) -> list[str]:
    return [doubt.kind for doubt in find_doubts(values, noise, claims=claims)]


def normals(rng: np.random.Generator, pulls: int, arms: int = 3) -> list[Floats]:
    return [rng.normal(5.0 + arm, 1.0, pulls) for arm in range(arms)]


# False alarms would be ignored after a while, and then all others too.


def test_normal_values_raise_no_alarm() -> None:
    rng = np.random.default_rng(1)
    for pulls in np.geomspace(8, 3000, 300).astype(int):
        assert kinds(normals(rng, int(pulls), arms=8)) == []


@pytest.mark.parametrize("chance", [0.01, 0.2, 0.98])
def test_zeros_and_ones_raise_no_alarm(chance: float) -> None:
    rng = np.random.default_rng(2)
    for pulls in np.geomspace(10, 5000, 200).astype(int):
        values = [(rng.random(pulls) < chance).astype(float) for _ in range(8)]
        assert kinds(values, BINARY) == []


def test_few_pulls_raise_no_alarm() -> None:
    assert kinds([np.full(7, 2.0), np.full(7, 3.0)]) == []


# Values that never vary.


@pytest.mark.parametrize("noise", [NORMAL, BINARY, BoundedNoise((0.0, 1.0))])
def test_where_no_arm_varies_nothing_was_measured(noise: Noise) -> None:
    (doubt,) = find_doubts([np.zeros(9), np.ones(12), np.ones(12)], noise)
    assert (doubt.kind, doubt.arms, doubt.voids) == ("constant", (0, 1, 2), True)
    assert doubt.text(LABELS) == (
        'in 9 pulls or more, "a", "b" and "c" each gave one value only: no noise was seen. Is the '
        "seed used, and is the right number read?"
    )


def test_one_arm_that_never_varies_is_named_with_its_value() -> None:
    values = [*normals(np.random.default_rng(3), 30), np.full(31, 7.5)]
    (doubt,) = find_doubts(values, NORMAL)
    assert (doubt.arms, doubt.voids) == ((3,), True)
    assert doubt.text(LABELS).startswith('all 31 pulls of "d" gave 7.5: no noise was seen')


def test_between_bounds_an_arm_may_well_never_vary() -> None:
    values = [np.zeros(50), (np.random.default_rng(4).random(50) < 0.5).astype(float)]
    assert kinds(values, BINARY) == []
    assert kinds(values, NORMAL)[:2] == ["constant", "equal"]


def test_no_success_yet_is_no_reason_to_doubt() -> None:
    assert kinds([np.zeros(50)] * 3, BINARY) == []
    (doubt,) = find_doubts([np.zeros(500)] * 3, BINARY)  # but it is said after a while
    assert not doubt.voids
    assert doubt.text(LABELS).startswith(
        'in 500 pulls or more, "a", "b" and "c" gave nothing but 0'
    )
    assert kinds([np.zeros(500)] * 3, NORMAL) == ["constant"]


# Values that depend on when they were taken.


@pytest.mark.parametrize("step", [1.0, -3.0])
def test_a_counter_is_no_measurement(step: float) -> None:
    rng = np.random.default_rng(5)
    pulls = np.arange(12.0)
    late = step * pulls + abs(step) * rng.integers(0, 3, 12)  # pulls that run at once change places
    (doubt,) = find_doubts([step * pulls, late, rng.normal(0, 1, 12)], NORMAL)
    assert (doubt.kind, doubt.arms, doubt.voids) == ("counter", (0, 1), True)
    way = "rise" if step > 0 else "fall"
    assert f'"a" and "b" {way} from pull to pull, from' in doubt.text(LABELS)


def test_a_slight_trend_is_no_counter() -> None:
    rng = np.random.default_rng(6)
    found = find_doubts([rng.normal(0, 1, 200) + 0.01 * np.arange(200) for _ in range(3)], NORMAL)
    assert not any(doubt.voids for doubt in found)


def test_pulls_that_resemble_the_one_before_are_said_so() -> None:
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 1, 300)
    slow = np.zeros(300)
    for place in range(1, 300):
        slow[place] = 0.6 * slow[place - 1] + noise[place]
    (doubt,) = find_doubts([slow, rng.normal(0, 1, 300)], NORMAL)
    assert (doubt.kind, doubt.arms, doubt.voids) == ("dependent", (0,), False)


# Shapes.


@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        ("equal", lambda rng: rng.choice([0.0, 0.5, 1.0, 2.0], 60)),
        ("equal", lambda rng: np.round(rng.normal(0, 1, 60))),
        ("outlier", lambda rng: np.r_[rng.normal(0, 1, 11), -1e20]),
        ("skewed", lambda rng: rng.lognormal(0, 1, 200)),
        ("skewed", lambda rng: -rng.exponential(1, 200)),
        ("heavy-tailed", lambda rng: np.r_[rng.normal(0, 1, 400), [15.0, -15.0, 12.0, -12.0]]),
    ],
)
def test_a_shape_that_is_not_normal_is_said_with_what_to_declare(kind: str, draw: object) -> None:
    rng = np.random.default_rng(8)
    odd = draw(rng)  # type: ignore[operator]
    found = find_doubts([rng.normal(0, 1, odd.size), odd], NORMAL)
    doubt = next(one for one in found if one.kind == kind)
    assert doubt.arms == (1,)
    assert not doubt.voids
    assert "bounds=" in doubt.text(LABELS)
    assert "\n" not in doubt.text(LABELS)
    # Where nothing is claimed, or nothing of the kind is assumed, it does not matter.
    assert (kind in kinds([odd, odd], NORMAL, claims=False)) == (kind == "outlier")
    assert kind not in kinds([odd, odd], SubgaussianNoise(sigma=1.0))


def test_counts_and_shares_of_few_things_may_have_twins() -> None:
    rng = np.random.default_rng(13)
    for pulls in np.geomspace(20, 1000, 60).astype(int):
        assert "equal" not in kinds([rng.poisson(30.0, pulls) * 1.0 for _ in range(8)])
        assert "equal" not in kinds([rng.binomial(200, 0.8, pulls) / 200 for _ in range(8)])
        assert "equal" not in kinds([np.round(rng.normal(0.5, 0.05, pulls), 2) for _ in range(8)])


@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_rounded_values_may_have_twins(decimals: int) -> None:
    rng = np.random.default_rng(10)
    assert kinds([np.round(rng.normal(0, 1, 3000), decimals) for _ in range(3)]) == []
    assert kinds([np.rint(rng.normal(100, 10, 3000)) for _ in range(3)]) == []


@pytest.mark.parametrize(
    ("factor", "shift"), [(1e-170, 0.0), (1e200, 0.0), (5e307, 0.0), (1.0, 1e15)]
)
def test_noise_that_floats_cannot_hold_is_no_evidence(factor: float, shift: float) -> None:
    rng = np.random.default_rng(11)
    (doubt,) = find_doubts([shift + factor * rng.uniform(-1, 1, 30) for _ in range(2)], NORMAL)
    assert (doubt.kind, doubt.arms, doubt.voids) == ("scale", (0, 1), True)


@pytest.mark.parametrize(("factor", "shift"), [(1e-140, 0.0), (1e150, 0.0), (1.0, 1e12)])
def test_large_and_small_values_are_no_trouble(factor: float, shift: float) -> None:
    rng = np.random.default_rng(12)
    assert kinds([shift + factor * rng.normal(0, 1, 30) for _ in range(2)]) == []


def test_scores_near_their_bounds_are_said_so() -> None:
    rng = np.random.default_rng(9)
    near, far = rng.beta(8, 2, 60), rng.normal(0.5, 0.02, 60)
    (doubt,) = find_doubts([far, near], NORMAL)
    assert (doubt.kind, doubt.arms) == ("bound", (1,))
    assert "bounds=(0, 1)" in doubt.text(LABELS)
    assert kinds([far, far]) == []


def test_of_many_arms_a_few_are_named() -> None:
    doubt = Doubt("equal", (0, 1, 2, 3, 4), "{arms} look odd", "look again")
    assert doubt.text(LABELS) == '"a", "b", "c" and 2 more look odd: look again'
