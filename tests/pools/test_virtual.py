import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import Bernoulli, Evaluated, InvalidInput, PowerLaw
from paceline.core.rounds import NO_ARMS, NOTHING, TOGETHER, Looks, Results, Round, Shares, Until
from paceline.pools.timeline import Span
from paceline.pools.virtual import VirtualRunner


def runner(arms: int = 4, q: float = 0.5) -> tuple[VirtualRunner, list[Span]]:
    spans: list[Span] = []
    problem = Bernoulli(np.linspace(0.0, 1.0, arms))
    return VirtualRunner(problem, PowerLaw(q), np.random.default_rng(0), spans), spans


def a_round(pulls: dict[int, int], share: float | list[float] | None = None) -> Round:
    arms = np.array(list(pulls))
    shares = np.array(share) if isinstance(share, list) else share
    how = TOGETHER if shares is None else Shares(shares)
    return Round(arms, np.array(list(pulls.values())), how)


def all_results(simulated: VirtualRunner) -> list[tuple[float, Results]]:
    found = []
    while (results := simulated.wait(math.inf)).arms.size:
        found.append((simulated.now(), results))
    return found


def test_an_even_round_is_one_event_of_lambda_m() -> None:
    simulated, _ = runner()
    wanted = a_round({0: 4, 3: 12})
    simulated.pursue(wanted)
    [(now, results)] = all_results(simulated)
    assert now == 4.0
    assert results.arms is wanted.arms
    assert results.sums.tolist() == [0.0, 12.0]


def test_a_pull_on_a_share_takes_lambda_of_its_inverse() -> None:
    simulated, _ = runner()
    simulated.pursue(a_round({0: 1, 1: 1, 2: 1}, share=[0.5, 0.25, 0.25]))
    results = all_results(simulated)
    assert [now for now, _ in results] == pytest.approx([math.sqrt(2), 2.0])
    assert [r.arms.tolist() for _, r in results] == [[0], [1, 2]]


def test_pulls_that_do_not_fit_wait_for_their_turn() -> None:
    simulated, _ = runner()
    simulated.pursue(a_round({0: 3, 1: 2}, share=0.5))
    results = all_results(simulated)
    step = math.sqrt(2)
    assert [now for now, _ in results] == pytest.approx([step, 2 * step, 3 * step])
    assert [(r.arms.tolist(), r.pulls.tolist()) for _, r in results] == [
        ([0], [2]),
        ([0, 1], [1, 1]),
        ([1], [1]),
    ]


def test_the_whole_pool_for_each_pull_is_one_after_the_other() -> None:
    simulated, spans = runner()
    simulated.pursue(a_round({2: 2, 1: 1}, share=1.0))
    assert [now for now, _ in all_results(simulated)] == [1.0, 2.0, 3.0]
    assert [span.arm for span in spans] == [2, 2, 1]


def test_freed_resource_is_used_while_other_pulls_run_on() -> None:
    simulated, _ = runner()
    simulated.pursue(a_round({0: 1, 1: 1}, share=[0.75, 0.25]))
    first = simulated.wait(math.inf)
    assert first.arms.tolist() == [0]
    simulated.pursue(a_round({1: 1, 2: 1}, share=[0.25, 0.75]))  # 1 is under way already
    finished = [results.arms.tolist() for _, results in all_results(simulated)]
    assert sorted(arm for arms in finished for arm in arms) == [1, 2]
    assert simulated.now() == pytest.approx(2 * math.sqrt(4 / 3))


def test_what_is_no_longer_wanted_is_cancelled_and_its_resource_reused() -> None:
    simulated, spans = runner()
    simulated.pursue(a_round({0: 1, 1: 2}, share=[0.5, 0.25]))
    simulated.pursue(a_round({0: 1, 2: 1}, share=0.5))
    [(now, results)] = all_results(simulated)
    assert now == pytest.approx(math.sqrt(2))
    assert sorted(results.arms.tolist()) == [0, 2]
    assert {span.arm for span in spans if span.end > span.start} == {0, 2}


def test_a_queued_pull_is_cancelled_before_a_running_one() -> None:
    simulated, _ = runner()
    simulated.pursue(a_round({0: 3}, share=1.0))
    simulated.pursue(a_round({0: 1}, share=1.0))
    [(now, results)] = all_results(simulated)
    assert (now, results.pulls.tolist()) == (1.0, [1])


