import numpy as np
import pytest

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.opponents import Group, Opponents, Rival, leaders, leading_group

ALLOWED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def members(opponents: Opponents, arms: int) -> list[set[int]]:
    """Whom each arm meets, read off the totals of indicators."""
    met = [np.rint(opponents.total(row)) for row in np.eye(arms)]
    return [{j for j in range(arms) if met[j][arm] == 1} for arm in range(arms)]


def best_of_the_others(means: Floats, arm: int, size: int) -> list[int]:
    order = [int(other) for other in np.argsort(-means, kind="stable") if other != arm]
    return order[:size]


def loudness(arm: int, others: list[int], means: Floats, variances: Floats, pulls: Ints) -> float:
    """How many standard deviations the pooled mean of the others is ahead."""
    weight = pulls[others] / pulls[others].sum()
    noise = variances[arm] / pulls[arm] + (weight**2 * variances[others] / pulls[others]).sum()
    return float((weight @ means[others] - means[arm]) / np.sqrt(noise))


def random_arms(rng: np.random.Generator, arms: int) -> tuple[Floats, Floats, Ints]:
    means = rng.normal(size=arms) * rng.choice([0.01, 1.0])
    pulls = np.full(arms, rng.integers(1, 50))
    pulls[np.argmax(means)] *= rng.integers(1, 9)  # the leader is pulled more often
    return means, rng.uniform(0.1, 3.0, arms), pulls


@pytest.mark.parametrize("shape", [(), (3,)], ids=["one value of each arm", "a row of each arm"])
def test_totals_are_sums_over_explicit_sets(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for arms in (3, 5, 20):
        order = rng.permutation(arms)
        place = np.argsort(order)
        size = rng.integers(1, arms, arms)
        group = Group(order, size, place < size)
        values = rng.normal(size=(arms, *shape))
        total = group.total(values)
        for arm in range(arms):
            met = [other for other in order.tolist() if other != arm][: size[arm]]
            assert total[arm] == pytest.approx(values[met].sum(axis=0))


def test_a_rival_is_one_arm() -> None:
    rival = Rival(np.array([2, 0, 0]))
    assert rival.size.tolist() == [1, 1, 1]
    assert rival.total(np.array([1.0, 2.0, 4.0])).tolist() == [4.0, 1.0, 1.0]
    rows = np.arange(6.0).reshape(3, 2)
    assert rival.total(rows).tolist() == rows[[2, 0, 0]].tolist()


@pytest.mark.parametrize("arms", [3, 4, 7, 30, 64, 65, 66, 90])
def test_a_group_is_the_best_few_of_the_others(arms: int) -> None:
    rng = np.random.default_rng(arms)
    for _ in range(5):
        means, variances, pulls = random_arms(rng, arms)
        group = leading_group(means, variances, pulls)
        for arm, met in enumerate(members(group, arms)):
            assert arm not in met
            assert len(met) == group.size[arm] <= 64
            assert met == set(best_of_the_others(means, arm, len(met)))


@pytest.mark.parametrize("arms", [3, 5, 17, 70])
def test_no_other_size_that_is_allowed_would_speak_louder(arms: int) -> None:
    rng = np.random.default_rng(100 + arms)
    sizes = [size for size in ALLOWED if size < arms]
    seen = set()
    for _ in range(5):
        means, variances, pulls = random_arms(rng, arms)
        group = leading_group(means, variances, pulls)
        for arm in range(arms):
            possible = {
                size: loudness(arm, best_of_the_others(means, arm, size), means, variances, pulls)
                for size in sizes
            }
            chosen = int(group.size[arm])
            seen.add(chosen)
            assert possible[chosen] == pytest.approx(max(possible.values()), rel=1e-9, abs=1e-12)
    assert len(seen) > 1 or arms == 3, "or the sizes were never weighed up"


def test_with_more_noise_in_a_single_arm_the_group_is_larger() -> None:
    """A tie of 40 arms: together they vary least."""
    means, pulls = np.r_[np.zeros(40), -1.0], np.full(41, 10)
    assert leading_group(means, np.ones(41), pulls).size[-1] == 32
    # A leader far ahead is best met alone.
    ahead = np.r_[100.0, np.zeros(39), -1.0]
    assert leading_group(ahead, np.ones(41), pulls).size[-1] == 1


def test_of_two_arms_each_meets_the_other() -> None:
    for means in ([0.0, 1.0], [1.0, 0.0], [0.5, 0.5]):
        assert members(leading_group(np.array(means), np.ones(2), np.ones(2, int)), 2) == [{1}, {0}]


def test_arms_without_any_spread_can_be_met() -> None:
    means = np.array([0.3, 0.1, 0.2, 0.2])
    group = leading_group(means, np.zeros(4), np.full(4, 5))
    assert [arm in met for arm, met in enumerate(members(group, 4))] == [False] * 4
    assert members(group, 4)[1] == {0}  # all distances are infinite but for rounding: the farthest


@pytest.mark.parametrize("arms", [2, 3, 9])
def test_leaders_are_the_best_of_the_others_one_by_one(arms: int) -> None:
    rng = np.random.default_rng(arms)
    for number in range(1, arms):
        means = rng.integers(0, 4, arms).astype(np.float64)  # with ties
        found = leaders(means, number)
        assert len(found) == number
        for arm in range(arms):
            assert [int(rival.index[arm]) for rival in found] == best_of_the_others(
                means, arm, number
            )
