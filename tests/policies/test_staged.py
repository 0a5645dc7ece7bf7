"""Staged elimination: its laws, its deadline, its floor, and what it does with what it sees."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from paceline import (
    SSH,
    Bernoulli,
    CorePool,
    InvalidInput,
    Measured,
    PowerLaw,
    Scaling,
    Staged,
    Uniform,
    simulate,
)
from paceline.core.arrays import Floats, Ints
from paceline.core.delays import Boxed, Delays
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.problem import Problem
from paceline.core.rounds import Conditions, Results, Round, Until
from paceline.loop import Ending, run
from paceline.policies.base import Pacer, Task
from paceline.policies.staged import StagedPacer
from paceline.pools.virtual import VirtualRunner
from paceline.testing import PolicyContract, asked

SPREAD = Delays.seen(np.random.default_rng(0).lognormal(-0.1, 0.5, 500))


# The laws.


class TestStaged(PolicyContract):
    policy = Staged()
    goal = {"deadline": 60.0}


class TestStagedAtItsShortest(PolicyContract):
    policy = Staged()
    goal = {"deadline": 3.0}


class TestStagedOnASubset(PolicyContract):
    policy = Staged(best_effort=True)
    goal = {"deadline": 2.0}


class OtherTask(PolicyContract):
    changes: dict[str, Any]

    def task(self, **changes: Any) -> Task:
        return super().task(**(self.changes | changes))


class TestStagedNormal(OtherTask):
    policy = Staged()
    goal = {"deadline": 30.0}
    changes = {"noise": NormalNoise()}


class TestStagedBounded(OtherTask):
    policy = Staged()
    goal = {"deadline": 30.0}
    changes = {"noise": BoundedNoise((0.0, 1.0))}


class TestStagedKnownSigma(OtherTask):
    policy = Staged()
    goal = {"deadline": 30.0}
    changes = {"noise": SubgaussianNoise(sigma=0.5)}


class TestStagedPaired(OtherTask):
    policy = Staged()
    goal = {"deadline": 30.0}
    changes = {"paired": True, "noise": NormalNoise()}


class TestStagedTop3(OtherTask):
    policy = Staged()
    goal = {"deadline": 60.0}
    changes = {"top": 3}


class TestStagedOnUnevenPulls(OtherTask):
    policy = Staged()
    goal = {"deadline": 60.0}
    changes = {"delays": SPREAD}


class TestStagedTop3OnUnevenPulls(OtherTask):
    policy = Staged()
    goal = {"deadline": 60.0}
    changes = {"delays": SPREAD, "top": 3, "noise": NormalNoise()}


class TestStagedThatWaits(OtherTask):
    policy = Staged(stragglers="wait")
    goal = {"deadline": 60.0}
    changes = {"delays": SPREAD}


# Tools.


def play(
    problem: Problem,
    scaling: Scaling,
    deadline: float,
    *,
    policy: Staged | None = None,
    seed: int = 0,
    draws: int = 1,
    **task: Any,
) -> tuple[StagedPacer, Ending]:
    """A race in virtual time, and the pacer as it is at its end."""
    pacer = (policy or Staged()).start(
        Task(arms=problem.arms, scaling=scaling, deadline=deadline, seed=seed, **task)
    )
    assert isinstance(pacer, StagedPacer)
    runner = VirtualRunner(problem, scaling, np.random.default_rng(draws))
    return pacer, run(pacer, runner, deadline=deadline)


class Watched:
    """Every cut of a pacer: from how many arms to how many, after how many pulls of each."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.cuts: list[tuple[int, int, int, float, int]] = []
        cut = StagedPacer._cut_to

        def spy(pacer: StagedPacer, kept: int) -> None:
            before = pacer.alive
            cut(pacer, kept)
            if pacer.alive.size < before.size:
                each = int(pacer.tally.pulls[before].min())
                self.cuts.append((before.size, pacer.alive.size, each, pacer.floor, pacer.task.top))

        patch.setattr(StagedPacer, "_cut_to", spy)


