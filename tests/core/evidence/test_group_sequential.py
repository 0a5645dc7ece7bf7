"""Every kind of evidence for rounds is held to the same laws: see `Laws`."""

import math
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.boundary import DEPTHS, PILOT, boundary, spending
from paceline.core.evidence.group_sequential import GroupSequential, KnownSigma
from paceline.core.evidence.opponents import Opponents, Rival
from paceline.core.evidence.student import PairedStudent, Student
from paceline.core.noise import Noise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.rounds import Results
from tests.statistical.test_guarantee import refutes

ARMS = 6
NEVER = 1e-9  # a δ at which nobody falls by chance
SIGMA = 0.3
TOPS = pytest.mark.parametrize("top", [1, 2])


def results(arms: Ints, rows: Floats | list[Floats], *, each: bool) -> Results:
    """Of explicit values, a row per arm; rows need not be of the same length."""
    pulls = np.array([len(row) for row in rows])
    if isinstance(rows, np.ndarray):
        sums, squares = rows.sum(axis=1), (rows**2).sum(axis=1)
        return Results(arms, pulls, sums, squares, values=rows if each else None)
    sums, squares = np.array([(row.sum(), (row**2).sum()) for row in rows]).T
    return Results(arms, pulls, sums, squares)


class Laws:
    """What holds for every kind. A subclass says how it is made, and what its values are."""

    each: ClassVar[bool] = False  # whether it needs all values

    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        raise NotImplementedError

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        """Values of arms whose means are so far below a common one: a row per arm."""
        raise NotImplementedError

    def cell(
        self, evidence: GroupSequential, rng: np.random.Generator, gaps: Floats, times: int = 1
    ) -> Results:
        """The values up to the next look; of the first arm alive `times` as many."""
        pulls = evidence.next_look() - evidence.depth
        rows = self.values(rng, gaps[evidence.alive], pulls * times)
        if times == 1:
            return results(evidence.alive, rows, each=self.each)
        uneven = [rows[0], *rows[1:, :pulls]]
        return results(evidence.alive, uneven, each=self.each)

    @TOPS
    def test_the_pilot_eliminates_nobody(self, top: int) -> None:
        rng = np.random.default_rng(0)
        evidence = self.make(rng, 0.5, top)
        assert evidence.next_look() == PILOT
        fallen = evidence.take(self.cell(evidence, rng, np.linspace(0, 0.6, ARMS)))
        assert fallen.size == 0
        assert evidence.alive.tolist() == list(range(ARMS))
        assert evidence.depth == PILOT
        assert not evidence.total.any()

    @TOPS
    def test_somebody_has_to_win(self, top: int) -> None:
        """Where all pass the bar, those with least against them stay."""
        rng = np.random.default_rng(2)
        evidence = self.make(rng, 0.1, top)
        evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
        evidence.total[:] = 1e6 * np.array([5, 1, 4, 2, 3, 6])
        fallen = evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
        assert evidence.alive.tolist() == [1, 3][:top]
        assert fallen.size == ARMS - top

    @TOPS
    @pytest.mark.parametrize("level", [0.4, 0.05])
    def test_it_knows_who_would_be_out_at_another_level(self, top: int, level: float) -> None:
        """Those who fall first where that is the level; and once out, out for good."""
        rng = np.random.default_rng(9)
        there = self.make(np.random.default_rng(10), level, top)
        here = self.make(np.random.default_rng(10), NEVER, top)
        fallen: list[int] = []
        while not fallen:
            assert not any(here.out_at(level, np.array([arm])) for arm in here.alive)
            cell = self.cell(here, rng, np.linspace(0, 0.5, ARMS))
            fallen = there.take(cell).tolist()
            assert here.take(cell).size == 0
        out = [arm for arm in range(ARMS) if here.out_at(level, np.array([arm]))]
        assert out == fallen
        here.take(self.cell(here, rng, -np.linspace(0, 0.5, ARMS)))
        assert here.out_at(level, np.array(fallen))
        assert here.out_at(level + 0.1, np.array(fallen))
        assert not here.out_at(level, np.arange(ARMS))

    @TOPS
    def test_a_look_that_is_passed_over_is_refused(self, top: int) -> None:
        rng = np.random.default_rng(3)
        for before in range(3):
            evidence = self.make(rng, NEVER, top)
            for _ in range(before):
                evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
            rows = self.values(rng, np.zeros(ARMS), evidence.next_look() - evidence.depth + 1)
            with pytest.raises(AssertionError, match="each look is met"):
                evidence.take(results(evidence.alive, rows, each=self.each))

    @TOPS
    def test_a_part_of_a_cell_is_scored_but_meets_no_bar(self, top: int) -> None:
        rng = np.random.default_rng(8)
        evidence = self.make(rng, 0.1, top)
        gaps = np.zeros(ARMS)
        for part in (1, PILOT - 1, 2, DEPTHS[0] - PILOT - 2, 2):
            before = evidence.total.copy()
            at_look = evidence.depth + part == evidence.next_look()
            if evidence.depth >= PILOT:
                evidence.total[0] = before[0] = 1e6
            rows = self.values(rng, gaps[evidence.alive], int(part))
            fallen = evidence.take(results(evidence.alive, rows, each=self.each))
            is_scored = evidence.depth > PILOT
            assert (evidence.total != before).any() == is_scored
            assert fallen.tolist() == ([0] if is_scored and at_look else [])
            if fallen.size:
                return
        raise AssertionError("no look was met")

    @TOPS
    def test_opponents_depend_on_earlier_values_only(
        self, top: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same pilot, then cells in which other arms are ahead: the same opponents."""
        met = []
        for ahead in range(ARMS):
            rng = np.random.default_rng(4)
            evidence = self.make(rng, NEVER, top)
            evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
            seen: list[list[list[float]]] = []
            compare = evidence.compare

            def spy(fresh: Results, opponents: Opponents) -> Floats:
                seen.append(opponents.total(np.eye(ARMS)).tolist())  # noqa: B023
                return compare(fresh, opponents)  # noqa: B023

            monkeypatch.setattr(evidence, "compare", spy)
            gaps = np.where(np.arange(ARMS) == ahead, 0.0, 0.6)
            evidence.take(self.cell(evidence, np.random.default_rng(ahead), gaps))
            assert len(seen) == top
            met.append(seen)
        assert all(seen == met[0] for seen in met)
        assert all(row[arm] == 0 for rows in met[0] for arm, row in enumerate(rows))

    @TOPS
    def test_arms_set_aside_come_back_as_they_were(self, top: int) -> None:
        """Those that they meet then stay in, whatever speaks against them."""
        rng = np.random.default_rng(12)
        evidence = self.make(rng, 0.1, top)
        for _ in range(3):
            evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
        arms = evidence.alive
        cut, kept = arms[top:], arms[:top]
        total, look, depth = evidence.total.copy(), evidence.next_look(), evidence.depth
        aside = evidence.set_aside(cut)
        assert evidence.alive.tolist() == kept.tolist()
        assert aside.alive.tolist() == cut.tolist()
        evidence.tally.pulls[kept] += 1000
        back = evidence.bring_back(aside)
        assert isinstance(back, GroupSequential)
        assert back.alive.tolist() == arms.tolist()
        assert (back.next_look(), back.depth) == (look, depth)
        assert back.total[cut].tolist() == total[cut].tolist()
        assert back.tally.pulls[kept].min() > 1000
        back.total[:] = 1e6
        assert back.take(self.cell(back, rng, np.zeros(ARMS))).tolist() == cut.tolist()
        assert back.alive.tolist() == kept.tolist()

    def null_scores(self, top: int, races: int, *, peeking: bool = False, times: int = 1) -> Floats:
        """Scores of arm 0, which is tied for the last place of the top, in cells of 4 to 9 pulls.

        Given what came before, each is at most normal; so are their numbers above a value.
        """
        gaps = np.where(np.arange(ARMS) < top, -0.4, 0.0) if top > 1 else np.zeros(ARMS)
        gaps[0] = 0.0
        cells = np.diff([PILOT, *DEPTHS[:4]])
        assert cells.tolist() == [5, 4, 6, 9]
        rng = np.random.default_rng(5)
        scores = []
        for _ in range(races):
            evidence = self.make(rng, NEVER, top)
            if peeking:
                _peek(evidence)
            evidence.take(self.cell(evidence, rng, gaps))
            for cell in cells:
                before = evidence.total[0]
                evidence.take(self.cell(evidence, rng, gaps, times=times))
                assert evidence.alive[0] == 0
                scores.append((evidence.total[0] - before) / math.sqrt(cell))
        return np.array(scores)

    @pytest.mark.parametrize(("top", "races"), [(1, 1000), (2, 200)])
    def test_scores_of_the_best_arm_are_at_most_normal(self, top: int, races: int) -> None:
        assert too_often(self.null_scores(top, races)) == []

    @TOPS
    def test_planning_sees_the_bars_and_scores_that_decide(self, top: int) -> None:
        rng = np.random.default_rng(6)
        evidence = self.make(rng, NEVER, top)
        for _ in range(3):
            evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
        bars = evidence.bars(DEPTHS[[1, 2, 7]])
        height = evidence.scores() - bars[0]  # as they were at the last look
        assert (height < 0).all()
        assert (np.diff(bars) > 0).all()
        evidence.total[:] = (bars[1] - 1e3) * np.sqrt(DEPTHS[2] - PILOT)
        evidence.total[0] += 2e3 * np.sqrt(DEPTHS[2] - PILOT)
        assert evidence.take(self.cell(evidence, rng, np.zeros(ARMS))).tolist() == [0]


def too_often(scores: Floats) -> list[float]:
    """The values above which there are too many scores for them to be at most normal."""
    return [
        x
        for x in (1.0, 1.645, 2.326)
        if refutes(int((scores > x).sum()), scores.size, float(stats.norm.sf(x)))
    ]


def _peek(evidence: GroupSequential) -> None:
    honest = evidence.opponents

    def opponents(fresh: Results, means: Floats, variances: Floats) -> Opponents:
        return honest(fresh, fresh.sums / fresh.pulls, variances)

    evidence.opponents = opponents  # type: ignore[method-assign]


class Unpaired(Laws):
    """Kinds that need no pairs may have more pulls of some arm."""

    def test_an_arm_may_be_pulled_more_often_than_others(self) -> None:
        assert too_often(self.null_scores(1, 300, times=4)) == []


class Normals:
    """Normal values, without anything in common."""

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        return rng.normal(-gaps[:, None], SIGMA, (gaps.size, pulls))


class TestKnownSigmaNormal(Normals, Unpaired):
    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        return KnownSigma(ARMS, delta, SIGMA, top=top)


class TestKnownSigmaSubgaussian(Normals, Unpaired):
    """Normal values are the worst that it has to bear."""

    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        return KnownSigma(ARMS, delta, SIGMA, tails="subgaussian", top=top)


class TestKnownSigmaPaired(Laws):
    """The worst of pairs: what favours one arm is as bad for all others."""

    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        return KnownSigma(ARMS, delta, SIGMA, tails="subgaussian", paired=True, top=top)

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        common = rng.normal(0.0, SIGMA, pulls)
        signs = np.where(np.arange(gaps.size) == 0, 1.0, -1.0)
        return -gaps[:, None] + signs[:, None] * common


class TestStudent(Normals, Unpaired):
    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        return Student(ARMS, delta, top)


class TestStudentWhereTheBestVariesMost(TestStudent):
    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        sigma = np.where(np.arange(gaps.size) == 0, SIGMA, 0.1 * SIGMA)
        return rng.normal(-gaps[:, None], sigma[:, None], (gaps.size, pulls))


class TestStudentWhereTheBestVariesLeast(TestStudent):
    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        sigma = np.where(np.arange(gaps.size) == 0, 0.1 * SIGMA, SIGMA)
        return rng.normal(-gaps[:, None], sigma[:, None], (gaps.size, pulls))


class TestPairedStudent(Laws):
    """Nine tenths of the variance are common to all."""

    each = True

    def make(self, rng: np.random.Generator, delta: float, top: int) -> GroupSequential:
        return PairedStudent(ARMS, delta, top)

    def values(self, rng: np.random.Generator, gaps: Floats, pulls: int) -> Floats:
        own = math.sqrt(0.1) * rng.standard_normal((gaps.size, pulls))
        return -gaps[:, None] + SIGMA * (math.sqrt(0.9) * rng.standard_normal(pulls) + own)

    def test_planning_leaves_out_what_is_common(self) -> None:
        rng = np.random.default_rng(9)
        evidence = self.make(rng, NEVER, 1)
        for _ in range(10):
            evidence.take(self.cell(evidence, rng, np.zeros(ARMS)))
        assert evidence.variances() == pytest.approx(0.1 * SIGMA**2, rel=0.3)


@pytest.mark.parametrize(
    "laws",
    [TestKnownSigmaNormal(), TestStudent(), TestPairedStudent()],
    ids=lambda laws: type(laws).__name__.removeprefix("Test"),
)
def test_control_opponents_from_the_cell_itself_are_caught(laws: Laws) -> None:
    assert too_often(laws.null_scores(1, 200, peeking=True))


# What is special to one kind.


@pytest.mark.parametrize("pulls", [5, 4, 6, 18])
def test_values_without_any_spread_count_for_no_more_than_their_order_does(pulls: int) -> None:
    """All of one arm's lie below all of the other's: of C(2m, m) orders, one."""
    fresh = results(np.arange(2), np.array([np.zeros(pulls), np.ones(pulls)]), each=True)
    both = Rival(np.array([1, 0]))
    score = Student(2, 0.1).compare(fresh, both)
    assert score[0] == pytest.approx(stats.norm.isf(1 / math.comb(2 * pulls, pulls)))
    assert score[1] < -5
    # Pairs have 2^m signs.
    paired = PairedStudent(2, 0.1).compare(fresh, both)
    assert paired[0] == pytest.approx(stats.norm.isf(0.5**pulls))
    assert paired[1] < -5
    # And where there is no difference either, there is no evidence.
    same = results(np.arange(2), np.ones((2, pulls)), each=True)
    assert Student(2, 0.1).compare(same, both).tolist() == [0.0, 0.0]
    assert PairedStudent(2, 0.1).compare(same, both).tolist() == [0.0, 0.0]


def test_students_score_of_two_arms_is_the_t_tests_with_the_least_degrees() -> None:
    rng = np.random.default_rng(12)
    for _ in range(20):
        values = rng.normal([[0.0], [1.0]], [[1.0], [3.0]], (2, 9))
        fresh = results(np.arange(2), values, each=True)
        score = Student(2, 0.1).compare(fresh, Rival(np.array([1, 0])))
        t = stats.ttest_ind(values[1], values[0], equal_var=False).statistic
        degrees = np.array([8, 16] if t > 0 else [16, 8])
        expected = stats.norm.isf(stats.t.sf([t, -t], degrees))
        assert score == pytest.approx(expected, rel=1e-6)
        paired = PairedStudent(2, 0.1).compare(fresh, Rival(np.array([1, 0])))
        p = stats.ttest_rel(values[1], values[0], alternative="greater").pvalue
        assert paired == pytest.approx(stats.norm.isf([p, 1 - p]), rel=1e-6)


def test_spreads_save_student_from_a_large_mean() -> None:
    values = np.random.default_rng(13).normal(size=(2, 9))
    expected = Student(2, 0.1).compare(results(np.arange(2), values, each=False), RIVALS)
    far = values + 2.0**30  # squares around 0 have lost all
    spreads = far.var(axis=1) * 9
    fresh = Results(
        np.arange(2), np.full(2, 9), far.sum(axis=1), (far**2).sum(axis=1), spreads=spreads
    )
    assert Student(2, 0.1).compare(fresh, RIVALS) == pytest.approx(expected, abs=1e-6)


RIVALS = Rival(np.array([1, 0]))


@pytest.mark.parametrize("top", [1, 3])
def test_bars_are_at_the_level_of_one_of_the_top(top: int) -> None:
    looks = np.arange(12)
    exact = KnownSigma(5, 0.1, 1.0, top=top).bars(DEPTHS[looks])
    assert exact == pytest.approx(boundary(0.1 / top).up_to(12))
    bound = KnownSigma(5, 0.1, 1.0, tails="subgaussian", top=top).bars(DEPTHS[looks])
    # exp(−b²/2) bounds the tail of every sub-Gaussian variable.
    assert np.exp(-(bound**2) / 2) == pytest.approx(spending(0.1 / top)[:12])
    assert (bound > exact).all()


@pytest.mark.parametrize(
    ("noise", "paired", "kind"),
    [
        (NormalNoise(), False, Student),
        (NormalNoise(), True, PairedStudent),
        (NormalNoise(sigma=2.0), False, KnownSigma),
        (NormalNoise(sigma=2.0), True, PairedStudent),
        (SubgaussianNoise(sigma=2.0), False, KnownSigma),
        (SubgaussianNoise(sigma=2.0), True, KnownSigma),
        (BoundedNoise((0.0, 4.0)), False, KnownSigma),
        (BoundedNoise((0.0, 4.0)), True, KnownSigma),
    ],
)
def test_the_kind_fits_what_is_assumed(
    noise: Noise, paired: bool, kind: type[GroupSequential]
) -> None:
    made = noise.group_sequential(3, 0.1, top=2, paired=paired)
    assert type(made) is kind
    assert made.top == 2
    if isinstance(made, KnownSigma):
        assert made.sigma == 2.0
        assert made.paired == paired
        assert made.tails == ("normal" if noise.kind == "normal" else "subgaussian")
