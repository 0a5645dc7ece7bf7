"""Evidence that comes to an end: what it promises about W, the best of the populations."""

from collections.abc import Callable

import numpy as np
import pytest

from paceline.core.arrays import Floats
from paceline.core.evidence import closing
from paceline.core.evidence.closed import ClosedPairs, ClosedSigma, ClosedStudent
from paceline.core.evidence.closing import Closing
from paceline.core.evidence.populations import Populations
from paceline.core.rounds import Results
from tests.statistical.test_guarantee import refutes

DELTA, EPSILON, ARMS, RUNS = 0.5, 0.15, 6, 100

KINDS: dict[str, Callable[[int], Closing]] = {
    "σ known": lambda top: ClosedSigma(ARMS, DELTA, 1.0, tolerance=EPSILON, top=top),
    "σ unknown": lambda top: ClosedStudent(ARMS, DELTA, tolerance=EPSILON, top=top),
    "paired": lambda top: ClosedPairs(ARMS, DELTA, tolerance=EPSILON, top=top),
}


def told(evidence: Closing, values: Floats, times: int = 1) -> Results:
    """What is due, from rows of all values that there will be; `times` as much of the leader."""
    alive, room = evidence.alive, evidence.room()
    pulls = np.full(alive.size, evidence.next_look() - evidence.depth)
    if not evidence.even:
        pulls[np.argmax(evidence.tally.means(alive))] *= times
    if room is not None:
        pulls = np.minimum(pulls, room)
    alive, pulls = alive[pulls > 0], pulls[pulls > 0]
    taken = evidence.tally.pulls[alive]
    rows = [values[a, n : n + m] for a, n, m in zip(alive, taken, pulls, strict=True)]
    return Results(
        alive,
        pulls,
        np.array([row.sum() for row in rows]),
        np.array([(row**2).sum() for row in rows]),
        np.array([row.var() * row.size for row in rows]),
        np.stack(rows) if np.ptp(pulls) == 0 else None,
        cubes=np.array([((row - row.mean()) ** 3).sum() for row in rows]),
    )


def race(kind: str, values: Floats, top: int = 1) -> tuple[Closing, list[int]]:
    """The evidence at its end, and who was in when the populations were settled."""
    evidence, settled = KINDS[kind](top), list(range(ARMS))
    while evidence.alive.size > top:
        evidence.take(told(evidence, values, times=1 if kind == "paired" else 2))
        if evidence.populations is None or evidence.populations.look == 0:
            settled = evidence.alive.tolist()
    return evidence, settled


def lost(kind: str, runs: int = RUNS, top: int = 1) -> int:
    """In how many races of arms that tie one of the best of the populations was not returned."""
    errors = 0
    for seed in range(runs):
        values = np.random.default_rng(seed).normal(0.0, 1.0, (ARMS, 6000))
        evidence, settled = race(kind, values, top)
        populations = evidence.populations
        if populations is None:
            continue
        start = populations.start
        means = {a: values[a, start : start + populations.sizes[a]].mean() for a in settled}
        best = sorted(means, key=lambda arm: -means[arm])[:top]
        errors += not set(best) <= set(evidence.alive.tolist())
    return errors


@pytest.mark.parametrize("top", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_the_populations_is_seldom_lost(kind: str, top: int) -> None:
    """Although the arms tie, and most of them fall before the end."""
    assert not refutes(lost(kind, top=top), RUNS, closing.SECOND * DELTA)


@pytest.mark.parametrize("kind", KINDS)
def test_control_lower_bars_lose_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heights = Populations.heights
    monkeypatch.setattr(Populations, "heights", lambda *given: 0.4 * heights(*given))
    assert refutes(lost(kind), RUNS, closing.SECOND * DELTA)


@pytest.mark.parametrize("kind", KINDS)
def test_no_arm_is_pulled_beyond_its_population(kind: str) -> None:
    values = np.random.default_rng(5).normal(0.0, 1.0, (ARMS, 6000))
    evidence, settled = race(kind, values)
    populations = evidence.populations
    assert populations is not None
    assert (populations.seen <= populations.sizes)[settled].all()
    assert (evidence.tally.pulls <= populations.start + populations.sizes)[settled].all()
    assert evidence.depth <= populations.start + populations.end


def test_the_shares_of_delta_sum_to_one() -> None:
    assert pytest.approx(1.0) == closing.FIRST + closing.SECOND + closing.LAST


def test_noisy_arms_have_larger_populations_and_constant_ones_are_not_trusted() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.0, 1.0, (3, 4000)) * np.array([[0.5], [2.0], [0.0]])
    evidence = ClosedStudent(3, 0.1, tolerance=0.3)
    while evidence.populations is None:
        evidence.take(told(evidence, values))
    sizes = evidence.populations.sizes
    assert sizes[1] > 4 * sizes[0]
    if 2 in evidence.alive:
        assert sizes[2] == sizes[1]


def test_pairs_with_much_in_common_need_few_values() -> None:
    rng = np.random.default_rng(1)
    ends = []
    for common in (0.0, 0.95):
        shared = rng.standard_normal(4000)
        own = rng.standard_normal((4, 4000))
        values = np.sqrt(common) * shared + np.sqrt(1 - common) * own
        evidence = ClosedPairs(4, 0.1, tolerance=0.1)
        while evidence.populations is None:
            evidence.take(told(evidence, values))
        ends.append(evidence.populations.end)
    assert ends[1] < 0.2 * ends[0]


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_may_end_at_looks_only_and_the_last_is_the_end(kind: str) -> None:
    values = np.random.default_rng(6).normal(0.0, 1.0, (ARMS, 6000))
    evidence = KINDS[kind](1)
    while evidence.alive.size > 1:
        ahead, bars = evidence.ahead(), evidence.bars(evidence.ahead())
        assert (np.diff(ahead) > 0).all()
        assert ahead.size == bars.size
        if evidence.depth > 0:
            assert ahead[0] == evidence.next_look()
        assert np.isfinite(evidence.scores()).all()
        assert np.isneginf(bars[-1]) == (evidence.populations is not None)
        evidence.take(told(evidence, values))