scalings: "st.SearchStrategy[Scaling]" = st.one_of(
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 1.0]).map(PowerLaw),
    st.builds(
        lambda cores, power: CorePool(cores, lambda c: c**-power),
        st.integers(1, 20),
        st.floats(0, 1),
    ),
    st.just(Measured([1, 4, 16, 64, 256], [1.0, 1.5, 2.5, 6.0, 20.0])),
)


# Time and the floor.


@settings(max_examples=60)
@given(
    arms=st.integers(2, 120),
    scaling=scalings,
    stretch=st.floats(1.0, 30.0),
    top=st.integers(1, 4),
    kind=st.sampled_from(["alike", "spread", "obvious"]),
    seed=st.integers(0, 1000),
)
def test_it_keeps_the_deadline_the_floor_and_its_samples(
    arms: int, scaling: Scaling, stretch: float, top: int, kind: str, seed: int
) -> None:
    top = min(top, arms - 1)
    deadline = scaling.seconds(float(arms)) * stretch
    rng = np.random.default_rng(seed)
    means = {
        "alike": np.full(arms, 0.5),
        "spread": rng.random(arms),
        "obvious": np.where(np.arange(arms) < top, 0.95, 0.05),  # only the floor keeps the others
    }
    problem = Bernoulli(means[kind])
    with pytest.MonkeyPatch.context() as patch:
        watched = Watched(patch)
        pacer, ending = play(problem, scaling, deadline, draws=seed, top=top)
    assert ending.seconds <= deadline * (1 + 1e-9)
    assert ending.answer.arms.size == top
    assert ending.answer.decided
    assert not ending.answer.reason, "the policy ended it, not the deadline"
    assert watched.cuts[0][0] == arms
    assert watched.cuts[-1][1] == top
    assert int(pacer.tally.pulls.sum()) == ending.pulls, "all samples are kept, none is left out"
    for (_, kept, *_), (before, *_) in zip(watched.cuts, watched.cuts[1:], strict=False):
        assert before == kept
    for _, kept, pulls, floor, _ in watched.cuts:
        assert pulls * 2 ** math.floor(math.log2(kept - top + 1)) >= floor


def test_of_the_time_little_is_left() -> None:
    for scaling, arms, deadline in (
        (PowerLaw(0.5), 100, 200.0),
        (PowerLaw(0.9), 30, 2000.0),
        (CorePool(8, lambda cores: 1 / cores**0.5), 40, 300.0),
    ):
        means = np.random.default_rng(1).random(arms)
        _, ending = play(Bernoulli(means), scaling, deadline)
        assert ending.seconds > 0.9 * deadline


@pytest.mark.parametrize(
    ("arms", "top", "scaling", "deadline"),
    [
        (2, 1, PowerLaw(0.5), 1.5),
        (2, 1, PowerLaw(1.0), 1e12),
        (10, 9, PowerLaw(0.5), 20.0),
        (1000, 999, PowerLaw(0.5), 200.0),
        (50, 1, PowerLaw(0.1), 60.0),  # 10¹⁸ pulls
        (3, 1, PowerLaw(0.1), 1e4),
        (2, 1, CorePool(64, lambda cores: 1 / cores), 1e9),
        (300, 3, PowerLaw(0.5), 1e7),
    ],
)
def test_extremes(arms: int, top: int, scaling: Scaling, deadline: float) -> None:
    _, ending = play(Bernoulli(np.linspace(0.9, 0.1, arms)), scaling, deadline, top=top)
    assert ending.answer.arms.size == top
    assert ending.seconds <= deadline * (1 + 1e-9)
    if arms == 2 and deadline > 1e6:
        assert ending.answer.arms.tolist() == [0]
    if deadline > 2:
        task = Task(arms=arms, scaling=scaling, deadline=deadline, top=top, delays=SPREAD)
        assert asked(Staged().start(task)).total >= arms