def test_time_stops_at_the_deadline_and_the_race_can_go_on() -> None:
    simulated, _ = runner()
    wanted = a_round({0: 2, 1: 2})
    simulated.pursue(wanted)
    assert simulated.wait(until=1.5).arms.size == 0
    assert simulated.now() == 1.5
    simulated.pursue(wanted)
    assert simulated.wait(until=10.0).arms.tolist() == [0, 1]
    assert simulated.now() == 2.0


def test_thirds_add_up_to_the_whole() -> None:
    simulated, _ = runner()
    simulated.pursue(a_round({0: 1, 1: 1, 2: 1}, share=1 / 3))
    [(now, results)] = all_results(simulated)
    assert results.arms.size == 3
    assert now == pytest.approx(math.sqrt(3))


@given(
    wanted=st.dictionaries(
        st.integers(0, 3),
        st.tuples(st.integers(1, 40), st.sampled_from([0.1, 0.25, 1 / 3, 1.0])),
        min_size=1,
        max_size=4,
    )
)
def test_every_pull_that_is_wanted_comes_back_once(wanted: dict[int, tuple[int, float]]) -> None:
    simulated, _ = runner()
    arms = np.array(list(wanted))
    left = np.array([count for count, _ in wanted.values()])
    shares = np.array([share for _, share in wanted.values()])
    told = np.zeros(4, dtype=np.int64)
    while left.any():
        simulated.pursue(
            Round(arms, left, Shares(shares)).keeping(left)
        )  # the loop asks again each time
        results = simulated.wait(math.inf)
        told[results.arms] += results.pulls
        left = np.array([count for count, _ in wanted.values()]) - told[arms]
    assert told[arms].tolist() == [count for count, _ in wanted.values()]
    assert simulated.wait(math.inf).arms.size == 0


@given(
    steps=st.lists(
        st.dictionaries(
            st.integers(0, 3),
            st.tuples(st.integers(1, 3), st.sampled_from([0.125, 0.2, 0.25, 1 / 3, 0.5, 1.0])),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=12,
    )
)
def test_never_more_than_the_pool_and_only_what_is_wanted(
    steps: list[dict[int, tuple[int, float]]],
) -> None:
    """Whatever is wanted, in whatever order, with cancellations in between."""
    simulated, spans = runner()
    told = np.zeros(4, dtype=int)
    for step in steps:
        arms = np.array(list(step))
        pulls = np.array([count for count, _ in step.values()])
        wanted = Round(arms, pulls, Shares(np.array([share for _, share in step.values()])))
        simulated.pursue(wanted)
        results = simulated.wait(math.inf)
        assert results.arms.size > 0
        assert set(results.arms.tolist()) <= set(arms.tolist())
        for arm, count in zip(results.arms.tolist(), results.pulls.tolist(), strict=True):
            assert count <= step[arm][0]  # no pull that was not wanted
            told[arm] += count
    simulated.pursue(Round(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))
    assert simulated.wait(math.inf).arms.size == 0
    done = [s for s in spans if s.end > s.start]
    for moment in {span.start for span in done}:
        used = sum(s.share * s.pulls for s in done if s.start <= moment < s.end)
        assert used <= 1 + 1e-9


def test_the_kth_pull_has_its_seed_whatever_was_cancelled_before() -> None:
    seen: list[int] = []
    problem = Evaluated(lambda arm, seed: seen.append(seed) or 0.0, arms=[0, 1], sigma=1.0)  # type: ignore[func-returns-value]

    def seeds_of_arm_0(disturb: bool) -> list[int]:
        seen.clear()
        simulated = VirtualRunner(problem, PowerLaw(0.5), np.random.default_rng(3))
        if disturb:
            simulated.pursue(a_round({0: 2}, share=0.25))
            simulated.pursue(a_round({1: 1}, share=1.0))
            simulated.wait(math.inf)
            seen.clear()
        simulated.pursue(a_round({0: 3}))
        simulated.wait(math.inf)
        return list(seen)

    assert seeds_of_arm_0(disturb=False) == seeds_of_arm_0(disturb=True)


def test_no_two_pulls_of_an_arm_have_the_same_seed() -> None:
    """Also when an older pull is cancelled after a younger one has finished."""
    seen: list[int] = []
    problem = Evaluated(lambda arm, seed: seen.append(seed) or 0.0, arms=[0, 1], sigma=1.0)  # type: ignore[func-returns-value]
    simulated = VirtualRunner(problem, PowerLaw(0.5), np.random.default_rng(3))
    simulated.pursue(a_round({0: 1}, share=0.1))
    simulated.pursue(a_round({0: 2}, share=0.5))
    simulated.wait(math.inf)  # the younger
    simulated.pursue(a_round({1: 1}, share=0.1))  # cancels the older
    simulated.pursue(a_round({0: 3}, share=0.3))
    all_results(simulated)
    assert len(seen) == len(set(seen)) == 4


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, math.nan])
def test_an_impossible_share_is_refused(share: float) -> None:
    simulated, _ = runner()
    with pytest.raises(InvalidInput, match="share of the pool"):
        simulated.pursue(a_round({0: 1}, share=share))


