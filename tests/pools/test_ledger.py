"""Whatever the order in which values come in, the policy hears the same."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.core.arrays import Floats, Ints
from paceline.core.rounds import Looks, Results, Round, Until
from paceline.core.tally import Tally
from paceline.pools.ledger import Ledger

Chunk = tuple[int, int, list[float]]  # arm, first pull, values
Told = tuple[list[int], list[int], list[float], list[float], list[float]]


def round_of(pulls: Sequence[int]) -> Round:
    """So many pulls of arms 0, 1, …, those with none left out."""
    arms = [arm for arm, count in enumerate(pulls) if count]
    counts = [pulls[arm] for arm in arms]
    return Round(np.array(arms, dtype=np.int64), np.array(counts, dtype=np.int64))


def plain(results: Results) -> Told:
    assert results.spreads is not None
    return (
        results.arms.tolist(),
        results.pulls.tolist(),
        results.sums.tolist(),
        results.squares.tolist(),
        results.spreads.tolist(),
    )


class Listener:
    """A policy with fixed rounds, which asks again for what is missing after every level."""

    def __init__(self, ledger: Ledger, arms: int, rounds: Sequence[Sequence[int]]) -> None:
        self.ledger = ledger
        self.rounds = [round_of(pulls) for pulls in rounds]
        self.heard: list[Told] = []
        self.tally = Tally.empty(arms)
        self._expect()

    def _expect(self) -> None:
        if self.rounds:
            self.ledger.expect(self.rounds[0])

    def listen(self) -> None:
        while self.rounds and (results := self.ledger.next_level()) is not None:
            self.tally.add(results)
            self.heard.append(plain(results))
            told = np.zeros(self.tally.pulls.size, dtype=np.int64)
            told[results.arms] = results.pulls
            missing = self.rounds[0]
            missing = missing.keeping(missing.pulls - told[missing.arms])
            self.rounds[:1] = [missing] if missing.total else []
            self._expect()


@st.composite
def races(draw: st.DrawFn) -> tuple[list[list[int]], list[list[float]], list[Chunk]]:
    """Rounds, values for them all and perhaps more, and these in chunks in any order."""
    arms = draw(st.integers(1, 4))
    rounds = draw(
        st.lists(
            st.lists(st.integers(0, 40), min_size=arms, max_size=arms).filter(any),
            min_size=1,
            max_size=4,
        )
    )
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    values, chunks = [], []
    for arm in range(arms):
        count = sum(pulls[arm] for pulls in rounds) + draw(st.integers(0, 3))
        mine = rng.normal(arm, 1, count).tolist()
        values.append(mine)
        cuts = np.flatnonzero(rng.random(count) < draw(st.sampled_from([0.1, 0.5, 1.0])))
        edges = sorted({0, count, *cuts.tolist()})
        chunks += [(arm, a, mine[a:b]) for a, b in pairwise(edges)]
    order = rng.permutation(len(chunks)).tolist()
    return rounds, values, [chunks[place] for place in order]


@given(races())
def test_the_order_of_arrival_changes_nothing(
    race: tuple[list[list[int]], list[list[float]], list[Chunk]],
) -> None:
    rounds, values, chunks = race
    arms = len(values)
    orderly = Ledger(arms)
    for arm, mine in enumerate(values):
        orderly.put(arm, 0, mine)
    first = Listener(orderly, arms, rounds)
    first.listen()
    shuffled = Ledger(arms)
    second = Listener(shuffled, arms, rounds)
    for chunk in chunks:
        before = len(second.heard)
        shuffled.put(*chunk)
        second.listen()
        # What is told is a prefix of what the other was told, at any time.
        assert second.heard[before:] == first.heard[before : len(second.heard)]
    assert second.heard == first.heard
    assert first.tally.pulls.tolist() == np.sum(rounds, axis=0).tolist()
    for arm, mine in enumerate(values):
        count = int(first.tally.pulls[arm])
        rewards = np.array(mine[:count])
        assert first.tally.sums[arm] == pytest.approx(rewards.sum(), abs=1e-9)
        assert first.tally.squares[arm] == pytest.approx((rewards**2).sum(), abs=1e-9)
        if count > 1:
            (variance,) = first.tally.variances(np.array([arm]))
            assert variance == pytest.approx(rewards.var(ddof=1), rel=1e-9)
        assert shuffled.values(arm).tolist() == mine


@given(races(), st.data())
def test_nothing_is_told_beyond_a_missing_pull(
    race: tuple[list[list[int]], list[list[float]], list[Chunk]], data: Any
) -> None:
    """Hold one chunk back: its arm is heard of up to there only, and no other gets far ahead."""
    rounds, values, chunks = race
    held = data.draw(st.integers(0, len(chunks) - 1))
    ledger = Ledger(len(values))
    listener = Listener(ledger, len(values), rounds)
    for place, chunk in enumerate(chunks):
        if place != held:
            ledger.put(*chunk)
            listener.listen()
    arm, start, lost = chunks[held]
    assert listener.tally.pulls[arm] <= start
    assert ledger.values(arm).tolist() == values[arm][:start]
    others = values[arm][:start] + values[arm][start + len(lost) :]
    assert ledger.values(arm, in_order=False).tolist() == others


@given(st.integers(1, 4), st.integers(1, 60), st.integers(0, 300), st.integers(0, 99))
def test_the_levels_depend_on_the_round_alone(
    arms: int, pulls: int, before: int, seed: int
) -> None:
    def levels(seed: int) -> list[tuple[list[int], list[int]]]:
        rng = np.random.default_rng(seed)
        ledger = Ledger(arms)
        for arm in range(arms):
            ledger.put(arm, 0, rng.standard_cauchy(before + pulls).tolist())
        rounds = [[before] * arms] * bool(before) + [[pulls] * arms]
        listener = Listener(ledger, arms, rounds)
        listener.listen()
        return [(heard[0], heard[1]) for heard in listener.heard]

    assert levels(seed) == levels(seed + 1)
    told = 0
    for names, counts in levels(seed):
        assert names == list(range(arms))
        assert len(set(counts)) == 1, "all arms of an even round are level"
        assert counts[0] <= max(1, 0.05 * told), "looks are frequent"
        told += counts[0]
    assert told == before + pulls


def test_a_round_without_arms_is_never_answered() -> None:
    ledger = Ledger(2)
    ledger.put(0, 0, [1.0])
    ledger.expect(round_of([0, 0]))
    assert ledger.next_level() is None
    assert ledger.leftovers(in_order=True).total == 0


def test_the_arm_that_lacks_values_may_be_any() -> None:
    """The place where values were missing is remembered: it must not hide an earlier one."""
    for late in range(3):
        ledger = Ledger(3)
        ledger.expect(round_of([2, 2, 2]))
        for arm in range(3):
            ledger.put(arm, 0, [1.0])
        assert ledger.next_level() is not None
        ledger.expect(round_of([1, 1, 1]))
        for arm in range(3):
            assert ledger.next_level() is None
            if arm != late:
                ledger.put(arm, 1, [1.0])
        assert ledger.next_level() is None
        ledger.put(late, 1, [1.0])
        assert ledger.next_level() is not None


# At the deadline.


def ledger_with_a_gap() -> Ledger:
    """Of arm 0 pulls 0, 1 and 3, 4; of arm 1 pull 1 only; of arm 2 nothing; of arm 3 pull 0."""
    ledger = Ledger(4)
    ledger.put(0, 3, [8.0, 16.0])
    ledger.put(0, 0, [1.0, 2.0])
    ledger.put(1, 1, [64.0])
    ledger.put(3, 0, [32.0])
    ledger.expect(round_of([6, 6, 6, 6]))
    return ledger


def test_leftovers_in_order_stop_at_the_first_gap() -> None:
    ledger = ledger_with_a_gap()
    assert ledger.next_level() is None
    told = plain(ledger.leftovers(in_order=True))
    assert told == ([0, 3], [2, 1], [3.0, 32.0], [5.0, 1024.0], [0.5, 0.0])
    assert ledger.leftovers(in_order=True).total == 0, "told once"


def test_leftovers_out_of_order_are_all_that_is_there_and_told_once() -> None:
    ledger = ledger_with_a_gap()
    arms, pulls, sums, *_ = plain(ledger.leftovers(in_order=False))
    assert (arms, pulls, sums) == ([0, 1, 3], [4, 1, 1], [27.0, 64.0, 32.0])
    ledger.expect(round_of([2, 5, 6, 5]))
    assert ledger.leftovers(in_order=False).total == 0


@given(st.sets(st.integers(0, 11)), st.integers(1, 12), st.booleans())
def test_leftovers_are_no_more_than_the_round_asks_for(
    there: set[int], asked: int, in_order: bool
) -> None:
    ledger = Ledger(1)
    for pull in there:
        ledger.put(0, pull, [2.0**pull])
    ledger.expect(round_of([asked]))
    results = ledger.leftovers(in_order=in_order)
    prefix = next(pull for pull in range(13) if pull not in there)
    expected = [
        pull for pull in sorted(there) if pull < (min(prefix, asked) if in_order else asked)
    ]
    assert results.total == len(expected)
    assert sum(results.sums.tolist()) == sum(2.0**pull for pull in expected)


def test_leftovers_are_told_once_though_an_earlier_policy_wanted_more() -> None:
    """The loop goes on after the deadline until nothing comes back."""
    ledger = Ledger(1)
    ledger.put(0, 0, [1.0])
    ledger.put(0, 3, [8.0, 16.0, 32.0])
    ledger.expect(round_of([5]))
    first = ledger.leftovers(in_order=False)
    assert (first.total, first.sums.tolist()) == (3, [25.0])
    ledger.expect(round_of([2]))
    assert ledger.leftovers(in_order=False).total == 0


@given(
    st.sets(st.integers(0, 19)),
    st.lists(st.integers(1, 8), min_size=1, max_size=5),
    st.booleans(),
)
def test_after_the_deadline_rounds_go_on_without_repeats(
    there: set[int], rounds: list[int], in_order: bool
) -> None:
    """The loop goes on until nothing comes back, and what leftovers complete is followed by other
    rounds; an earlier policy may have wanted more pulls than the round that this one is in."""
    ledger = Ledger(1)
    for pull in there:
        ledger.put(0, pull, [2.0**pull])
    told, heard, until = 0, 0.0, 0
    for asked in rounds:
        until += asked
        while told < until:
            ledger.expect(round_of([until - told]))
            results = ledger.leftovers(in_order=in_order)
            if not results.total:
                break
            told += results.total
            heard += float(results.sums.sum())
        if told < until:
            break
    prefix = next(pull for pull in range(21) if pull not in there)
    expected = [pull for pull in there if pull < (min(until, prefix) if in_order else until)]
    assert (told, heard) == (len(expected), sum(2.0**pull for pull in expected))


def test_what_lies_beyond_a_round_waits_for_the_next_one() -> None:
    ledger = Ledger(1)
    ledger.put(0, 0, [1.0])
    ledger.put(0, 3, [8.0, 16.0, 32.0])
    heard = []
    for asked in (3, 5):
        ledger.expect(round_of([asked]))
        heard.append(ledger.leftovers(in_order=False))
    assert [results.total for results in heard] == [1, 3]
    assert [results.sums.tolist() for results in heard] == [[1.0], [56.0]]


# Gaps and duplicates.


@given(st.sets(st.integers(0, 20)), st.randoms(use_true_random=False))
def test_gaps_are_what_is_missing_before_the_end(there: set[int], random: Any) -> None:
    ledger = Ledger(2)
    order = sorted(there)
    random.shuffle(order)
    for pull in order:
        ledger.put(1, pull, [float(pull)])
    end = max(there) + 1 if there else 0
    assert ledger.gaps(1) == (end, [pull for pull in range(end) if pull not in there])
    assert ledger.gaps(0) == (0, [])
    for pull in ledger.gaps(1)[1]:
        ledger.put(1, pull, [float(pull)])
    assert ledger.gaps(1) == (end, [])
    assert ledger.values(1).tolist() == [float(pull) for pull in range(end)]


@pytest.mark.parametrize("first", [0, 1, 4])
def test_a_pull_keeps_the_first_value_it_was_given(first: int) -> None:
    ledger = Ledger(1)
    ledger.put(0, 0, [0.5, 0.25])
    ledger.put(0, 4, [0.125])
    ledger.put(0, first, [99.0])
    assert ledger.values(0, in_order=False).tolist() == [0.5, 0.25, 0.125]


# Beginning again.


@given(races(), st.data())
def test_another_policy_hears_everything_from_the_start(
    race: tuple[list[list[int]], list[list[float]], list[Chunk]], data: Any
) -> None:
    rounds, values, chunks = race
    ledger = Ledger(len(values))
    listener = Listener(ledger, len(values), rounds)
    for chunk in chunks[: data.draw(st.integers(0, len(chunks)))]:
        ledger.put(*chunk)
        listener.listen()
    for chunk in chunks:
        ledger.put(*chunk)
    racing = np.flatnonzero([bool(mine) for mine in values])
    racing = racing[data.draw(st.integers(0, racing.size - 1)) :]
    ledger.begin(racing)
    counts = [len(values[arm]) for arm in racing.tolist()]
    again = Listener(ledger, racing.size, [counts])
    assert ledger.wanted_until(round_of(counts)) == list(zip(racing.tolist(), counts, strict=True))
    again.listen()
    assert again.tally.pulls.tolist() == counts
    for place, arm in enumerate(racing.tolist()):
        mean = again.tally.sums[place] / counts[place]
        assert mean == pytest.approx(np.mean(values[arm]), abs=1e-9)


# Signs and offsets.


def told_all(values: Sequence[Floats], sign: float = 1.0) -> Tally:
    ledger = Ledger(len(values), sign)
    listener = Listener(ledger, len(values), [[mine.size for mine in values]])
    for arm, mine in enumerate(values):
        ledger.put(arm, 0, mine.tolist())
    listener.listen()
    return listener.tally


@settings(max_examples=25)
@given(st.floats(-100, 100), st.integers(0, 99))
def test_low_values_can_be_good(offset: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [rng.normal(offset, 1, 30), rng.normal(offset + 1, 2, 30)]
    up, down = told_all(values), told_all(values, -1.0)
    assert down.sums.tolist() == (-up.sums).tolist()
    assert down.squares.tolist() == up.squares.tolist()
    arms: Ints = np.arange(2)
    exact = [mine.mean() for mine in values]
    assert -down.means(arms) == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_bernoulli_values_are_told_as_they_are() -> None:
    values = [np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])]
    tally = told_all(values)
    assert (tally.sums.tolist(), tally.squares.tolist()) == ([2, 1], [2, 1])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_large_offset_does_not_drown_the_spread(sign: float) -> None:
    rng = np.random.default_rng(0)
    values = [place + rng.normal(0, 1e-3, 400) for place in (1e9, 0.5, 1e6)]  # a penalty among them
    arms: Ints = np.arange(3)
    tally = told_all(values, sign)
    exact = [mine.var(ddof=1) for mine in values]
    assert tally.variances(arms) == pytest.approx(exact, rel=1e-3)
    assert sign * tally.means(arms) == pytest.approx([mine.mean() for mine in values], rel=1e-15)
    # The control: of the plain squares nothing is left.
    tally.spreads = None
    assert tally.variances(arms)[0] != pytest.approx(1e-6, rel=0.5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_penalty_for_one_arm_leaves_the_spread_of_the_others(sign: float) -> None:
    rng = np.random.default_rng(0)
    values = [np.full(200, 1e6), rng.normal(0.5, 1e-3, 200), rng.normal(0.6, 2e-3, 200)]
    variances = told_all(values, sign).variances(np.arange(3))
    assert variances[0] == 0.0
    expected = [mine.var(ddof=1) for mine in values[1:]]
    assert variances[1:] == pytest.approx(expected, rel=1e-9)


@given(st.floats(-1e12, 1e12), st.integers(2, 80))
def test_the_same_value_again_and_again_has_no_spread(value: float, pulls: int) -> None:
    """However the sums are rounded: next to nothing would pass for certainty."""
    assert told_all([np.full(pulls, value)]).variances(np.arange(1)).tolist() == [0.0]


def test_the_same_value_very_often_has_no_spread_either() -> None:
    values = [np.full(300, -0.00037220278556357363)]
    assert told_all(values).variances(np.arange(1)).tolist() == [0.0]


class TestWhatIsDue:
    """A policy may say of how many pulls of each arm it is to hear next."""

    def ledger(self) -> Ledger:
        ledger = Ledger(arms=2)
        ledger.put(0, 0, [1.0, 2.0, 3.0, 4.0])
        ledger.put(1, 0, [5.0, 6.0])
        return ledger

    def wanted(self, pulls: list[int], due: list[int], *, each: bool = False) -> Round:
        return Round(np.arange(2), np.array(pulls), Looks(np.array(due), each))

    def test_it_is_told_at_once_and_nothing_with_it(self) -> None:
        ledger = self.ledger()
        ledger.expect(self.wanted([4, 4], due=[4, 2]))
        results = ledger.next_level()
        assert results is not None
        assert (results.pulls.tolist(), results.sums.tolist()) == ([4, 2], [10.0, 11.0])

    def test_it_waits_for_the_slowest_arm(self) -> None:
        ledger = self.ledger()
        ledger.expect(self.wanted([4, 4], due=[1, 3]))
        assert ledger.next_level() is None
        ledger.put(1, 2, [7.0])
        assert ledger.next_level() is not None

    def test_each_value_is_given_if_asked_for_pull_by_pull(self) -> None:
        ledger = self.ledger()
        ledger.expect(self.wanted([4, 4], due=[2, 2], each=True))
        results = ledger.next_level()
        assert results is not None
        assert results.values is not None
        assert results.values.tolist() == [[1.0, 2.0], [5.0, 6.0]]

    def test_values_of_an_arm_that_fell_are_counted_as_wasted(self) -> None:
        ledger = self.ledger()
        ledger.expect(self.wanted([4, 4], due=[2, 2]))
        ledger.next_level()
        assert ledger.spent({0, 1}) == 4
        assert ledger.spent({1}) == 4 + 2  # arm 0 had two more


# Rounds that say until when they last.


def boxed(pulls: Sequence[int], until: float = 9.0) -> Round:
    """So many pulls of arms 0, 1, …, also none."""
    return Round(np.arange(len(pulls)), np.array(pulls, dtype=np.int64), Until(until))


Arrival = tuple[int, int]  # arm, pull


@st.composite
def boxed_races(draw: st.DrawFn) -> list[tuple[list[int], list[Arrival]]]:
    """Rounds of as many pulls, each with those that come in while it lasts, in any order."""
    arms = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    asked = np.zeros(arms, dtype=np.int64)
    there: set[Arrival] = set()
    rounds = []
    for _ in range(draw(st.integers(1, 5))):
        pulls = draw(st.lists(st.integers(0, 8), min_size=arms, max_size=arms).filter(any))
        asked += pulls
        under_way = [
            (arm, pull)
            for arm in range(arms)
            for pull in range(int(asked[arm]))
            if (arm, pull) not in there
        ]
        share = draw(st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.0]))
        came = [one for one in under_way if rng.random() < share]
        rng.shuffle(came)
        there.update(came)
        rounds.append((pulls, [(int(arm), int(pull)) for arm, pull in came]))
    return rounds


def number_of(arm: int, pull: int) -> float:
    return float(2**pull + 0.25 * arm)


@given(boxed_races())
def test_a_boxed_round_tells_what_is_back_whichever_pulls_these_are_and_each_once(
    rounds: list[tuple[list[int], list[Arrival]]],
) -> None:
    arms = len(rounds[0][0])
    live, tally = Ledger(arms), Tally.empty(arms)
    for pulls, came in rounds:
        live.expect(boxed(pulls))
        told = None
        for place, (arm, pull) in enumerate(came):
            told = live.next_level()
            if told is not None:  # as many of every arm as were asked for: it ends at once
                for later in came[place:]:
                    live.put(*later, [number_of(*later)])
                break
            live.put(arm, pull, [number_of(arm, pull)])
        told = told or live.next_level()
        if told is None:
            told = live.close()
        else:
            counts = dict(zip(told.arms.tolist(), told.pulls.tolist(), strict=True))
            assert all(counts.get(arm, 0) >= count for arm, count in enumerate(pulls))
        assert told.last
        tally.add(told)
    came_so_far = [one for _, came in rounds for one in came]
    # What came in after an early end is told by a round that asks for nothing more.
    live.expect(boxed([0] * arms))
    tally.add(live.close())
    for arm in range(arms):
        mine = [pull for other, pull in came_so_far if other == arm]
        assert tally.pulls[arm] == len(mine)
        assert tally.sums[arm] == sum(number_of(arm, pull) for pull in mine)
    asked = int(np.sum([pulls for pulls, _ in rounds]))
    assert live.skipped == asked - len(came_so_far)


@given(boxed_races(), st.integers(0, 5))
def test_a_replay_with_what_was_known_then_tells_the_same(
    rounds: list[tuple[list[int], list[Arrival]]], extra: int
) -> None:
    """Though by now much more is known, and all of it from the start."""
    arms = len(rounds[0][0])
    live = Ledger(arms, sign=-1.0)
    told, known = [], []
    for pulls, came in rounds:
        live.expect(boxed(pulls))
        for arm, pull in came:
            live.put(arm, pull, [number_of(arm, pull)])
        told.append(plain(live.close()))
        known.append(live.snapshot())
    again = Ledger(arms, sign=-1.0)
    for arm in range(arms):
        count = int(np.sum([pulls[arm] for pulls, _ in rounds])) + extra
        again.put(arm, 0, [number_of(arm, pull) for pull in range(count)])
    for (pulls, _), heard, then in zip(rounds, told, known, strict=True):
        again.expect(boxed(pulls))
        results = again.close(then)
        assert results.last
        assert plain(results) == heard
    assert again.skipped == live.skipped


def test_skipped_pulls_count_when_they_come_and_count_as_asked_for() -> None:
    ledger = Ledger(2)
    ledger.expect(boxed([3, 3]))
    ledger.put(0, 0, [1.0])
    ledger.put(0, 2, [4.0])
    ledger.put(1, 0, [10.0, 20.0, 40.0])
    assert ledger.next_level() is None
    first = plain(ledger.close())
    assert first[:3] == ([0, 1], [2, 3], [5.0, 70.0])
    assert ledger.skipped == 1
    assert ledger.wanted_until(boxed([2, 0])) == [(0, 5), (1, 3)]
    ledger.expect(boxed([2, 0]))
    ledger.put(0, 1, [2.0])
    assert ledger.next_level() is None, "one of the two that were asked for is not there"
    ledger.put(0, 4, [16.0])
    second = ledger.next_level()
    assert second is not None
    assert second.last
    assert plain(second)[:3] == ([0], [2], [18.0])
    assert ledger.skipped == 1
    ledger.expect(boxed([1, 1]))
    ledger.put(0, 3, [8.0])
    assert plain(ledger.close())[:3] == ([0], [1], [8.0])
    assert ledger.skipped == 2


def test_a_boxed_round_of_which_nothing_is_back_is_empty_and_the_last() -> None:
    ledger = Ledger(2)
    ledger.expect(boxed([2, 2]))
    nothing = ledger.close()
    assert (nothing.total, nothing.last, ledger.skipped) == (0, True, 4)
    Tally.empty(2).add(nothing)


def test_skipped_pulls_of_arms_that_fall_are_counted_once() -> None:
    """Told or not, no pull may be counted below 0: a cap on pulls rests on it."""
    ledger = Ledger(2)
    ledger.expect(boxed([5, 5]))
    ledger.put(0, 0, [1.0, 1.0, 1.0])
    ledger.put(0, 4, [1.0])
    ledger.put(1, 0, [1.0] * 5)
    assert (ledger.close().total, ledger.skipped) == (9, 1)
    ledger.expect(Round(np.array([1]), np.array([5]), Until(20.0)))
    assert ledger.spent({1}) == 10
    assert ledger.skipped == 1


def test_another_policy_forgets_what_was_skipped() -> None:
    ledger = Ledger(2)
    ledger.expect(boxed([2, 2]))
    ledger.put(0, 1, [1.0])
    ledger.close()
    ledger.begin(np.array([0]))
    assert ledger.skipped == 0
    ledger.expect(boxed([2]))
    assert plain(ledger.close())[:3] == ([0], [1], [1.0])


def test_many_pulls_are_counted_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result asks whether that was all: it must not look through all others each time."""
    ledger, pulls = Ledger(1), 20_000
    ledger.expect(boxed([pulls]))
    looked = []
    back = Ledger._back

    def spy(self: Ledger, *given: Any) -> list[int]:
        looked.append(given)
        return back(self, *given)

    monkeypatch.setattr(Ledger, "_back", spy)
    for pull in reversed(range(pulls)):
        assert ledger.next_level() is None
        ledger.put(0, pull, [1.0])
    assert ledger.next_level() is not None
    assert len(looked) <= 3


def test_an_arm_that_is_asked_for_again_has_not_fallen() -> None:
    """In a replay all is known from the start; a policy that asks for one arm after the other must
    not be told, round by round, that more and more is lost."""
    ledger = Ledger(2)
    for arm in range(2):
        ledger.put(arm, 0, [1.0] * 20)
    for number in range(20):
        ledger.expect(Round(np.array([number % 2]), np.array([1])))
        assert ledger.spent({number % 2}) <= 40
        assert ledger.next_level() is not None
    ledger.expect(Round(np.array([0]), np.array([1])))
    assert ledger.spent({0}) == 20 + 10, "of the other arm"
    assert ledger.spent({1}) == 20 + 10
