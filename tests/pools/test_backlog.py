"""Every wanted pull goes out once, and no other, whatever is wanted, taken and given back."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paceline.engines.jobs import Run, advance, in_turn, split
from paceline.pools.backlog import Backlog

ARMS = 4
Pull = tuple[int, int]


def pulls_of(runs: list[Run]) -> list[Pull]:
    return [(run.arm, run.first + i) for run in runs for i in range(run.pulls)]


class Model:
    """What the backlog should do, by counting pulls one by one."""

    def __init__(self) -> None:
        self.backlog = Backlog(ARMS)
        self.until = [0] * ARMS
        self.out: list[Run] = []  # given out and neither done nor back
        self.gone: set[Pull] = set()  # out, or done

    def want(self, until: list[int]) -> None:
        self.until = until
        # An arm of which nothing more is asked is not named.
        self.backlog.want([(arm, end) for arm, end in enumerate(until) if end])

    def wanted(self) -> set[Pull]:
        return {(arm, pull) for arm, end in enumerate(self.until) for pull in range(end)}

    def take(self, most: int) -> list[Run]:
        runs = self.backlog.take(most)
        pulls = pulls_of(runs)
        assert len(set(pulls)) == len(pulls)
        assert not self.gone.intersection(pulls), "given out twice"
        assert all(self.backlog.is_wanted(run) for run in runs)
        assert self.wanted().issuperset(pulls), "nobody asked for it"
        self.gone.update(pulls)
        self.out += runs
        return runs

    def give_back(self, runs: list[Run], *, alone: bool) -> None:
        for run in runs:
            self.out.remove(run)
        self.gone.difference_update(pulls_of(runs))
        self.backlog.give_back(runs, alone=alone)


@given(st.data())
def test_every_wanted_pull_goes_out_exactly_once(data: Any) -> None:
    model = Model()
    for _ in range(data.draw(st.integers(1, 25))):
        action = data.draw(st.sampled_from(["want", "take", "take", "done", "back", "alone"]))
        if action == "want":
            model.want(data.draw(st.lists(st.integers(0, 9), min_size=ARMS, max_size=ARMS)))
        elif action == "take":
            model.take(data.draw(st.integers(1, 6)))
        elif model.out:
            run = data.draw(st.sampled_from(model.out))
            if action == "done":
                model.out.remove(run)
            else:
                model.give_back([run], alone=action == "alone")
        # What came back is counted as it was, though it may end with pulls that are not wanted.
        missing = len(model.wanted() - model.gone)
        assert model.backlog.waiting >= missing
        assert (model.backlog.waiting == 0) == (missing == 0)
    while model.backlog.waiting:
        before = model.backlog.waiting
        assert model.take(data.draw(st.integers(1, 6)))
        assert model.backlog.waiting < before
    assert model.wanted() <= model.gone
    assert model.backlog.take(5) == []


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.data())
def test_only_what_is_wanted_goes_out_and_never_more_than_asked_for(
    until: list[int], data: Any
) -> None:
    backlog = Backlog(len(until))
    backlog.want(list(enumerate(until)))
    assert backlog.waiting == sum(until)
    taken: list[Pull] = []
    while backlog.waiting:
        most = data.draw(st.integers(1, 8))
        some = pulls_of(backlog.take(most))
        assert len(some) == min(most, sum(until) - len(taken))
        taken += some
    assert sorted(taken) == [(arm, pull) for arm, end in enumerate(until) for pull in range(end)]


@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 40))
def test_the_arms_take_turns(arms: int, each: int, taken: int) -> None:
    """Breadth first: after any number of single pulls no arm is two ahead of another."""
    backlog = Backlog(arms)
    backlog.want([(arm, each) for arm in range(arms)])
    counts = Counter(dict.fromkeys(range(arms), 0))
    for _ in range(min(taken, arms * each)):
        (run,) = backlog.take(1)
        counts[run.arm] += run.pulls
        assert max(counts.values()) - min(counts.values()) <= 1


def test_in_a_group_too_the_arms_take_turns_pull_by_pull() -> None:
    backlog = Backlog(3)
    backlog.want([(0, 10), (1, 10), (2, 10)])
    runs = backlog.take(7)
    assert runs == [Run(0, 0, 3), Run(1, 0, 2), Run(2, 0, 2)]
    assert [arm for arm, _ in in_turn(runs)] == [0, 1, 2, 0, 1, 2, 0]


@given(
    st.lists(st.builds(Run, st.integers(0, 3), st.integers(0, 50), st.integers(1, 5))), st.data()
)
def test_what_is_done_and_what_is_left_of_a_job_are_its_pulls_in_turn(
    job: list[Run], data: Any
) -> None:
    """Whatever was reported, the worker goes on with the first of what is left."""
    job = [Run(place, run.first, run.pulls) for place, run in enumerate(job)]
    order = in_turn(job)
    number = data.draw(st.integers(0, len(order)))
    value = {pull: float(at) for at, pull in enumerate(order)}
    reported = [value[pull] for pull in order[:number]]
    done, values, seconds, left = advance(job, reported, reported)
    assert [value[pull] for pull in pulls_of(done)] == values == seconds
    assert sorted(pulls_of(done)) == sorted(order[:number])
    assert in_turn(left) == order[number:]


def test_single_pulls_of_the_arms_go_forth_and_back() -> None:
    """A steady drift then adds the same to all arms: their places in time have the same mean."""
    backlog = Backlog(3)
    backlog.want([(0, 10), (1, 10), (2, 10)])
    taken = [pull for _ in range(12) for pull in pulls_of(backlog.take(1))]
    assert [arm for arm, _ in taken] == [0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0]
    times = {
        arm: sum(time for time, (one, _) in enumerate(taken) if one == arm) for arm in range(3)
    }
    assert len(set(times.values())) == 1


def test_an_arm_with_more_to_do_is_pulled_more_often_not_longer() -> None:
    backlog = Backlog(3)
    backlog.want([(0, 40), (1, 10), (2, 10)])
    for done in range(6, 61, 6):
        counts = Counter(dict.fromkeys(range(3), 0))
        counts.update(arm for arm, _ in pulls_of(backlog.take(6)))
        assert abs(counts[0] - 4) <= 1, done
        assert abs(counts[1] - counts[2]) <= 1


def test_an_arm_with_less_to_do_does_not_stop_the_others() -> None:
    backlog = Backlog(3)
    backlog.want([(0, 1), (1, 5), (2, 0)])
    assert sorted(pulls_of(backlog.take(6))) == [(0, 0)] + [(1, pull) for pull in range(5)]


def test_the_arms_take_turns_though_the_wish_is_renewed_in_mid_round() -> None:
    """After every look the policy asks for what is still missing, which is the same pulls."""
    arms, backlog = 5, Backlog(5)
    counts = Counter(dict.fromkeys(range(arms), 0))
    for _ in range(20):
        backlog.want([(arm, 100) for arm in range(arms)])
        for _ in range(arms + 1):
            (run,) = backlog.take(1)
            counts[run.arm] += 1
    assert max(counts.values()) - min(counts.values()) <= 2


def test_what_came_back_goes_out_first_and_only_while_it_is_wanted() -> None:
    backlog = Backlog(2)
    backlog.want([(0, 5), (1, 5)])
    (first,) = backlog.take(1)
    backlog.give_back([first])
    assert backlog.take(1) == [first]
    backlog.give_back([first])
    backlog.want([(1, 5)])
    assert backlog.waiting == 5
    assert all(run.arm == 1 for run in backlog.take(5))
    assert backlog.take(1) == []
    backlog.want([(0, 1)])  # and it is not forgotten
    assert backlog.waiting == 1
    assert backlog.take(1) == [first]


def test_of_what_came_back_only_the_wanted_part_goes_out_and_the_rest_is_kept() -> None:
    backlog = Backlog(1)
    backlog.want([(0, 6)])
    backlog.give_back(backlog.take(6))
    backlog.want([(0, 2)])
    assert backlog.take(6) == [Run(0, 0, 1), Run(0, 1, 1)]
    assert backlog.waiting == 0
    assert backlog.take(6) == []
    backlog.want([(0, 7)])
    assert backlog.waiting == 5
    assert [pulls_of(backlog.take(6)) for _ in range(2)] == [
        [(0, 2), (0, 3), (0, 4), (0, 5)],
        [(0, 6)],
    ]


def test_one_by_one_means_one_by_one() -> None:
    backlog = Backlog(1)
    backlog.want([(0, 4)])
    backlog.give_back(backlog.take(4), alone=True)
    assert [backlog.take(4) for _ in range(4)] == [[Run(0, pull, 1)] for pull in range(4)]


@given(st.integers(0, 9), st.sets(st.integers(0, 8)), st.integers(0, 12))
def test_a_race_taken_up_again_does_what_is_missing(end: int, lost: set[int], until: int) -> None:
    gaps = sorted(pull for pull in lost if pull < end)
    backlog = Backlog(1)
    backlog.restore(0, end, gaps)
    backlog.want([(0, until)])
    missing = [pull for pull in range(until) if pull >= end or pull in gaps]
    assert backlog.waiting == len(missing)
    taken: list[Pull] = []
    while backlog.waiting:
        taken += pulls_of(backlog.take(3))
    assert sorted(taken) == [(0, pull) for pull in missing]


runs = st.lists(st.builds(Run, st.integers(0, 3), st.integers(0, 50), st.integers(1, 5)))


@given(runs, st.integers(0, 30))
def test_a_split_loses_and_repeats_nothing(whole: list[Run], pulls: int) -> None:
    first, others = split(whole, pulls)
    assert pulls_of(first) + pulls_of(others) == pulls_of(whole)
    assert len(pulls_of(first)) == min(pulls, len(pulls_of(whole)))
    assert all(run.pulls > 0 for run in [*first, *others])


def test_in_a_group_an_arm_with_more_pulls_is_spread_among_the_others() -> None:
    backlog = Backlog(5)
    backlog.want([(0, 300), *((arm, 100) for arm in range(1, 5))])
    arms = [arm for arm, _ in in_turn(backlog.take(70))]
    assert arms.count(0) == 30
    longest = max(len(run) for run in "".join("x" if arm == 0 else " " for arm in arms).split())
    assert longest <= 2