# Ties and seeds.


def test_ties_are_broken_by_lot_and_the_lot_by_the_seed() -> None:
    options: dict[str, Any] = {"deadline": 20.0, "replications": 600}
    first = simulate(np.full(8, 1.0), Staged(), PowerLaw(0.5), **options)
    counts = np.bincount(first.index, minlength=8)
    assert chisquare(counts).pvalue > 1e-6
    again = simulate(np.full(8, 1.0), Staged(), PowerLaw(0.5), **options)
    assert again.index.tolist() == first.index.tolist()
    assert again.pulls.tolist() == first.pulls.tolist()
    # The control: by index the first would always win, and the test sees less than that.
    biased = counts.copy()
    biased[0] += 60
    assert chisquare(biased).pvalue < 1e-6


def test_the_same_seed_gives_the_same_race() -> None:
    problem = Bernoulli(np.full(60, 0.5))

    def chosen(seed: int) -> list[int]:
        pacer, ending = play(problem, PowerLaw(0.5), 40.0, seed=seed)
        return [*ending.answer.arms.tolist(), *pacer.tally.pulls.tolist()]

    assert chosen(3) == chosen(3)
    assert any(chosen(seed) != chosen(3) for seed in (4, 5, 6))


# What it does with what it sees.


def cuts_of(means: Any, scaling: Scaling, deadline: float, **options: Any) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        watched = Watched(patch)
        play(Bernoulli(means), scaling, deadline, **options)
    return [kept for _, kept, *_ in watched.cuts]


def planned_sizes(arms: int, scaling: Scaling, deadline: float) -> tuple[int, ...]:
    pacer = Staged().start(Task(arms=arms, scaling=scaling, deadline=deadline))
    assert isinstance(pacer, StagedPacer)
    return pacer.chain.sizes


def test_arms_clearly_behind_fall_earlier_than_planned() -> None:
    means = np.random.default_rng(7).random(1024)
    scaling, deadline = PowerLaw(0.5), 1000.0
    planned = planned_sizes(1024, scaling, deadline)[1]
    first = [cuts_of(means, scaling, deadline, draws=draw)[0] for draw in range(5)]
    assert all(kept < 0.8 * planned for kept in first)


def test_where_nothing_can_be_seen_more_are_kept() -> None:
    scaling, deadline = PowerLaw(0.5), 1000.0
    planned = planned_sizes(1024, scaling, deadline)[1]
    first = [cuts_of(np.full(1024, 0.5), scaling, deadline, draws=draw)[0] for draw in range(5)]
    assert all(kept > 1.3 * planned for kept in first)


@pytest.mark.parametrize(
    ("means", "q", "deadline"),
    [
        (np.random.default_rng(1).random(256), 0.5, 250.0),
        (np.r_[0.6, np.full(127, 0.4)], 0.5, 120.0),
        (0.5 - 0.4 * (np.arange(100) / 100) ** 0.5, 0.9, 4000.0),
    ],
    ids=["uniform", "one good arm", "square roots"],
)
def test_success_is_not_below_ssh(means: Any, q: float, deadline: float) -> None:
    runs = 400
    ours, theirs = (
        simulate(means, policy, PowerLaw(q), deadline=deadline, replications=runs).success * runs
        for policy in (Staged(), SSH())
    )
    # Two shares of one size: ours would have to be below by 4.75 standard errors.
    pooled = (ours + theirs) / (2 * runs)
    error = math.sqrt(max(pooled * (1 - pooled), 0.01) * 2 * runs)
    assert (theirs - ours) / error < 4.75
    assert theirs < runs, "an instance on which there is something to lose"


