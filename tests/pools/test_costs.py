"""What arms cost: seen if they differ clearly, from their first pulls, and used to pack rounds."""

import random

import numpy as np
import pytest

from paceline import CorePool
from paceline.core.arrays import Floats
from paceline.engines.jobs import Run
from paceline.pools.assignments import Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.books import Books
from paceline.pools.costs import Costs, relative
from paceline.pools.giving import Giver
from paceline.pools.model import PoolModel
from paceline.pools.rules import Rules

FLAT = CorePool(8, lambda cores: 1.0)


def seen(costs: list[float], pulls: int, sigma: float, seed: int = 0) -> Costs:
    """Times of pulls that vary around what each arm costs."""
    rng = random.Random(seed)
    found = Costs(len(costs))
    for arm, cost in enumerate(costs):
        took = [cost * rng.lognormvariate(0, sigma) for _ in range(pulls)]
        found.take(1, [Run(arm, 0, pulls)], took)
    return found


@pytest.mark.parametrize("pulls", [3, 8, 16, 100])
def test_arms_that_differ_clearly_are_told_apart(pulls: int) -> None:
    found = seen([1.0, 10.0, 1.0, 1.0], pulls, sigma=0.3).multiples(FLAT)
    assert found is not None
    assert found[1] / np.delete(found, 1) == pytest.approx([10.0] * 3, rel=0.6)


@pytest.mark.parametrize("sigma", [0.0, 0.3, 0.8])
def test_chance_does_not_make_arms_differ(sigma: float) -> None:
    alike = [seen([1.0] * 16, 8, sigma, seed).multiples(FLAT) is None for seed in range(100)]
    assert sum(alike) >= 97


def test_nothing_is_said_after_single_pulls() -> None:
    assert seen([1.0, 10.0], 1, sigma=0.0).multiples(FLAT) is None
    assert Costs(2).multiples(FLAT) is None
    assert Costs(2).current(None) is None


def test_cores_are_not_taken_for_costs() -> None:
    """An arm that ran on four cores, where pulls take half as long, costs the same."""
    costs = Costs(2)
    costs.take(1, [Run(0, 0, 8)], [1.0] * 8)
    costs.take(4, [Run(1, 0, 8)], [0.5] * 8)
    assert costs.multiples(CorePool(8, lambda cores: 1.0 / cores**0.5)) is None
    assert costs.multiples(FLAT) is not None


def test_pulls_that_the_policy_has_not_heard_of_have_no_say() -> None:
    """Their times may have to do with values that have yet to be judged."""
    told = np.array([8, 8])
    costs = seen([1.0, 4.0], 8, sigma=0.1)
    before = costs.multiples(FLAT, told)
    costs.take(1, [Run(0, 8, 8), Run(1, 8, 8)], [50.0] * 16)  # done ahead
    after = costs.multiples(FLAT, told)
    assert before is not None
    assert after is not None
    assert after.tolist() == before.tolist()


def test_the_order_of_records_does_not_matter() -> None:
    one, other = Costs(2), Costs(2)
    runs = [
        (Run(arm, pull, 1), [1.0 + 5 * arm + 0.1 * pull]) for arm in (0, 1) for pull in range(9)
    ]
    for run, seconds in runs:
        one.take(1, [run], seconds)
    for run, seconds in reversed(runs):
        other.take(1, [run], seconds)
    found, same = one.multiples(FLAT), other.multiples(FLAT)
    assert found is not None
    assert same is not None
    assert found.tolist() == same.tolist()


def test_of_very_many_arms_nothing_is_kept() -> None:
    costs = Costs(100_000)
    costs.take(1, [Run(5, 0, 2)], [1.0, 1.0])
    assert costs.multiples(FLAT) is None


def test_policies_are_told_round_numbers_of_their_arms() -> None:
    assert relative(None, np.array([0, 1])) == ()
    assert relative(np.array([1.0, 99.0, 10.0, 1.0]), np.array([0, 2, 3])) == (0.25, 2.5, 0.25)


def giver(costs: list[float], cores: int) -> Giver:
    """Gives out pulls of arms whose costs are known."""
    books = Books(len(costs))
    books.costs = seen(costs, 8, sigma=0.0)
    rules = Rules(cores, 1, 1)
    model = PoolModel(rules, given=CorePool(cores, lambda count: 1.0))
    assignments = Assignments(cores, lambda: 0.0)
    return Giver(rules, assignments, Backlog(len(costs)), model, books, 1, can_end=True)


def schedule(costs: list[float], pulls: list[int], cores: int) -> tuple[float, list[Floats]]:
    """When a round ends, and when the pulls of each arm started, each core taking the next one."""
    gives = giver(costs, cores)
    gives.want([(arm, count) for arm, count in enumerate(pulls)])
    free = [0.0] * cores
    starts: list[list[float]] = [[] for _ in costs]
    while gives.backlog.waiting:
        core = free.index(min(free))
        (run,) = gives.backlog.take(1)
        starts[run.arm].append(free[core])
        free[core] += costs[run.arm]
    return max(free), [np.array(one) for one in starts]


@pytest.mark.parametrize(
    ("costs", "pulls", "cores"),
    [
        ([10.0] + [1.0] * 7, [40] * 8, 8),
        ([1.0] * 7 + [10.0], [10] * 8, 8),
        ([10.0] * 3 + [1.0] * 13, [12] * 16, 40),
        ([1.0, 3.0, 10.0, 30.0], [60, 20, 20, 20], 4),
    ],
)
def test_a_round_does_not_end_with_a_slow_pull_that_began_last(
    costs: list[float], pulls: list[int], cores: int
) -> None:
    """It is over about as soon as the cores could be done with it."""
    end, _ = schedule(costs, pulls, cores)
    least = max(float(np.dot(costs, pulls)) / cores, *costs)
    assert end <= least + 0.35 * max(costs)


def test_arms_still_take_turns_and_run_at_the_same_time_on_average() -> None:
    """So a machine that slows down steadily favours neither slow nor quick arms."""
    costs = [10.0, 1.0, 1.0, 1.0, 10.0, 1.0, 1.0, 1.0]
    end, starts = schedule(costs, [40] * 8, 8)
    middles = [float((one + cost / 2).mean()) for one, cost in zip(starts, costs, strict=True)]
    assert middles == pytest.approx([end / 2] * 8, rel=0.06)
    for one in starts:
        assert np.diff(one).max() <= 0.15 * end, "no arm pauses for long"


def test_each_job_is_expected_to_take_what_its_arm_does() -> None:
    """Else every pull of a slow arm would be taken for a straggler, and be started again."""
    gives = giver([1.0, 1.0, 1.0, 10.0], cores=4)
    gives.want([(arm, 20) for arm in range(4)])
    offers = [gives.next_offer(None) for _ in range(8)]
    expected = {one.runs[0].arm: one.seconds_each for one in offers if one is not None}
    assert expected == pytest.approx({0: 1.0, 1: 1.0, 2: 1.0, 3: 10.0}, rel=0.05)


def test_arms_that_are_alike_are_given_out_as_ever() -> None:
    gives, plain = giver([1.0] * 4, cores=4), Backlog(4)
    asked = [(0, 12), (1, 4), (2, 4), (3, 4)]
    gives.want(asked)
    plain.want(asked)
    assert [gives.backlog.take(1) for _ in range(24)] == [plain.take(1) for _ in range(24)]
