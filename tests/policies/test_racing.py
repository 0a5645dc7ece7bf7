import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from paceline import (
    Bernoulli,
    Distributions,
    InvalidInput,
    Normal,
    PowerLaw,
    Problem,
    Scaling,
    simulate,
)
from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.boundary import DEPTHS, PILOT
from paceline.core.evidence.lil import LilEvidence
from paceline.core.evidence.student import Student
from paceline.core.noise import Noise
from paceline.core.noise.bernoulli import BernoulliNoise
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.noise.subgaussian import SubgaussianNoise
from paceline.core.rounds import Conditions, Looks, Results, Round
from paceline.policies.base import Task
from paceline.policies.racing import Racing, RacingPacer
from paceline.testing import PolicyContract, asked


class TestRacing(PolicyContract):
    policy = Racing()
    goal = {"confidence": 0.9}


class TestRacingByBetting(PolicyContract):
    policy = Racing("betting")
    goal = {"confidence": 0.9}


class TestRacingWithThePapersInterval(PolicyContract):
    policy = Racing("lil")
    goal = {"confidence": 0.9}


def start(policy: Racing | None = None, **changes: Any) -> RacingPacer:
    given: dict[str, Any] = {"arms": 9, "scaling": PowerLaw(0.5), "confidence": 0.9}
    pacer = (policy or Racing()).start(Task(**(given | changes)))
    assert isinstance(pacer, RacingPacer)
    return pacer


def due(wanted: Round) -> Ints:
    assert isinstance(wanted.how, Looks)
    return wanted.how.due


def answer(pacer: RacingPacer, problem: Problem, rng: np.random.Generator) -> None:
    """Tell what is due, as a runner does."""
    wanted = asked(pacer)
    if wanted.how.each:
        assert set(due(wanted).tolist()) == {int(due(wanted)[0])}
        values = problem.draw_each(wanted.arms, int(due(wanted)[0]), 0, rng)
        sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
        pacer.tell(Results(wanted.arms, due(wanted), sums, squares, values=values))
    else:
        sums, squares = problem.draw(wanted.arms, due(wanted), due(wanted), rng)
        pacer.tell(Results(wanted.arms, due(wanted), sums, squares))


def play(pacer: RacingPacer, means: Floats, seed: int, most: int = 500) -> Iterator[Round]:
    """What is pulls_asked, slice by slice."""
    problem, rng = Bernoulli(means), np.random.default_rng(seed)
    for _ in range(most):
        if pacer.verdict is not None:
            return
        yield asked(pacer)
        answer(pacer, problem, rng)


NEAR = np.r_[0.6, np.full(8, 0.5)]


# Rounds.


def openings(pacer: RacingPacer, means: Floats, seed: int) -> Iterator[Round]:
    """What is pulls_asked at the start of each round."""
    rounds = -1
    for wanted in play(pacer, means, seed):
        if pacer.rounds > rounds:
            rounds = pacer.rounds
            yield wanted


@pytest.mark.parametrize("seed", range(3))
def test_the_leader_is_pulled_more_often_from_the_second_round_on(seed: int) -> None:
    """As often as balances its noise against that of k − 1 others: √(k−1) times."""
    pacer = start()
    seen = set()
    for wanted in openings(pacer, NEAR, seed):
        least = int(wanted.pulls.min())
        if pacer.rounds == 0:
            assert set(wanted.pulls.tolist()) == {least}
            continue
        arms = wanted.arms.size
        times = round(math.sqrt(arms - 1)) if arms > 2 else 1
        leader = int(np.argmax(pacer.evidence.tally.means(wanted.arms)))
        expected = np.where(np.arange(arms) == leader, times, 1)
        assert wanted.pulls.tolist() == (least * expected).tolist()
        assert (due(wanted) * least).tolist() == (wanted.pulls * due(wanted).min()).tolist()
        seen.add(times)
    assert 3 in seen, "nine arms, the leader three times"