def test_low_values_can_be_good_and_top_arms_are_found() -> None:
    """The limits of negated zeros and ones are −1 and 0."""
    rng = np.random.default_rng(0)
    costs = np.r_[0.1, 0.12, 0.14, np.linspace(0.5, 0.9, 37)]
    for top in (1, 3):
        noise = BernoulliNoise().negated()
        task = Task(arms=40, scaling=PowerLaw(0.5), deadline=300.0, noise=noise, top=top)
        pacer = Staged().start(task)
        while pacer.verdict is None:
            wanted = asked(pacer)
            ones = rng.binomial(wanted.pulls, costs[wanted.arms]).astype(np.float64)
            pacer.tell(Results(wanted.arms, wanted.pulls, -ones, ones))
        assert set(pacer.verdict.arms.tolist()) <= {0, 1, 2}
        assert pacer.verdict.arms.size == top


def test_normal_values_that_do_not_vary_are_no_trouble() -> None:
    task = Task(arms=9, scaling=PowerLaw(0.5), deadline=40.0, noise=NormalNoise())
    pacer = Staged().start(task)
    while pacer.verdict is None:
        wanted = asked(pacer)
        sums: Floats = wanted.pulls * np.linspace(1, 2, 9)[wanted.arms]
        pacer.tell(Results(wanted.arms, wanted.pulls, sums, sums**2 / wanted.pulls))
    assert pacer.verdict.arms.tolist() == [8]


# Too short a deadline.


@given(
    arms=st.integers(2, 300),
    scaling=scalings,
    share=st.floats(0.05, 0.99),
    uneven=st.booleans(),
    wait=st.booleans(),
)
@settings(max_examples=40)
def test_too_short_a_deadline_is_refused_with_the_shortest_that_will_do(
    arms: int, scaling: Scaling, share: float, uneven: bool, wait: bool
) -> None:
    delays = SPREAD if uneven else None
    policy = Staged(stragglers="wait" if wait else "cut")
    clock = scaling if delays is None else Boxed(scaling, delays, wait=wait)
    deadline = max(share * clock.seconds(float(arms)), scaling.seconds(1.0))
    if deadline >= clock.seconds(float(arms)):
        return

    def start(seconds: float, policy: Staged = policy) -> Pacer:
        return policy.start(Task(arms=arms, scaling=scaling, deadline=seconds, delays=delays))

    with pytest.raises(InvalidInput, match="too short to pull") as refusal:
        start(deadline)
    said = re.search(r"at least ([\d.e+-]+) s", str(refusal.value))
    assert said is not None
    assert ("best_effort" in str(refusal.value)) == (arms > 2)
    shortest = float(said[1])
    assert shortest == pytest.approx(clock.seconds(float(arms)), rel=0.02)
    assert asked(start(shortest)).total >= arms
    if deadline >= clock.seconds(2.0):
        subset = start(deadline, Staged(policy.stragglers, best_effort=True))
        assert 2 <= asked(subset).arms.size <= arms


def test_a_random_subset_caps_the_success_at_its_share() -> None:
    obvious = np.r_[1.0, np.zeros(63)]
    policy = Staged(best_effort=True)
    result = simulate(obvious, policy, PowerLaw(0.5), deadline=5.0, replications=400)
    assert result.seconds.max() <= 5.0
    pacer = policy.start(Task(arms=64, scaling=PowerLaw(0.5), deadline=5.0))
    share = asked(pacer).arms.size / 64
    error = math.sqrt(share * (1 - share) / 400)
    assert 0 < share < 0.5
    assert abs(result.success - share) < 5 * error


def test_even_a_subset_needs_time_for_two_arms() -> None:
    with pytest.raises(InvalidInput, match="even 2 arms"):
        simulate(np.zeros(9), Staged(best_effort=True), PowerLaw(1.0), deadline=1.5)


