import math

import numpy as np
import pytest

from paceline.core.evidence.lil import LilInterval, radius
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
