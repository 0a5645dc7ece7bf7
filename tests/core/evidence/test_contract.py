"""Every kind of evidence is held to the contract."""

import math

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.closed import ClosedPairs, ClosedSigma, ClosedStudent
from paceline.core.evidence.group_sequential import KnownSigma
from paceline.core.evidence.lil import LilEvidence
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise import BERNOULLI
from paceline.testing import EvidenceContract

SIGMA = 0.3


class Normals(EvidenceContract):
    """Normal values, without anything in common."""

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        return rng.normal(-gaps[:, None], SIGMA, (gaps.size, pulls))


class TestKnownSigma(Normals):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return KnownSigma(arms, delta, SIGMA, top=top)


class TestKnownSigmaSubgaussian(Normals):
    """Normal values are the worst that it has to bear."""

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return KnownSigma(arms, delta, SIGMA, tails="subgaussian", top=top)


class TestKnownSigmaPaired(EvidenceContract):
    """The worst of pairs: what favours one arm is as bad for all others."""

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return KnownSigma(arms, delta, SIGMA, tails="subgaussian", paired=True, top=top)

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        signs = np.where(np.arange(gaps.size) == 0, 1.0, -1.0)
        return -gaps[:, None] + signs[:, None] * rng.normal(0.0, SIGMA, pulls)


class TestStudent(Normals):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return Student(arms, delta, top)


class TestClosedSigma(Normals):
    """The end is far away: it is tested elsewhere."""

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return ClosedSigma(arms, delta, SIGMA, tolerance=1e-3, top=top)


class TestClosedStudent(Normals):
    """Likewise."""

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return ClosedStudent(arms, delta, tolerance=1e-3, top=top)


class TestPairedStudent(EvidenceContract):
    """Nine tenths of the variance are common to all."""

    each = True

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return PairedStudent(arms, delta, top)

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        own = math.sqrt(0.1) * rng.standard_normal((gaps.size, pulls))
        return -gaps[:, None] + SIGMA * (math.sqrt(0.9) * rng.standard_normal(pulls) + own)


class TestClosedPairs(TestPairedStudent):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return ClosedPairs(arms, delta, tolerance=1e-3, top=top)


class Coins(EvidenceContract):
    """Zeros and ones."""

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        return (rng.random((gaps.size, pulls)) < 0.61 - gaps[:, None]).astype(np.float64)


class TestBetting(Coins):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return Betting(arms, delta, (0.0, 1.0), top=top)


class TestPairedBetting(Coins):
    each = True

    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return Betting(arms, delta, (0.0, 1.0), paired=True, top=top)


class TestCapped(Coins):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return BERNOULLI.closed(arms, delta, tolerance=1e-3, top=top)


class TestLil(Normals):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return LilEvidence(arms, delta, SIGMA, arms_at_start=arms, top=top)


class TestLilThatLearnsSigma(Normals):
    def make(self, arms: int, delta: float, top: int) -> Evidence:
        return LilEvidence(arms, delta, None, arms_at_start=arms, top=top)