def due_round(pulls: dict[int, int], due: list[int], *, each: bool = False) -> Round:
    how = Looks(np.array(due), each)
    return Round(np.array(list(pulls)), np.array(list(pulls.values())), how)


class TestWhatIsDue:
    """A round is run at once, and told in the slices that the policy wants to hear of."""

    def test_a_round_takes_its_time_once(self) -> None:
        simulated, _ = runner()
        simulated.pursue(due_round({0: 4, 3: 12}, due=[1, 3]))
        first = simulated.wait(math.inf)
        assert (first.pulls.tolist(), simulated.now()) == ([1, 3], 4.0)
        simulated.pursue(due_round({0: 3, 3: 9}, due=[3, 9]))
        second = simulated.wait(math.inf)
        assert (second.sums.tolist(), simulated.now()) == ([0.0, 9.0], 4.0)
        assert simulated.wait(math.inf).arms.size == 0
        assert (simulated.pulls, simulated.spent(NOTHING, NO_ARMS)) == (16, 16)

    def test_pulls_of_an_arm_that_fell_meanwhile_are_wasted(self) -> None:
        simulated, _ = runner()
        simulated.pursue(due_round({0: 4, 3: 12}, due=[1, 3]))
        simulated.wait(math.inf)
        simulated.pursue(due_round({3: 9}, due=[9]))
        assert simulated.wait(math.inf).arms.tolist() == [3]
        assert (simulated.pulls, simulated.spent(NOTHING, NO_ARMS)) == (16, 4 + 9 + 3)

    def test_more_than_was_run_is_started(self) -> None:
        simulated, _ = runner()
        simulated.pursue(due_round({0: 4, 3: 12}, due=[1, 3]))
        simulated.wait(math.inf)
        simulated.pursue(due_round({3: 25}, due=[25]))
        assert simulated.wait(math.inf).pulls.tolist() == [25]
        assert (simulated.now(), simulated.pulls) == (8.0, 32)  # 9 were there, 16 more took 4 s

    def test_each_value_comes_with_the_seed_that_all_share(self) -> None:
        def evaluate(arm: float, *, seed: int) -> float:
            return arm + seed

        problem = Evaluated(evaluate, [0.0, 1.0], sigma=1.0)
        simulated = VirtualRunner(problem, PowerLaw(0.5), np.random.default_rng(0))
        simulated.pursue(due_round({0: 5, 1: 5}, due=[2, 2], each=True))
        first = simulated.wait(math.inf).values
        simulated.pursue(due_round({0: 3, 1: 3}, due=[3, 3], each=True))
        second = simulated.wait(math.inf).values
        assert first is not None
        assert second is not None
        both = np.hstack([first, second])
        assert (both[1] - both[0]).tolist() == [1.0] * 5
        assert np.unique(both[0]).size == 5


# Rounds that say until when they last.


def test_a_boxed_round_ends_early_or_at_its_time_and_a_deadline_is_no_end() -> None:
    runner = VirtualRunner(Bernoulli([1.0, 1.0]), PowerLaw(1.0), np.random.default_rng(0))
    runner.pursue(Round(np.array([0, 1]), np.array([2, 2]), Until(10.0)))
    early = runner.wait(10.0)
    assert (runner.now(), early.total) == (4.0, 4)
    runner.pursue(Round(np.array([0, 1]), np.array([6, 6]), Until(10.0)))
    late = runner.wait(10.0)
    assert (runner.now(), late.total, late.last) == (10.0, 0, True)
    runner.pursue(Round(np.array([0]), np.array([6]), Until(90.0)))
    assert [span.arm for span in runner.under_way()] == [0], "of the arm that fell they are gone"
    deadline = runner.wait(12.0)
    assert (runner.now(), deadline.total, deadline.last) == (12.0, 0, False)
