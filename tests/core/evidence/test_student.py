"""The caution of the t tests: scores are only lowered and falls delayed, where that is wise."""

import numpy as np
import pytest

from benchmarks.robustness import PlainPairedStudent, PlainStudent, play
from paceline.core.arrays import Floats
from paceline.core.evidence.group_sequential import GroupSequential
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.rounds import Results
from tests.statistical.test_guarantee import refutes

KINDS = pytest.mark.parametrize(
    ("kind", "plain"), [(Student, PlainStudent), (PairedStudent, PlainPairedStudent)]
)
DELTA = 0.05


def take(evidence: GroupSequential, values: Floats) -> list[int]:
    """Tell the values of the arms alive up to the next look; who falls."""
    cell = values[evidence.alive, evidence.depth : evidence.next_look()]
    apart = cell - cell.mean(axis=1, keepdims=True)
    fresh = Results(
        evidence.alive,
        np.full(evidence.alive.size, cell.shape[1]),
        cell.sum(axis=1),
        (cell**2).sum(axis=1),
        (apart**2).sum(axis=1),
        cell if isinstance(evidence, PairedStudent) else None,
        cubes=(apart**3).sum(axis=1),
    )
    return [int(arm) for arm in evidence.take(fresh)]


def falls(evidence: GroupSequential, values: Floats) -> dict[int, int]:
    """The depth at which each arm falls."""
    found: dict[int, int] = {}
    while evidence.alive.size > 1 and evidence.next_look() <= values.shape[1]:
        for arm in take(evidence, values):
            found[arm] = evidence.depth
    return found


@KINDS
def test_caution_never_puts_an_arm_out_earlier(
    kind: type[GroupSequential], plain: type[GroupSequential]
) -> None:
    """In the first cell that differs; later ones have other opponents."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        skew = rng.integers(0, 3)
        values = rng.normal(0, 1, (4, 12)) + np.array([[1.5], [0.5], [0.0], [-1.0]])
        values = np.exp(values) if skew == 1 else -np.exp(-values) if skew == 2 else values
        ours, theirs = kind(4, DELTA), plain(4, DELTA)
        for _ in range(3):
            out, plainly = set(take(ours, values)), set(take(theirs, values))
            assert out <= plainly
            if out != plainly:
                break
            assert (ours.total <= theirs.total + 1e-9).all()


@KINDS
def test_arms_that_never_vary_do_not_decide_early(
    kind: type[GroupSequential], plain: type[GroupSequential]
) -> None:
    still = np.repeat([[1.0], [2.0], [3.0]], 100, axis=1)
    assert min(falls(kind(3, DELTA), still).values()) == 41  # the first look from 30 on
    assert max(falls(plain(3, DELTA), still).values()) < 30
    # Among others that do, one waits longer still.
    mixed = np.random.default_rng(2).normal(9.0, 0.1, (3, 100))
    mixed[2] = 5.0
    assert falls(kind(3, DELTA), mixed)[2] == 62
    assert falls(plain(3, DELTA), mixed)[2] < 30


@KINDS
def test_what_an_arm_has_shown_is_not_forgotten(
    kind: type[GroupSequential], plain: type[GroupSequential]
) -> None:
    """A jackpot in the first cell: then all is quiet, and the rival a little higher each time."""
    rng = np.random.default_rng(3)
    values = rng.normal(0, 0.01, (2, 200)) + np.array([[0.0], [0.5]])
    values[0, 4] += 100.0
    assert falls(plain(2, DELTA), values)[0] < 30
    assert 0 not in falls(kind(2, DELTA), values)


@KINDS
@pytest.mark.parametrize(("sign", "harmful"), [(1.0, True), (-1.0, False)])
def test_only_skewness_that_makes_an_arm_look_worse_holds_it_back(
    kind: type[GroupSequential], plain: type[GroupSequential], sign: float, harmful: bool
) -> None:
    rng = np.random.default_rng(4)
    held, races = 0, 100
    for _ in range(races):
        values = np.array([sign * rng.exponential(1, 27), rng.normal(sign, 0.1, 27) + 1.5])
        ours, theirs = falls(kind(2, DELTA), values), falls(plain(2, DELTA), values)
        held += ours.get(0, 99) > theirs.get(0, 99)
    assert (held > 0.3 * races) is harmful


@pytest.mark.parametrize("kind", [Student, PairedStudent])
def test_the_best_of_skewed_arms_is_lost_less_often(kind: type[GroupSequential]) -> None:
    """Exponential values against a quiet rival; the plain t test is refuted at 5 %."""
    rng = np.random.default_rng(5)
    plain = PlainStudent if kind is Student else PlainPairedStudent
    races = [
        np.array([rng.lognormal(0, 1, 400), rng.normal(0.96 * np.exp(0.5), 0.1, 400)])
        for _ in range(300)
    ]
    before = sum(play(plain(2, DELTA), values).lost for values in races)
    now = sum(play(kind(2, DELTA), values).lost for values in races)
    assert refutes(before, 300, DELTA)
    assert now < 0.75 * before