@pytest.mark.parametrize("changes", [{"paired": True}, {"top": 2}])
def test_no_arm_is_pulled_more_often_where_that_is_no_use(changes: dict[str, Any]) -> None:
    """Pairs have as many of each; and of the top two, neither is the one that all are met by."""
    pacer = start(**changes)
    rounds = 0
    for wanted in openings(pacer, NEAR, seed=1):
        rounds += 1
        assert np.unique(wanted.pulls).size == 1
        assert wanted.how.each == bool(changes.get("paired"))
    assert rounds > 2


@pytest.mark.parametrize("evidence", ["group-sequential", "betting", "lil"])
def test_rounds_end_on_the_grid(evidence: str) -> None:
    pacer = start(Racing(evidence))
    depths = set()
    for wanted in openings(pacer, NEAR, seed=2):
        depth = pacer.evidence.depth
        if pacer.rounds:
            assert depth in DEPTHS
        assert pacer.target == depth + wanted.pulls.min()
        assert pacer.target in DEPTHS
        depths.add(depth)
    assert len(depths) == pacer.rounds > 1


def test_looks_of_a_round_are_those_of_the_evidence() -> None:
    """The pilot, then every point of the grid up to the end of the round."""
    pacer = start(Racing("group-sequential"), scaling=PowerLaw(0.1))
    looks = [pacer.evidence.depth for _ in play(pacer, np.full(9, 0.5), seed=3, most=6)]
    assert pacer.rounds == 0
    assert looks == [0, PILOT, *DEPTHS[:4]]


# In mid-round.


@pytest.mark.parametrize("evidence", ["group-sequential", "betting", "lil"])
def test_arms_that_fell_are_not_asked_for_any_more(evidence: str) -> None:
    means = np.array([0.95, 0.9, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0])
    pacer = start(Racing(evidence), scaling=PowerLaw(0.1))
    before: Round | None = None
    rounds, fell_in_mid_round = 0, 0
    for wanted in play(pacer, means, seed=4):
        assert wanted.arms.tolist() == pacer.alive.tolist()
        if before is not None and pacer.rounds == rounds:
            left = dict(zip(before.arms.tolist(), before.pulls - due(before), strict=True))
            assert wanted.pulls.tolist() == [left[arm] for arm in wanted.arms.tolist()]
            fell_in_mid_round += before.arms.size - wanted.arms.size
        before, rounds = wanted, pacer.rounds
    assert pacer.verdict is not None
    assert pacer.verdict.arms.tolist() == [0]
    assert fell_in_mid_round > 0, "or nothing was tested"


def test_there_may_be_a_verdict_in_mid_round() -> None:
    pacer = start(scaling=PowerLaw(0.1))
    first = asked(pacer)
    list(play(pacer, np.r_[np.full(8, 0.05), 0.95], seed=5))
    assert pacer.verdict is not None
    assert pacer.verdict.arms.tolist() == [8]
    assert pacer.verdict.decided
    assert pacer.verdict.confidence == 0.9
    assert pacer.tally.pulls.max() < first.pulls.max()
    assert pacer.ask() is pacer.verdict


# What is told beyond that which is due.


def told_ones(pacer: RacingPacer, pulls: list[int]) -> None:
    """Ones of the first arms and zeros of the others, as many as given."""
    arms = np.flatnonzero(pulls)
    count = np.array(pulls)[arms]
    ones = np.where(arms < 3, count, 0).astype(np.float64)
    pacer.tell(Results(arms, count, ones, ones))


@pytest.mark.parametrize(
    "pulls",
    [[50] * 9, [1] * 8 + [40], [0] * 4 + [30] * 5, [4, 3, 3, 3, 3, 3, 3, 3, 3]],
    ids=["more of all", "more of one, less of others", "of some", "one too many"],
)
@pytest.mark.parametrize("evidence", ["group-sequential", "betting", "lil"])
def test_leftovers_beyond_what_was_due_are_no_evidence(evidence: str, pulls: list[int]) -> None:
    """As at a deadline: quick pulls, which may well be the bad ones, get no weight of their own."""
    pacer = start(Racing(evidence), scaling=PowerLaw(0.1))
    wanted = asked(pacer)
    told_ones(pacer, pulls)
    assert pacer.tally.pulls.tolist() == pulls  # they were pulled, after all
    assert pacer.evidence.depth == 0
    assert pacer.alive.size == 9
    assert pacer.verdict is None
    assert asked(pacer).total == wanted.total - sum(pulls)
    verdict = pacer.stop("the deadline came")
    assert not verdict.decided
    assert verdict.arms.size == 9
    # Nor does more of it make a look complete.
    told_ones(pacer, [60] * 9)
    assert pacer.evidence.depth == 0
    assert pacer.verdict is None


