"""Both goals at once: the laws, who decides what, and what a stated confidence rests on."""

import random
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from paceline import (
    Bernoulli,
    CorePool,
    Evaluated,
    InvalidInput,
    Normal,
    PowerLaw,
    Problem,
    Racing,
    Scaling,
    Staged,
    Timed,
    simulate,
)
from paceline.core.arrays import Ints
from paceline.core.delays import Delays
from paceline.core.evidence.base import Evidence
from paceline.core.noise.bounded import BoundedNoise
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Conditions, Looks, Results
from paceline.loop import Ending, run
from paceline.policies import timed
from paceline.policies.base import Task
from paceline.policies.racing import RacingPacer
from paceline.policies.timed import TimedPacer
from paceline.pools.virtual import VirtualRunner
from paceline.testing import PolicyContract, asked

POOL = CorePool(40, lambda cores: 0.2 * cores**-0.5)
BOTH: dict[str, Any] = {"confidence": 0.95, "deadline": 10.0}


class TestTimed(PolicyContract):
    policy = Timed()
    goal = {"confidence": 0.9, "deadline": 60.0}


class TestTimedAtItsShortest(PolicyContract):
    policy = Timed()
    goal = {"confidence": 0.9, "deadline": 3.0}


class TestTimedWithCuts(PolicyContract):
    """The confidence is out of reach, so the plan decides."""

    policy = Timed()
    goal = {"confidence": 0.999999, "deadline": 12.0}


class TestTimedWithThePapersInterval(PolicyContract):
    policy = Timed("lil")
    goal = {"confidence": 0.9, "deadline": 30.0}


class OtherTask(PolicyContract):
    policy = Timed()
    goal = {"confidence": 0.95, "deadline": 30.0}
    changes: dict[str, Any]

    def task(self, **changes: Any) -> Task:
        return super().task(**(self.changes | changes))


class TestTimedNormal(OtherTask):
    changes = {"noise": NormalNoise()}


class TestTimedBounded(OtherTask):
    changes = {"noise": BoundedNoise((0.0, 1.0))}


class TestTimedTop3(OtherTask):
    changes = {"top": 3}


class TestTimedOnUnevenPulls(OtherTask):
    changes = {"delays": Delays.seen(np.random.default_rng(0).lognormal(-0.1, 0.5, 500))}


# Tools.


def ladder(step: float = 1.0, arms: int = 16) -> Problem:
    """Gaps from 0.1 to 1 standard deviations, times `step`."""
    return Normal(np.r_[0.0, -step * np.linspace(0.1, 1.0, arms - 1)])


def play(
    problem: Problem, seed: int, scaling: Scaling = POOL, **changes: Any
) -> tuple[TimedPacer, Ending]:
    """A race in virtual time, and the pacer as it is at its end."""
    given: dict[str, Any] = {"noise": NormalNoise(), "seed": seed, **BOTH}
    task = Task(arms=problem.arms, scaling=scaling, **(given | changes))
    pacer = Timed().start(task)
    assert isinstance(pacer, TimedPacer)
    runner = VirtualRunner(problem, scaling, np.random.default_rng(seed))
    assert task.deadline is not None
    return pacer, run(pacer, runner, deadline=task.deadline)


