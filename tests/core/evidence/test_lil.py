import math

import numpy as np
import pytest

from paceline.core.evidence.lil import LilEvidence, LilInterval, radius
from paceline.core.rounds import Results
from paceline.core.tally import Tally


def test_at_sigma_one_half_it_is_the_papers_deviation() -> None:
    for pulls in (1, 2, 10, 12345):
        paper = math.sqrt(4 * math.log(math.log2(2 * pulls) / 0.03) / pulls)
        assert radius(np.array([pulls]), 0.03)[0] == pytest.approx(paper)


def test_one_sub_gaussian_rewards_need_twice_the_papers_deviation() -> None:
    # The trap: D is the lemma for rewards in [0, 1], the paper's model has 1-sub-Gaussian ones.
    pulls = np.array([1, 7, 1000])
    assert radius(pulls, 0.03, sigma=1.0) == pytest.approx(2 * radius(pulls, 0.03))


def test_deviation_multiplies_the_width() -> None:
    pulls = np.array([5])
    assert radius(pulls, 0.03, deviation=0.2) == pytest.approx(0.2 * radius(pulls, 0.03))


def test_before_the_first_pull_everything_is_possible() -> None:
    tally = Tally.empty(2)
    tally.add(Results(np.array([0]), np.array([4]), np.array([2.0]), np.array([2.0])))
    low, high = LilInterval(0.1, 2, 0.5).bounds(tally, np.arange(2))
    assert (low[1], high[1]) == (-math.inf, math.inf)
    assert low[0] < 0.5 < high[0]
    assert (low[0] + high[0]) / 2 == pytest.approx(0.5)


@pytest.mark.parametrize("sigma", [0.5, None])
def test_who_would_be_out_at_another_level(sigma: float | None) -> None:
    """Those whose interval of that level is below another's: more of them at a higher one."""
    pulls, means = np.full(3, 1000), np.array([0.9, 0.5, 0.45])
    evidence = LilEvidence(3, 1e-300, sigma, arms_at_start=3)
    assert not evidence.out_at(0.5, np.array([1]))
    evidence.take(Results(np.arange(3), pulls, pulls * means, pulls * (means**2 + 0.2)))
    assert evidence.alive.size == 3
    seen = set()
    for level in (1e-300, 1e-30, 1e-9, 0.1, 0.5):
        low, high = LilInterval(level, 3, sigma).bounds(evidence.tally, np.arange(3))
        out = [arm for arm in range(3) if evidence.out_at(level, np.array([arm]))]
        assert out == [arm for arm in (1, 2) if high[arm] <= low[0]]
        seen.add(len(out))
    assert {0, 2} <= seen
