import numpy as np
import pytest

from paceline.core.evidence.capped import Capped, cap_between
from paceline.core.noise import BERNOULLI
from paceline.core.noise.base import Noise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.rounds import Results
from paceline.core.tally import Tally


def coins(evidence: Capped, rng: np.random.Generator, chance: float) -> Results:
    pulls = np.full(evidence.alive.size, evidence.next_look() - evidence.depth)
    heads = rng.binomial(pulls, chance).astype(np.float64)
    return Results(evidence.alive, pulls, heads, heads)


@pytest.mark.parametrize("noise", [BERNOULLI, SubgaussianNoise(0.5)], ids=repr)
def test_arms_that_tie_reach_the_end_and_one_wins(noise: Noise) -> None:
    rng = np.random.default_rng(0)
    evidence = noise.closed(8, 0.05, tolerance=0.05)
    assert isinstance(evidence, Capped)
    while evidence.alive.size > 1:
        assert evidence.even
        assert evidence.end is None or evidence.ahead()[-1] == evidence.end
        evidence.take(coins(evidence, rng, 0.5))
    assert evidence.end is not None
    assert evidence.depth <= evidence.end
    assert np.isneginf(evidence.bars(np.array([evidence.end]))[0])


def test_only_values_after_the_pilot_decide_at_the_end() -> None:
    """They were not seen when the end was settled."""
    evidence = BERNOULLI.closed(2, 1e-9, tolerance=0.4)
    assert isinstance(evidence, Capped)
    while evidence.end is None:
        pulls = np.full(2, evidence.next_look() - evidence.depth)
        heads = np.array([0.6, 0.4]) * pulls
        evidence.take(Results(np.arange(2), pulls, heads, heads))
    while evidence.alive.size > 1:
        pulls = np.full(2, evidence.next_look() - evidence.depth)
        heads = np.array([0.49, 0.51]) * pulls
        evidence.take(Results(np.arange(2), pulls, heads, heads))
    assert evidence.depth == evidence.end
    assert evidence.alive.tolist() == [1]


def test_values_that_vary_little_need_fewer() -> None:
    cap = cap_between(1.0, 8, 0.05, 0.02, top=1, paired=False)
    arms = np.arange(8)
    sizes = [
        cap.size(Tally(np.full(8, 5000), np.zeros(8), np.zeros(8), np.full(8, 5000 * v)), arms)
        for v in (0.25, 0.1, 0.01)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.3 * sizes[0]
    scaled = cap_between(10.0, 8, 0.05, 0.2, top=1, paired=False)
    assert scaled.pilot == cap.pilot


def test_what_is_not_for_the_evidence_is_taken_off() -> None:
    evidence = BERNOULLI.closed(2, 0.1, tolerance=1e-4)
    assert isinstance(evidence, Capped)
    rng = np.random.default_rng(3)
    for _ in range(30):
        evidence.take(coins(evidence, rng, 0.5))
    arms = np.array([0])
    for level in (0.1, 0.3, 0.5, 0.9):
        assert evidence.out_at(level, arms) == evidence.inner.out_at(level - 0.065, arms)