def test_less_than_what_was_due_is_no_evidence_until_the_rest_is_there() -> None:
    pacer = start(Racing("group-sequential"))
    told_ones(pacer, [PILOT] * 8 + [PILOT - 1])
    assert pacer.evidence.depth == 0
    left = asked(pacer)
    assert dict(zip(left.arms.tolist(), due(left).tolist(), strict=True)) == dict.fromkeys(
        range(8), 0
    ) | {8: 1}
    told_ones(pacer, [0] * 8 + [1])
    assert pacer.evidence.depth == PILOT
    assert pacer.evidence.tally.sums.tolist() == [PILOT] * 3 + [0] * 6


# Conditions that change.


def test_the_scaling_as_it_is_known_now_sizes_the_next_round() -> None:
    pulls_asked = {}
    for q in (0.9, 0.1):
        pacer = start(Racing("group-sequential"))
        while pacer.rounds == 0:
            wanted = asked(pacer)
            complete = (due(wanted) == wanted.pulls).all()  # as the loop does, with the last part
            ones = np.rint(0.5 * due(wanted))
            results = Results(wanted.arms, due(wanted), ones, ones)
            pacer.tell(results, Conditions(100.0, PowerLaw(q)) if complete else None)
        assert pacer.scaling == PowerLaw(q)
        assert pacer.elapsed == 100.0
        pulls_asked[q] = asked(pacer).pulls.max()
    assert pulls_asked[0.1] > 2 * pulls_asked[0.9]


@pytest.mark.parametrize(
    ("costs", "times"),
    [
        ((), 3),
        ((1.0,) * 9, 3),
        ((5.0, *(0.5,) * 8), 1),  # √(8 · 0.5 / 5) is less than one
        ((0.2, *(1.1,) * 8), 7),  # √(8 · 1.1 / 0.2)
        ((4.0, *(1.0,) * 7, 100.0), 5),  # √(107 / 4)
    ],
)
def test_the_leader_is_pulled_more_often_the_cheaper_it_is(
    costs: tuple[float, ...], times: int
) -> None:
    pacer = start(Racing("group-sequential"))
    means = np.array([0.55, *(0.5,) * 8])
    while pacer.rounds == 0:
        wanted = asked(pacer)
        ones = np.rint(means[wanted.arms] * due(wanted) * 1000) / 1000
        complete = (due(wanted) == wanted.pulls).all()
        conditions = Conditions(100.0, PowerLaw(0.5), None, costs) if complete else None
        pacer.tell(Results(wanted.arms, due(wanted), ones, ones), conditions)
    pulls = asked(pacer).pulls
    assert pulls.tolist() == [times * pulls[1]] + [pulls[1]] * 8


# A race that is ended before it is sure.


def race_of_three(
    evidence: str = "auto", looks: int = 5, seed: int = 1, **changes: Any
) -> RacingPacer:
    """Stopped after so many looks; the last arm is far behind."""
    pacer = start(Racing(evidence), arms=3, **({"deadline": 99.0} | changes))
    list(play(pacer, np.array([0.8, 0.5, 0.1]), seed, most=looks))
    assert pacer.verdict is None
    return pacer


