"""The laws of evidence."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binomtest

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.rounds import Results

_ARMS = 6
_CERTAIN = 1e-6
_CLEAR_GAP = 0.6
_TOPS = pytest.mark.parametrize("top", [1, 2])


class EvidenceContract(ABC):
    """Every kind of evidence keeps these laws. Say how to make it, and what its values are.

    ```python
    class TestMine(EvidenceContract):
        def make(self, arms, delta, top):
            return MyEvidence(arms, delta, top=top)

        def values(self, rng, gaps, pulls):
            return rng.normal(-gaps[:, None], 0.3, (gaps.size, pulls))
    ```

    The law that matters is that the best arm is lost with probability δ at most. Losses are counted
    in `runs` races in which all arms tie, up to `most_pulls` of each; the law is refuted if such a
    count has a probability below 1e-6. Choose the worst values that the evidence must cope with.
    """

    each: ClassVar[bool] = False  # whether it needs all values, not only their sums
    runs: ClassVar[int] = 150
    most_pulls: ClassVar[int] = 80
    enough_pulls: ClassVar[int] = 3000  # by then arms that are far behind have fallen

    @abstractmethod
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        """Evidence of this kind, at level `delta`, for the best `top`."""

    @abstractmethod
    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        """Values of arms whose means are `gaps` below a common one: a row per arm.

        Gaps lie between −0.4 and 0.6.
        """

    def fresh(self, evidence: Evidence, rng: np.random.Generator, gaps: Floats) -> Results:
        """New values of the arms alive, up to the next look."""
        rows = self.values(rng, gaps[evidence.alive], evidence.next_look() - evidence.depth)
        sums, squares = rows.sum(axis=1), (rows**2).sum(axis=1)
        pulls = np.full(evidence.alive.size, rows.shape[1])
        apart = rows - rows.mean(axis=1, keepdims=True)
        spreads, cubes = (apart**2).sum(axis=1), (apart**3).sum(axis=1)
        values = rows if self.each else None
        return Results(evidence.alive, pulls, sums, squares, spreads, values, cubes=cubes)

    def looks(
        self, evidence: Evidence, rng: np.random.Generator, gaps: Floats, most_pulls: int
    ) -> Ints:
        """Take looks until the race is over or each arm has `most_pulls`; return who fell."""
        fallen = []
        while evidence.alive.size > evidence.top and evidence.next_look() <= most_pulls:
            fallen += evidence.take(self.fresh(evidence, rng, gaps)).tolist()
        return np.array(fallen, dtype=np.int64)

    @_TOPS
    def test_a_look_takes_it_to_the_depth_that_it_asked_for(self, top: int) -> None:
        """All arms are in at first; an arm that falls was in, and is out for good."""
        rng, gaps = np.random.default_rng(0), np.linspace(0.0, _CLEAR_GAP, _ARMS)
        evidence = self.make(_ARMS, 0.1, top)
        assert evidence.alive.tolist() == list(range(_ARMS))
        assert evidence.depth == 0
        for _ in range(20):
            if evidence.alive.size <= top:
                break
            look, before = evidence.next_look(), evidence.alive.tolist()
            assert look > evidence.depth
            assert look == evidence.next_look(), "asking changes nothing"
            fallen = evidence.take(self.fresh(evidence, rng, gaps)).tolist()
            assert evidence.depth == look
            assert sorted([*fallen, *evidence.alive.tolist()]) == before
            assert evidence.alive.size >= top
            assert (evidence.tally.pulls[evidence.alive] >= look).all()

    @_TOPS
    def test_clearly_worse_arms_fall_and_the_best_stay(self, top: int) -> None:
        """With enough pulls: evidence that says nothing is no evidence."""
        gaps = np.where(np.arange(_ARMS) >= _ARMS - top, 0.0, _CLEAR_GAP)
        evidence = self.make(_ARMS, 1e-4, top)
        fallen = self.looks(evidence, np.random.default_rng(1), gaps, self.enough_pulls)
        assert sorted(fallen.tolist()) == list(range(_ARMS - top))
        assert evidence.alive.tolist() == list(range(_ARMS - top, _ARMS))

    @_TOPS
    def test_it_is_a_function_of_what_it_was_given(self, top: int) -> None:
        """So a race can be replayed."""
        gaps = np.linspace(0.0, _CLEAR_GAP, _ARMS)
        falls = [
            self.looks(self.make(_ARMS, 0.2, top), np.random.default_rng(2), gaps, self.most_pulls)
            for _ in range(2)
        ]
        assert falls[0].tolist() == falls[1].tolist()

    @_TOPS
    def test_who_is_out_at_a_level_is_out_at_all_higher_ones(self, top: int) -> None:
        """And an arm that is in at δ is not out at a lower level."""
        rng, gaps = np.random.default_rng(3), np.linspace(0.0, _CLEAR_GAP, _ARMS)
        evidence = self.make(_ARMS, 0.01, top)
        levels = (1e-6, 0.005, 0.02, 0.1, 0.3, 0.5)
        for _ in range(15):
            if evidence.alive.size <= top:
                break
            for arm in evidence.alive:
                out = [evidence.out_at(level, np.array([arm])) for level in levels]
                assert out == sorted(out)
                assert not any(out[:2]), "it would have fallen"
            evidence.take(self.fresh(evidence, rng, gaps))

    @_TOPS
    def test_planning_is_told_of_every_arm_alive(self, top: int) -> None:
        """Bars above 0, a score for each arm, and how much each varies."""
        evidence = self.make(_ARMS, 0.01, top)
        self.looks(evidence, np.random.default_rng(4), np.zeros(_ARMS), 40)
        bars = evidence.bars(np.array([50, 100, 1000]))
        assert bars.shape == (3,)
        assert (np.isfinite(bars) & (bars > 0)).all()
        assert evidence.scores().shape == evidence.variances().shape == evidence.alive.shape
        assert np.isfinite(evidence.scores()).all()
        assert (evidence.variances() >= 0).all()

    @_TOPS
    def test_the_best_arm_is_lost_as_seldom_as_was_promised(self, top: int) -> None:
        """All others tie with arm 0, or are better if they belong to the top as well."""
        delta = 0.1
        gaps = np.where(np.arange(_ARMS) < top, -0.4, 0.0)
        gaps[0] = 0.0
        rng = np.random.default_rng(5)
        lost = 0
        for _ in range(self.runs):
            evidence = self.make(_ARMS, delta, top)
            while 0 in evidence.alive and evidence.alive.size > top:
                if evidence.next_look() > self.most_pulls:
                    break
                evidence.take(self.fresh(evidence, rng, gaps))
            lost += 0 not in evidence.alive
        chance = binomtest(lost, self.runs, delta, alternative="greater").pvalue
        assert chance >= _CERTAIN, f"lost in {lost} of {self.runs} races, at δ = {delta:g}"