def test_the_outline_says_the_cuts() -> None:
    task = Task(arms=8, scaling=PowerLaw(0.5), deadline=20.0)
    [(label, text)] = Staged().outline(task)
    assert label == "plan"
    assert re.fullmatch(r"8 → (\d+ → )*1 arms, after \d+(, \d+)* pulls each", text)
    short = replace(task, scaling=PowerLaw(1.0), deadline=5.0)
    assert Staged(best_effort=True).outline(short) == []
    assert Uniform().outline(task) == []


def test_stragglers_are_cut_off_or_waited_for() -> None:
    with pytest.raises(InvalidInput, match="stragglers"):
        Staged(stragglers="ignore")  # type: ignore[arg-type]
    task = Task(arms=64, scaling=PowerLaw(0.5), deadline=60.0, delays=SPREAD)
    cut, wait = asked(Staged().start(task)), asked(Staged("wait").start(task))
    assert until(cut) < 60.0
    assert math.isinf(until(wait))
    assert math.isinf(until(asked(Staged().start(replace(task, paired=True)))))
    assert math.isinf(until(asked(Staged().start(replace(task, delays=None)))))


# The clock, λ and delays in mid-race.


def until(wanted: Round) -> float:
    return wanted.how.moment if isinstance(wanted.how, Until) else math.inf


def answer(
    pacer: Pacer,
    means: Any,
    rng: np.random.Generator,
    pulls: Ints | None = None,
    conditions: Conditions | None = None,
) -> None:
    wanted = asked(pacer)
    pulls = wanted.pulls if pulls is None else pulls
    ones = rng.binomial(pulls, np.asarray(means)[wanted.arms]).astype(float)
    some = pulls > 0
    last = isinstance(wanted.how, Until)
    results = Results(wanted.arms[some], pulls[some], ones[some], ones[some], last=last)
    pacer.tell(results, conditions)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 3), st.sampled_from([0.3, 1.0, 4.0]))