@pytest.mark.parametrize("evidence", ["group-sequential", "betting", "lil"])
def test_a_deadline_gets_the_leader_and_the_confidence_reached(evidence: str) -> None:
    looks = {"group-sequential": 7, "betting": 25, "lil": 65}[evidence]
    pacer = race_of_three(evidence, looks, confidence=1 - 1e-7)
    verdict = pacer.stop("the deadline came")
    assert verdict.decided
    assert verdict.arms.tolist() == [0]
    assert verdict.confidence is not None
    assert 0.5 <= verdict.confidence <= 0.999
    others = np.setdiff1d(pacer.alive, [0])
    assert pacer.evidence.out_at(1 - verdict.confidence + 1e-9, others)
    if verdict.confidence < 0.99:
        assert not pacer.evidence.out_at(0.99 - verdict.confidence, others)


def test_no_more_is_reached_than_was_asked_for() -> None:
    """Whatever the evidence may say."""

    class Certain(Betting):
        def out_at(self, level: float, arms: Ints) -> bool:
            return True

    pacer = start(Racing(lambda task, delta: Certain(task.arms, delta, (0.0, 1.0))), deadline=9.0)
    assert pacer.reached(np.array([0])) == 0.9


def test_what_was_spent_on_the_end_is_taken_off() -> None:
    """The same evidence at the same looks: 0.65 δ less is reached."""
    exact, near = (
        race_of_three("betting", 24, confidence=1 - delta, tolerance=tolerance, seed=0)
        for delta, tolerance in ((0.035, 0.0), (0.1, 1e-6))
    )
    answer_now = np.array([0])
    assert exact.evidence.scores().tolist() == near.evidence.scores().tolist()
    without, taken_off = exact.reached(answer_now), near.reached(answer_now)
    assert without is not None
    assert taken_off == pytest.approx(without - 0.065, abs=0.01)


def test_an_answer_against_the_evidence_has_reached_nothing() -> None:
    pacer = race_of_three(confidence=1 - 1e-7)
    assert pacer.reached(np.array([2])) is None


def test_evidence_that_does_not_say_has_reached_nothing() -> None:
    class Silent(Betting):
        out_at = Evidence.out_at

    def own(task: Task, delta: float) -> Evidence:
        return Silent(task.arms, delta, (0.0, 1.0))

    pacer = start(Racing(own), deadline=9.0)
    list(play(pacer, NEAR, seed=3, most=20))
    verdict = pacer.stop("the deadline came")
    assert verdict.decided
    assert verdict.confidence is None


def test_a_cap_leaves_a_race_to_a_confidence_alone_undecided() -> None:
    verdict = race_of_three(confidence=1 - 1e-7, deadline=None).stop("that was the cap")
    assert not verdict.decided
    assert verdict.confidence is None


# What it may be told about the evidence.


@pytest.mark.parametrize(
    ("evidence", "noise", "kind"),
    [
        ("auto", BernoulliNoise(), Betting),
        ("auto", NormalNoise(), Student),
        ("auto", BoundedNoise((0.0, 1.0)), Betting),
        ("betting", BernoulliNoise(), Betting),
        ("lil", BernoulliNoise(), LilEvidence),
        ("lil", NormalNoise(), LilEvidence),
    ],
)
def test_the_evidence_is_what_was_asked_for(evidence: str, noise: Noise, kind: type) -> None:
    assert type(start(Racing(evidence), noise=noise).evidence) is kind


def test_unknown_evidence_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="unknown evidence 'beting': did you mean 'betting'"):
        Racing("beting")


@pytest.mark.parametrize("noise", [NormalNoise(), SubgaussianNoise(sigma=1.0)])
def test_betting_without_bounds_is_refused(noise: Noise) -> None:
    with pytest.raises(InvalidInput, match="between bounds"):
        start(Racing("betting"), noise=noise)
    with pytest.raises(InvalidInput, match="between bounds"):
        simulate(Normal([0.0, 1.0]), Racing("betting"), noise=noise)


def test_evidence_of_ones_own_is_given_the_task_and_its_share_of_delta() -> None:
    given: list[float] = []

    def own(task: Task, delta: float) -> Evidence:
        given.append(delta)
        return Betting(task.arms, delta, (0.0, 1.0))

    pacer = start(Racing(own))
    assert isinstance(pacer.evidence, Betting)
    list(play(pacer, np.linspace(0.9, 0.1, 9), seed=6))
    assert pacer.verdict is not None
    assert pacer.verdict.arms.tolist() == [0]
    start(Racing(own), tolerance=0.1)  # the rest is for the end
    assert given == pytest.approx([0.1, 0.035])


