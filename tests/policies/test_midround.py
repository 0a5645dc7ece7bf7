"""Looking in mid-round, and planning again: what a policy does when results come in parts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import APR, SSH, BatchRacing, CorePool, Policy, PowerLaw, SequentialHalving, Uniform
from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.lil import LilInterval
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Conditions, Results, Round
from paceline.core.scaling import Scaling
from paceline.policies.base import Pacer, Task
from paceline.policies.clock import ClockPacer
from paceline.testing import asked

MEANS = np.array([0.9, 0.88, 0.6, 0.5, 0.3, 0.05])


def draw(arms: Ints, pulls: Ints, rng: np.random.Generator) -> Results:
    ones = rng.binomial(pulls, MEANS[arms]).astype(np.float64)
    return Results(arms, pulls, ones, ones)


def level(wanted: Round, rng: np.random.Generator, most: int = 3) -> Results:
    return draw(wanted.arms, np.minimum(wanted.pulls, most), rng)


# Looks.


@pytest.mark.parametrize("top", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_look_drops_exactly_the_arms_that_the_interval_excludes(top: int, seed: int) -> None:
    task = Task(arms=MEANS.size, scaling=PowerLaw(0.3), confidence=0.9, top=top)
    pacer = APR(deviation=0.5).start(task)
    assert isinstance(pacer, ClockPacer)
    interval = LilInterval(0.1, MEANS.size, 0.5, 0.5)
    rng = np.random.default_rng(seed)
    accepted, dropped_in_mid_round = 0, 0
    for _ in range(20_000):
        wanted = asked(pacer)
        results = level(wanted, rng, most=50)
        before, rounds = pacer.alive, pacer.rounds
        pacer.tell(results)
        if pacer.rounds > rounds or pacer.verdict is not None:
            accepted = pacer.elimination.accepted.size
            if pacer.verdict is not None:
                break
            continue
        pacer.look()
        low, high = interval.bounds(pacer.tally, before)
        out = high <= np.sort(low)[-(top - accepted)]
        sure = low > np.sort(high)[-(top - accepted) - 1]
        if pacer.verdict is not None:
            break
        assert pacer.alive.tolist() == before[~(out | sure)].tolist()
        dropped_in_mid_round += before.size - pacer.alive.size
        accepted += int(sure.sum())
        # What is asked is what is missing of the arms still in, and nothing else.
        left = wanted.pulls - results.pulls
        kept = np.isin(wanted.arms, pacer.alive) & (left > 0)
        assert asked(pacer).arms.tolist() == wanted.arms[kept].tolist()
        assert asked(pacer).pulls.tolist() == left[kept].tolist()
    assert pacer.verdict is not None
    assert pacer.verdict.decided
    assert dropped_in_mid_round > 0, "or nothing was tested"


def test_a_look_saves_the_pulls_of_the_arms_that_fell() -> None:
    """The same values with and without looks: the same answer, fewer pulls of the bad arms."""
    spent = []
    for looks in (True, False):
        task = Task(arms=MEANS.size, scaling=PowerLaw(0.3), confidence=0.9)
        pacer = APR().start(task)
        rng = np.random.default_rng(3)
        while pacer.verdict is None:
            pacer.tell(level(asked(pacer), rng, most=200))
            if looks and pacer.verdict is None:
                pacer.look()
        assert pacer.verdict.decided
        spent.append(pacer.tally.pulls)
    with_looks, without = spent
    assert with_looks.sum() < without.sum()
    assert with_looks[-1] < without[-1]


def test_a_look_changes_nothing_while_the_intervals_overlap() -> None:
    pacer = APR().start(Task(arms=6, scaling=PowerLaw(0.5), confidence=0.9))
    rng = np.random.default_rng(0)
    pacer.tell(draw(np.arange(6), np.ones(6, dtype=np.int64), rng))  # round 1
    wanted = asked(pacer)
    pacer.tell(level(wanted, rng, most=1))
    left = asked(pacer)
    for _ in range(3):
        pacer.look()
    assert pacer.alive.tolist() == list(range(6))
    assert asked(pacer).arms.tolist() == left.arms.tolist()
    assert asked(pacer).pulls.tolist() == left.pulls.tolist()
    assert pacer.rounds == 1


@pytest.mark.parametrize(
    ("policy", "goal"),
    [
        (Uniform(), {"confidence": 0.9}),
        (Uniform(), {"deadline": 50.0}),
        (SSH(), {"deadline": 50.0}),
        (SequentialHalving(), {"deadline": 50.0}),
    ],
)
def test_policies_that_need_whole_rounds_do_not_look(policy: Policy, goal: dict[str, Any]) -> None:
    pacer = policy.start(Task(arms=6, scaling=PowerLaw(0.5), **goal))
    wanted = asked(pacer)
    while wanted.pulls.max() < 2:
        pacer.tell(draw(wanted.arms, wanted.pulls, np.random.default_rng(0)))
        wanted = asked(pacer)
    # Arm 0 wins everything, for ever, with one pull of each still missing.
    ones = np.where(wanted.arms == wanted.arms[0], wanted.pulls - 1.0, 0.0)
    pacer.tell(Results(wanted.arms, wanted.pulls - 1, ones, ones))
    pacer.look()
    assert pacer.verdict is None
    assert asked(pacer).arms.tolist() == wanted.arms.tolist()
    assert set(asked(pacer).pulls.tolist()) == {1}


@pytest.mark.parametrize(("policy", "looks"), [(Uniform(), False), (APR(), True)])
def test_uniform_pulls_stay_uniform_however_clear_the_case(policy: Policy, looks: bool) -> None:
    pacer = policy.start(Task(arms=3, scaling=PowerLaw(0.3), confidence=0.9))
    while asked(pacer).pulls.min() < 5000:
        answer(pacer, np.full(3, 0.5))
    wanted = asked(pacer)
    half = wanted.pulls // 2
    ones = half * np.array([1.0, 0.0, 0.0])
    pacer.tell(Results(wanted.arms, half, ones, ones))
    pacer.look()
    assert (pacer.verdict is not None) == looks
    assert pacer.ask().arms.tolist() == ([0] if looks else [0, 1, 2])


def test_with_unknown_noise_a_look_after_one_pull_drops_nobody() -> None:
    """However far apart they are: of the spread nothing is known yet."""
    task = Task(arms=3, scaling=PowerLaw(0.1), confidence=0.9, noise=NormalNoise())
    pacer = APR().start(task)
    values = np.array([0.0, 1e3, 1e6])
    pacer.tell(Results(np.arange(3), np.ones(3, dtype=np.int64), values, values**2))
    assert pacer.verdict is None
    assert pacer.alive.tolist() == [0, 1, 2]


# Conditions.


def answer(pacer: Pacer, means: Floats, conditions: Conditions | None = None) -> Round:
    wanted = asked(pacer)
    sums = wanted.pulls * means[wanted.arms]
    pacer.tell(Results(wanted.arms, wanted.pulls, sums, sums), conditions)
    return wanted


@pytest.mark.parametrize(
    "scaling", [PowerLaw(0.5), CorePool(5, lambda cores: cores**-0.7)], ids=["power law", "pool"]
)
@pytest.mark.parametrize(
    ("policy", "goal"),
    [
        (APR(deviation=0.3), {"confidence": 0.9}),
        (BatchRacing(batch=20), {"confidence": 0.9}),
        (Uniform(), {"deadline": 90.0}),
        (SSH(), {"deadline": 90.0}),
        (SSH(k=1), {"deadline": 90.0}),
        (SSH(k=2, keep_samples=True, rule="bottleneck"), {"deadline": 90.0}),
        (SequentialHalving(), {"deadline": 90.0}),
    ],
)
def test_where_time_goes_as_planned_conditions_change_nothing(
    policy: Policy, goal: dict[str, Any], scaling: Scaling
) -> None:
    """So virtual time, where λ is exact, plays the race of the paper."""
    task = Task(arms=9, scaling=scaling, **goal)
    told, untold = policy.start(task), policy.start(task)
    means, now = np.linspace(0.9, 0.1, 9), 0.0
    for _ in range(60):
        if told.verdict is not None:
            break
        now += scaling.seconds(float(asked(told).total))
        one = answer(told, means, Conditions(now, scaling))
        other = answer(untold, means)
        assert one.arms.tolist() == other.arms.tolist()
        assert one.pulls.tolist() == other.pulls.tolist()
    assert (told.verdict is None) == (untold.verdict is None)
    if told.verdict is not None and untold.verdict is not None:
        assert told.verdict.arms.tolist() == untold.verdict.arms.tolist()


DEADLINE = 60.0
SQUARE_ROOT = PowerLaw(0.5)


def after_one_stage(seconds: float, scaling: Scaling = SQUARE_ROOT, **options: Any) -> Pacer:
    """SSH on 8 arms in three stages, the first of which took so long."""
    policy = SSH(**({"k": 1} | options))
    pacer = policy.start(Task(arms=8, scaling=SQUARE_ROOT, deadline=DEADLINE))
    answer(pacer, np.linspace(0.9, 0.1, 8), Conditions(seconds, scaling))
    return pacer


def test_a_late_stage_makes_the_others_shorter_and_an_early_one_longer() -> None:
    planned = asked(after_one_stage(20.0))
    assert planned.arms.tolist() == [0, 1, 2, 3]
    late, early = asked(after_one_stage(40.0)), asked(after_one_stage(5.0))
    assert late.total < planned.total < early.total
    # Two stages are left, and each gets half of the time that is left.
    for wanted, left in ((late, 20.0), (early, 55.0)):
        seconds = SQUARE_ROOT.seconds(float(wanted.total))
        more = SQUARE_ROOT.seconds(float(wanted.total + wanted.arms.size))
        assert seconds <= left / 2 * (1 + 1e-9) < more


def test_a_little_early_or_late_is_as_planned() -> None:
    planned = asked(after_one_stage(20.0)).pulls.tolist()
    for seconds in (19.5, 20.5):
        assert asked(after_one_stage(seconds)).pulls.tolist() == planned
    assert asked(after_one_stage(21.5)).pulls.tolist() != planned


def test_another_scaling_is_planned_with_even_on_time() -> None:
    slower = PowerLaw(0.5, unit_seconds=2.0)
    wanted = asked(after_one_stage(20.0, slower))
    assert wanted.pulls.tolist() == [slower.whole_pulls(20.0) // 4] * 4
    assert wanted.total < asked(after_one_stage(20.0)).total


@pytest.mark.parametrize("seconds", [59.0, 60.0, 75.0])
@pytest.mark.parametrize("options", [{}, {"k": None}, {"keep_samples": True}])
def test_when_nothing_more_fits_what_is_known_decides(
    seconds: float, options: dict[str, Any]
) -> None:
    pacer = after_one_stage(seconds, **options)
    assert pacer.verdict is not None
    assert pacer.verdict.decided
    assert pacer.verdict.arms.tolist() == [0]
    assert pacer.ask() is pacer.verdict


@settings(max_examples=60)
@given(
    arms=st.integers(2, 40),
    factor=st.floats(0.2, 4.0),
    stretch=st.floats(1.0, 30.0),
    k=st.sampled_from([None, 1, 2]),
    knows=st.booleans(),
)
def test_the_deadline_is_kept_if_the_first_stage_leaves_a_chance(
    arms: int, factor: float, stretch: float, k: int | None, knows: bool
) -> None:
    """λ was wrong by a factor; after the first stage it is known, or only the clock tells."""
    assumed = PowerLaw(0.5)
    true = PowerLaw(0.5, unit_seconds=factor)
    stages = 1 if k is None else 6
    deadline = stages * assumed.seconds(float(arms)) * stretch
    pacer = SSH(k=k).start(Task(arms=arms, scaling=assumed, deadline=deadline))
    now, means = 0.0, np.linspace(0.9, 0.1, arms)
    first = true.seconds(float(asked(pacer).total))
    stage = 0.0
    while pacer.verdict is None:
        stage = true.seconds(float(asked(pacer).total))
        now += stage
        answer(pacer, means, Conditions(now, true if knows else assumed))
    # With the true λ only the first stage can be too long; else also the last one.
    late = max(deadline, first) if knows else max(deadline, first) + stage
    assert now <= late * (1 + 0.011)
    assert pacer.verdict.arms.tolist() == [0]


def test_the_clock_goes_on_from_what_the_last_round_takes_by_the_new_scaling() -> None:
    old, new = PowerLaw(0.5), PowerLaw(0.5, unit_seconds=3.0)
    pacer = APR(beta=2.0).start(Task(arms=4, scaling=old, confidence=0.9))
    even = np.full(4, 0.5)
    answer(pacer, even)
    last = asked(pacer)
    answer(pacer, even, Conditions(1e6, new))  # the time itself does not matter to APR
    expected = new.whole_pulls(2 * new.seconds(float(last.total))) // 4
    assert asked(pacer).pulls.tolist() == [expected] * 4