def test_whatever_is_back_when_the_time_comes_leads_to_a_decision(
    seed: int, learns: bool, top: int, pace: float
) -> None:
    """Any part of any arm's pulls, or nothing at all, late or early; a replay repeats it."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(top + 1, 30))
    scaling = PowerLaw(0.5)
    deadline = Boxed(scaling, SPREAD).seconds(float(arms)) * rng.uniform(1, 20)
    noise = NormalNoise() if learns else BernoulliNoise()
    task = Task(
        arms=arms, scaling=scaling, deadline=deadline, top=top, noise=noise, delays=SPREAD, seed=1
    )
    means = rng.random(arms)
    pacer, told = Staged().start(task), []
    for _ in range(500):
        if pacer.verdict is not None:
            break
        wanted = asked(pacer)
        assert wanted.total > 0
        assert np.unique(wanted.arms).size == wanted.arms.size
        assert np.isin(wanted.arms, pacer.alive).all()
        assert pacer.elapsed <= until(wanted) <= deadline
        end = pacer.elapsed + pace * rng.random() * (until(wanted) - pacer.elapsed)
        end = max(end, pacer.elapsed + 1e-3 * deadline)
        share = rng.choice([0.0, 0.3, 0.9, 1.0])
        back = rng.binomial(wanted.pulls, share * (rng.random(wanted.arms.size) < 0.8))
        more = (rng.random(wanted.arms.size) < 0.1) & (pacer.tally.pulls[wanted.arms] > 0)
        back += more  # skipped before
        conditions = Conditions(end, scaling, SPREAD)
        if rng.random() < 0.3:
            other = Delays.seen(rng.lognormal(0, rng.random(), 100))
            conditions = Conditions(end, PowerLaw(0.5, float(rng.uniform(0.5, 2))), other)
        ones = rng.binomial(back, means[wanted.arms]).astype(float)
        some = back > 0
        results = Results(wanted.arms[some], back[some], ones[some], ones[some], last=True)
        assert pacer.ask() is pacer.ask()
        pacer.tell(results, conditions)
        told.append((conditions, results))
    assert pacer.verdict is not None
    assert pacer.verdict.arms.size == top or not pacer.verdict.decided
    assert pacer.verdict.arms.size >= top
    if pacer.verdict.decided and not pacer.verdict.reason:
        assert (pacer.tally.pulls[pacer.verdict.arms] > 0).all()
    # Delays that are equal are the same ones, whichever objects they are.
    again = Staged().start(replace(task, delays=Delays.from_json(SPREAD.to_json())))
    for conditions, results in told:
        assert conditions.delays is not None
        equal = Delays.from_json(conditions.delays.to_json())
        again.tell(results, conditions._replace(delays=equal))
    assert again.verdict is not None
    assert again.verdict.arms.tolist() == pacer.verdict.arms.tolist()
    assert again.rounds == pacer.rounds


def test_nothing_back_of_any_arm_is_undecided_among_all() -> None:
    task = Task(arms=5, scaling=PowerLaw(0.5), deadline=5.0, delays=SPREAD)
    pacer = Staged().start(task)
    nothing = Results(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0), np.zeros(0), last=True)
    pacer.tell(nothing, Conditions(5.0, task.scaling, SPREAD))
    assert pacer.verdict is not None
    assert not pacer.verdict.decided
    assert pacer.verdict.arms.tolist() == [0, 1, 2, 3, 4]


def test_arms_of_which_nothing_is_back_are_waited_for_once() -> None:
    task = Task(arms=6, scaling=PowerLaw(0.5), deadline=30.0, delays=SPREAD)
    pacer = Staged().start(task)
    wanted = asked(pacer)
    back = np.where(wanted.arms == 2, 0, wanted.pulls)
    rng = np.random.default_rng(0)
    answer(
        pacer,
        [0.1, 0.1, 1.0, 0.1, 0.1, 0.1],
        rng,
        back,
        conditions=Conditions(10.0, task.scaling, SPREAD),
    )
    waiting = asked(pacer)
    assert waiting.arms.tolist() == [2]
    assert 10.0 < until(waiting) <= 20.0
    answer(
        pacer,
        [0.1, 0.1, 1.0, 0.1, 0.1, 0.1],
        rng,
        conditions=Conditions(12.0, task.scaling, SPREAD),
    )
    assert 2 in pacer.alive
    late = Staged().start(task)
    for end in (10.0, 20.0):
        wanted = asked(late)
        answer(
            late,
            np.full(6, 0.5),
            rng,
            np.where(wanted.arms == 2, 0, wanted.pulls),
            conditions=Conditions(end, task.scaling, SPREAD),
        )
    assert 2 not in late.alive


def test_a_few_more_pulls_are_a_few_more_in_all_and_not_of_each_arm() -> None:
    """One more of every arm would double a stage of one pull each, and little would be back."""
    arms, scaling = 100, PowerLaw(0.9)
    clock = Boxed(scaling, SPREAD)
    more = clock.launch(float(arms)) - arms
    assert 0 < more < arms
    deadline = clock.seconds(float(arms)) * 1.001
    gifts = np.zeros(arms)
    for seed in range(60):
        task = Task(arms=arms, scaling=scaling, deadline=deadline, delays=SPREAD, seed=seed)
        wanted = asked(Staged().start(task))
        assert wanted.total == arms + more
        assert set(wanted.pulls.tolist()) == {1, 2}
        gifts += wanted.pulls - 1
    assert (gifts > 0).all(), "by lot, and not by index"


def test_equal_delays_are_the_same_whichever_objects_they_are() -> None:
    """In a replay they are others: were the rest then planned anew, it would be another race."""
    task = Task(arms=64, scaling=PowerLaw(0.5), deadline=60.0, delays=SPREAD)
    pacer = Staged().start(task)
    assert isinstance(pacer, StagedPacer)
    before = pacer.clock
    pacer.adjust(Conditions(1.0, task.scaling, Delays.from_json(SPREAD.to_json())))
    assert pacer.clock is before
    pacer.adjust(Conditions(1.0, task.scaling, Delays.seen([])))
    assert pacer.clock is not before


def test_an_equal_pool_is_no_news() -> None:
    """In a resumed race it is another object: what follows from it must be the same."""
    pool = CorePool(16, lambda cores: 1 / cores**0.5)
    equal = CorePool.from_json(pool.to_json())
    pacer = Staged().start(Task(arms=64, scaling=pool, deadline=60.0, delays=SPREAD))
    assert isinstance(pacer, StagedPacer)
    before = pacer.clock
    pacer.adjust(Conditions(1.0, equal, SPREAD))
    assert pacer.clock is before
    pacer.adjust(Conditions(1.0, CorePool(16, lambda cores: 2.0), SPREAD))
    assert pacer.clock is not before


def timed(pacer: Pacer, means: Any, seconds: Any, **conditions: Any) -> list[tuple[Round, float]]:
    """Play with stages that take what `seconds` says of their pulls; return them with their end."""
    rng, now, played = np.random.default_rng(0), 0.0, []
    while pacer.verdict is None:
        wanted = asked(pacer)
        now += seconds(wanted.total)
        played.append((wanted, now))
        answer(
            pacer,
            means,
            rng,
            conditions=Conditions(now, conditions.get("scaling", pacer.task.scaling)),
        )
    return played


def test_when_stages_are_late_the_rest_is_planned_into_the_time_left() -> None:
    means, scaling = np.random.default_rng(3).random(64), PowerLaw(0.5)
    task = Task(arms=64, scaling=scaling, deadline=100.0)
    on_time = timed(Staged().start(task), means, lambda pulls: scaling.seconds(float(pulls)))
    late = timed(Staged().start(task), means, lambda pulls: 1.3 * scaling.seconds(float(pulls)))
    assert on_time[-1][1] <= 100.0
    assert late[-1][1] <= 100.0 * 1.3
    assert late[0][0].total == on_time[0][0].total
    # The last stage alone is late, by what it is late by itself.
    before_last = late[-2][1]
    assert late[-1][1] - before_last <= 1.3 * (100.0 - before_last) + 1e-9


def test_when_pulls_turn_out_quicker_the_time_is_used() -> None:
    means, slow, quick = np.random.default_rng(3).random(64), PowerLaw(0.5), PowerLaw(0.5, 0.25)
    task = Task(arms=64, scaling=slow, deadline=100.0)
    played = timed(
        Staged().start(task), means, lambda pulls: quick.seconds(float(pulls)), scaling=quick
    )
    assert 85.0 < played[-1][1] <= 100.0 * (1 + 1e-9)


def test_lambda_that_turns_out_slower_is_planned_for() -> None:
    means, quick, slow = np.random.default_rng(3).random(64), PowerLaw(0.5), PowerLaw(0.5, 1.2)
    task = Task(arms=64, scaling=quick, deadline=100.0)
    played = timed(
        Staged().start(task), means, lambda pulls: slow.seconds(float(pulls)), scaling=slow
    )
    assert len(played) > 1
    assert 90.0 < played[-1][1] <= 100.0 * (1 + 1e-9)


@pytest.mark.parametrize("elapsed", [100.0, 150.0])
def test_when_no_time_is_left_the_best_so_far_is_the_answer(elapsed: float) -> None:
    task = Task(arms=20, scaling=PowerLaw(0.5), deadline=100.0, top=2)
    pacer = Staged().start(task)
    answer(
        pacer,
        np.r_[np.zeros(18), 0.9, 1.0],
        np.random.default_rng(0),
        conditions=Conditions(elapsed, task.scaling),
    )
    assert pacer.verdict is not None
    assert pacer.verdict.decided
    assert sorted(pacer.verdict.arms.tolist()) == [18, 19]
    assert pacer.ask() is pacer.verdict