class Watched:
    """What the evidence was told of each arm, and who fell."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.fallen: set[int] = set()
        self.weighed: dict[int, int] = defaultdict(int)  # pulls, for arms that could fall
        self.back = 0
        take, bring_back = Evidence.take, TimedPacer._bring_back

        def spy(evidence: Evidence, fresh: Results) -> Ints:
            for arm, pulls in zip(fresh.arms.tolist(), fresh.pulls.tolist(), strict=True):
                self.weighed[arm] += 0 if arm in evidence.safe else pulls
            out = take(evidence, fresh)
            assert not self.fallen & set(fresh.arms.tolist()), "who is out is not pulled again"
            self.fallen |= set(out.tolist())
            return out

        def spy_back(pacer: TimedPacer) -> None:
            self.back += 1
            bring_back(pacer)

        patch.setattr(Evidence, "take", spy)
        patch.setattr(TimedPacer, "_bring_back", spy_back)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


# What a stated confidence rests on.


@pytest.mark.parametrize(("top", "step"), [(1, 2.5), (3, 6.0)])
def test_a_confidence_is_stated_only_if_all_others_fell_by_evidence(
    top: int, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated, back = 0, 0
    for seed in range(25):
        with monkeypatch.context() as patch:
            watched = Watched(patch)
            _, ending = play(ladder(step), seed, top=top)
        verdict = ending.answer
        others = set(range(16)) - set(verdict.arms.tolist())
        assert verdict.decided
        assert verdict.arms.size == top
        assert (verdict.confidence == 0.95) == (watched.fallen == others)
        assert bool(verdict.reason) == (verdict.confidence != 0.95)
        stated += verdict.confidence == 0.95
        back += watched.back
    assert 0 < stated < 25, "both kinds of races were seen"
    assert back or top > 1, "and arms that came back"


def test_no_arm_is_judged_twice_by_the_same_pulls() -> None:
    """Each pull of an arm counts for its own test once; a winner's later pulls do not at all."""
    for seed in range(8):
        with pytest.MonkeyPatch.context() as patch:
            watched = Watched(patch)
            pacer, _ = play(ladder(1.5), seed)
        safe = set(pacer.evidence.safe.tolist())
        for arm, pulls in watched.weighed.items():
            if arm not in safe:
                assert pulls == pacer.tally.pulls[arm]


def test_nothing_is_reached_while_arms_set_aside_could_be_the_best() -> None:
    said = []
    for seed in range(20):
        pacer, ending = play(ladder(1.2), seed)
        best = ending.answer.arms
        if pacer.aside:
            levels = [0.05, 0.2, 0.5]
            for one in pacer.aside:
                assert one.alive.size
                assert not set(one.alive.tolist()) & set(best.tolist())
            out = [all(one.out_at(level, one.alive) for one in pacer.aside) for level in levels]
            for level, is_out in zip(levels, out, strict=True):
                assert is_out or not pacer._others_out(level, best)
        said.append(ending.answer.confidence)
    assert None in said


def test_arms_that_were_settled_have_no_level_of_their_own_any_more() -> None:
    """A winner that met others again may look bad; that was no test of it."""
    for seed in range(60):
        pacer, _ = play(ladder(1.5), seed)
        if pacer.evidence.safe.size:
            other = np.setdiff1d(pacer.alive, pacer.evidence.safe)[:1]
            if other.size:
                assert pacer.reached(other) is None
                return
    raise AssertionError("no arm came back")


# Who decides what.


def test_rounds_are_told_at_looks_and_never_by_the_clock() -> None:
    delays = Delays.seen(np.random.default_rng(0).lognormal(-0.1, 0.5, 500))
    task = Task(arms=16, scaling=POOL, noise=NormalNoise(), delays=delays, **BOTH)
    pacer, rng, now = Timed().start(task), np.random.default_rng(0), 0.0
    problem = ladder()
    while pacer.verdict is None:
        wanted = asked(pacer)
        assert isinstance(wanted.how, Looks)
        due = wanted.how.due
        sums, squares = problem.draw(wanted.arms, due, due, rng)
        now += 1.1 * POOL.seconds(float(due.sum()))
        whole = int(due.sum()) == wanted.total
        conditions = Conditions(now, POOL, delays) if whole else None
        pacer.tell(Results(wanted.arms, due, sums, squares), conditions)
    assert pacer.rounds > 2


def test_an_easy_race_is_that_of_racing() -> None:
    goals = {"rewards": "normal", "noise": "normal", "confidence": 0.95, "replications": 30}
    means = 5 * np.r_[0.0, -np.linspace(0.1, 1.0, 15)]
    ours = simulate(means, None, POOL, deadline=60.0, **goals)  # type: ignore[arg-type]
    theirs = simulate(means, Racing(), POOL, **goals)  # type: ignore[arg-type]
    assert ours.seconds.tolist() == theirs.seconds.tolist()
    assert ours.index.tolist() == theirs.index.tolist()


