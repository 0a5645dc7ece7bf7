import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paceline.policies.elimination import judge

intervals = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), min_size=2, max_size=7)


def as_printed(low: list[float], high: list[float], wanted: int) -> tuple[set[int], set[int]]:
    """The remark on top-k, arm by arm, with the stop at as many survivors as are wanted."""
    arms = range(len(low))
    accept = {
        i
        for i in arms
        if low[i] > sorted((high[j] for j in arms if j != i), reverse=True)[wanted - 1]
    }
    reject = {i for i in arms if high[i] <= sorted(low, reverse=True)[wanted - 1]}
    if len(low) - len(reject) <= wanted:
        accept = set(arms) - reject
    return accept, reject


@given(arms=intervals, wanted=st.integers(1, 3))
def test_it_is_the_rule_of_the_paper(arms: list[tuple[int, int]], wanted: int) -> None:
    low = [float(start) for start, _ in arms]
    high = [float(start + width) for start, width in arms]
    if len(arms) <= wanted:
        return
    accept, reject = judge(np.array(low), np.array(high), wanted)
    found = (set(np.flatnonzero(accept).tolist()), set(np.flatnonzero(reject).tolist()))
    assert found == as_printed(low, high, wanted)


@given(arms=intervals, wanted=st.integers(1, 3), tolerance=st.integers(0, 5), data=st.data())
def test_no_decision_is_wrong_while_the_intervals_hold(
    arms: list[tuple[int, int]], wanted: int, tolerance: int, data: st.DataObject
) -> None:
    low = np.array([float(start) for start, _ in arms])
    high = np.array([float(start + width) for start, width in arms])
    if low.size <= wanted:
        return
    means = np.array([data.draw(st.floats(a, b)) for a, b in zip(low, high, strict=True)])
    accept, reject = judge(low, high, wanted, float(tolerance))
    kth_best = np.sort(means)[-wanted]
    assert (means[accept] >= kth_best - tolerance).all()
    # What is thrown out is no better than the k-th best; what is left can still fill the places.
    assert (means[reject] <= kth_best).all()
    assert accept.sum() <= wanted
    assert low.size - reject.sum() >= wanted


def test_a_tolerance_takes_no_more_than_wanted() -> None:
    accept, _ = judge(np.array([0.5, 0.49, 0.48]), np.array([0.6, 0.6, 0.6]), 1, tolerance=0.5)
    assert accept.tolist() == [True, False, False]


def test_intervals_too_narrow_for_floats_still_leave_a_winner() -> None:
    low = np.array([1e17, 0.0, 0.0])
    accept, reject = judge(low, low, wanted=1)
    assert accept.tolist() == [True, False, False]
    assert reject.tolist() == [False, True, True]
