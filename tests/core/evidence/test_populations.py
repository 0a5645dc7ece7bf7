import numpy as np
import pytest

from paceline.core.evidence.populations import Populations
from paceline.core.rounds import Results


def made(sizes: list[int], seen: int = 20, start: int = 0) -> Populations:
    arms = len(sizes)
    return Populations(np.array(sizes), np.full(arms, seen), np.zeros(arms), start)


def some(arms: list[int], pulls: list[int], means: list[float]) -> Results:
    count = np.array(pulls)
    sums = count * np.array(means)
    return Results(np.array(arms), count, sums, sums**2, np.zeros(len(arms)))


def test_looks_get_further_apart_and_end_with_the_largest_population() -> None:
    one = made([100, 3000], start=12)
    steps = np.diff(np.r_[20, one.looks, 3000])
    assert (steps[:-1] >= 4).all()
    assert (steps[:-1] <= 0.1 * one.looks + 14).all()
    assert one.next_depth == 12 + one.looks[0]
    assert one.depths[-1] == 12 + 3000
    assert sum(one.shares) == pytest.approx(1.0)


def test_if_all_has_been_seen_there_is_nothing_left_to_look_at() -> None:
    one = made([20, 20])
    assert one.looks.size == 0
    assert one.next_depth == 20


def test_what_a_cell_shows_is_unbiased_and_less_noisy_as_the_end_comes() -> None:
    """Sampled without replacement from the same values again and again."""
    rng, size, seen, fresh = np.random.default_rng(0), 60, 30, 20
    values = rng.normal(0.0, 1.0, size)
    found = []
    known = values[:seen].sum()
    for _ in range(4000):
        rest = rng.permutation(values[seen:])[:fresh]
        one = Populations(np.array([size, 999]), np.full(2, seen), np.full(2, known), 0)
        cell = one.cell(np.arange(2), some([0, 1], [fresh, fresh], [rest.mean(), 0.0]))
        found.append(cell.estimates[0])
    assert np.mean(found) == pytest.approx(values.mean(), abs=5e-3)
    left = values[seen:].var(ddof=1)  # what chance is left, given what the rest has
    assert np.var(found) == pytest.approx(cell.factors[0] * left, rel=0.1)


def test_who_is_known_needs_no_fresh_values_and_has_no_noise() -> None:
    one = made([20, 60])
    one.sums[:] = 10.0, 0.0
    cell = one.cell(np.arange(2), some([1], [15], [0.2]))
    assert cell.factors[0] == 0
    assert cell.factors[1] > 0
    assert cell.estimates[0] == 0.5
    assert np.isfinite(cell.weights).all()
    one.add(some([1], [40], [0.2]))
    assert one.left(np.arange(2)).tolist() == [0, 0]


def test_known_arms_below_enough_known_others_are_beaten() -> None:
    one = made([20, 20, 20, 60])
    one.sums[:] = 1.0, 3.0, 2.0, -9.0
    assert one.beaten(np.arange(4), top=1).tolist() == [1, 0, 1, 0]
    assert one.beaten(np.arange(4), top=2).tolist() == [1, 0, 0, 0]
    assert one.beaten(np.array([2, 3]), top=1).tolist() == [0, 0]


def test_bars_fall_as_the_level_rises() -> None:
    one, arms = made([400, 900]), np.arange(2)
    for look in range(0, one.looks.size, 4):
        heights = [one.heights(level, look, arms) for level in (0.001, 0.01, 0.1, 0.4)]
        assert (np.diff(heights, axis=0) < 0).all()