def noisy(arm: float, *, seed: int) -> float:
    return random.Random(seed).gauss(-arm, 1.0)


def test_a_hopeless_race_follows_the_plan_of_staged() -> None:
    """With the same values in the same order, it gives the same answers after as many pulls."""
    problem = Evaluated(noisy, (0.03 * np.arange(24)).tolist(), sigma=1.0)
    scaling = PowerLaw(0.5)  # so that it is best to have one round per stage
    goal: dict[str, Any] = {"deadline": 40.0, "noise": "normal", "replications": 10}
    ours = simulate(problem, Timed(), scaling, confidence=1 - 1e-12, **goal)
    staged = simulate(problem, Staged(), scaling, **goal)
    assert staged.rounds.max() > 1
    assert ours.pulls.tolist() == staged.pulls.tolist()
    assert ours.seconds.tolist() == staged.seconds.tolist()
    assert ours.index.tolist() == staged.index.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_the_deadline_is_kept_and_used(seed: int) -> None:
    for scaling, deadline in ((POOL, 10.0), (PowerLaw(0.5), 60.0), (PowerLaw(0.9), 800.0)):
        pacer, ending = play(ladder(0.5), seed, scaling, deadline=deadline)
        assert ending.seconds <= deadline * (1 + 1e-9)
        assert ending.answer.confidence == 0.95 or ending.seconds > 0.9 * deadline
        assert ending.answer.decided
        assert pacer.rounds


def test_without_a_deadline_it_is_racing() -> None:
    task = Task(arms=4, scaling=PowerLaw(0.5), confidence=0.9)
    assert type(Timed().start(task)) is RacingPacer
    means = [0.9, 0.7, 0.5, 0.1]
    ours, theirs = (simulate(means, policy, confidence=0.9) for policy in (Timed(), Racing()))
    assert ours.seconds.tolist() == theirs.seconds.tolist()


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown evidence"):
        Timed("guess")
    with pytest.raises(InvalidInput, match="raise it to at least"):
        simulate(np.zeros(64), Timed(), PowerLaw(1.0), confidence=0.9, deadline=20.0)


# Values of other kinds.


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("kind", ["0/1", "normal", "normal with sigma", "bounded"])
@pytest.mark.parametrize("top", [1, 2])
def test_all_kinds_of_values(kind: str, paired: bool, top: int) -> None:
    means = np.r_[0.9, 0.8, np.linspace(0.7, 0.2, 8)]
    problem: Problem = Bernoulli(means) if kind == "0/1" else Normal(means, 0.1, 0.5)
    noise: Any = {"0/1": None, "normal": "normal", "normal with sigma": None,
                  "bounded": BoundedNoise((-1.0, 2.0))}[kind]  # fmt: skip
    easy, hard = (
        simulate(problem, None, POOL, confidence=0.95, deadline=deadline, noise=noise,
                 paired=paired, top=top, replications=4, seed=2)
        for deadline in (400.0, 1.0)
    )  # fmt: skip
    assert easy.confidence == 0.95
    assert easy.success == 1.0
    assert hard.seconds.max() <= 1.0 + 1e-9
    assert (hard.chosen >= 0).all()


def test_a_tolerance_may_end_the_race_as_long_as_no_arm_is_set_aside() -> None:
    tied = [0.5, 0.5, 0.2]
    result = simulate(tied, None, POOL, confidence=0.95, deadline=300.0, tolerance=0.1)
    assert result.confidence == 0.95
    assert result.seconds[0] < 300.0


def test_pairs_that_were_cut_do_not_come_back(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their next pulls would share seeds with values that are known."""
    monkeypatch.setattr(timed, "_LIKELY", 2.0)  # so that the plan decides
    early = 0
    problem = Normal(np.r_[0.0, -np.linspace(0.1, 1.0, 15)], 1.0, 0.9)
    for seed in range(30):
        watched.fallen.clear()
        _, ending = play(problem, seed, paired=True, deadline=5.0)
        assert ending.answer.arms.size == 1
        early += ending.seconds < 4.5 and ending.answer.confidence != 0.95
    assert watched.back == 0
    assert early, "the others were settled, and that is the end"