def test_the_papers_interval_counts_the_arms_that_failed() -> None:
    pacer = start(Racing("lil"), arms_at_start=20)
    assert isinstance(pacer.evidence, LilEvidence)
    assert pacer.evidence.interval.arms == 20


# All that may be assumed, with all that may be pulls_asked for.

MEANS = np.array([0.2, 0.8, 0.35, 0.65, 0.1])


def betas() -> Problem:
    return Distributions([stats.beta(4 * mean, 4 * (1 - mean)) for mean in MEANS])


CASES: dict[str, tuple[Callable[[], Problem], Noise]] = {
    "bernoulli": (lambda: Bernoulli(MEANS), BernoulliNoise()),
    "bounded": (betas, BoundedNoise((0.0, 1.0))),
    "normal": (lambda: Normal(MEANS, 0.2, common=0.5), NormalNoise()),
    "normal, σ known": (lambda: Normal(MEANS, 0.2, common=0.5), NormalNoise(sigma=0.2)),
    "subgaussian": (lambda: Normal(MEANS, 0.2, common=0.5), SubgaussianNoise(sigma=0.2)),
}


@pytest.mark.parametrize("evidence", ["auto", "lil"])
@pytest.mark.parametrize("paired", [False, True], ids=["alone", "paired"])
@pytest.mark.parametrize("top", [1, 2])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize("case", CASES)
def test_the_answers_are_right(
    case: str, tolerance: float, top: int, paired: bool, evidence: str
) -> None:
    make, noise = CASES[case]
    result = simulate(
        make(),
        Racing(evidence),
        confidence=0.99,
        noise=noise,
        paired=paired,
        top=top,
        tolerance=tolerance,
        replications=3,
    )
    assert result.correct.all()
    assert all(sorted(row) == [1, 3][:top] for row in result.chosen.tolist())
    assert result.confidence == 0.99


def test_tied_arms_are_told_apart_by_nothing_but_a_tolerance() -> None:
    tied = [0.7, 0.7, 0.1]
    never = simulate(tied, Racing(), confidence=0.9, max_pulls=1e6, seed=3)
    assert never.index.tolist() == [-1]
    assert never.still_in[0].tolist() == [0, 1]
    near = simulate(tied, Racing(), confidence=0.9, tolerance=0.05, replications=5)
    assert near.correct.all()


def test_common_noise_drops_out_of_a_paired_race() -> None:
    problem = Normal([0.5, 0.4, 0.4, 0.4], sigma=1.0, common=0.95)
    spent = {
        paired: simulate(
            problem, Racing(), confidence=0.9, noise="normal", paired=paired, replications=5
        ).pulls.mean()
        for paired in (False, True)
    }
    assert spent[True] < 0.5 * spent[False]


# Traps.


@dataclass
class Square(Scaling):
    """Of a user's own: no frozen dataclass, and so without a hash."""

    factor: float = 2.0

    def _seconds(self, pulls: Floats) -> Floats:
        return self.factor * np.sqrt(pulls)


def test_a_scaling_without_a_hash_will_do() -> None:
    """The trap: what the first round is planned by is kept for other races."""
    own = simulate([0.9, 0.5, 0.4], Racing(), Square(), confidence=0.9)
    same = simulate([0.9, 0.5, 0.4], Racing(), PowerLaw(0.5, 2.0), confidence=0.9)
    assert own.index.tolist() == [0]
    assert own.pulls.tolist() == same.pulls.tolist()


def test_no_more_pulls_are_run_than_are_allowed() -> None:
    """The trap: of a long round, arms that fall early have had pulls that nobody is told of."""
    means = np.r_[0.51, 0.5, np.full(63, 0.1)]
    result = simulate(means, Racing(), PowerLaw(0.1), confidence=0.9, max_pulls=20_000)
    assert result.pulls[0] <= 20_000
