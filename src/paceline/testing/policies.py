"""The laws of policies."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from paceline.core.arrays import Ints
from paceline.core.pool import CorePool
from paceline.core.problem import Bernoulli
from paceline.core.rounds import Conditions, Looks, Results, Round, Until, Verdict
from paceline.core.scaling import PowerLaw
from paceline.errors import InvalidInput
from paceline.policies.base import Pacer, Policy, Task

ARMS = 9
MEANS = np.linspace(0.95, 0.05, ARMS)
MOST_ROUNDS = 3000


def asked(pacer: Pacer) -> Round:
    """The round that a pacer asks for; it must not have a verdict yet."""
    wanted = pacer.ask()
    assert isinstance(wanted, Round), "it has a verdict"
    return wanted


class PolicyContract:
    """Every policy keeps these laws. Say which policy, and what makes it stop.

    ```python
    class TestClearLead(PolicyContract):
        policy = ClearLead(lead=20.0)
        goal = {"confidence": 0.9}  # or {"deadline": 50.0}, or both
    ```

    The policy races nine arms of zeros and ones, whose means fall from 0.95 to 0.05.
    """

    policy: ClassVar[Policy]
    goal: ClassVar[dict[str, float]]  # what makes it stop

    def task(self, **changes: Any) -> Task:
        """The task of the policy, with these changes."""
        given: dict[str, Any] = {"arms": ARMS, "scaling": PowerLaw(0.5), "seed": 5, **self.goal}
        return Task(**(given | changes))

    def rounds(self, pacer: Pacer, seed: int, *, pieces: bool) -> Iterator[tuple[Round, Results]]:
        """Play a race; with `pieces`, tell every round in parts and in another order.

        If only a part of a round is due, that part is told and stands for the round.
        """
        problem = Bernoulli(MEANS)
        rng, cut = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        for _ in range(MOST_ROUNDS):
            wanted = pacer.ask()
            if isinstance(wanted, Verdict):
                return
            due = _due(wanted)
            sums, squares = problem.draw(wanted.arms, due, due, rng)
            results = Results(wanted.arms, due, sums, squares)
            for part in _pieces(results, cut) if pieces else [results]:
                pacer.tell(part)
            yield wanted, results

    def test_a_round_names_each_arm_once_and_asks_for_pulls(self) -> None:
        """No arm appears twice in a round, and at least one pull of each is asked for."""
        for wanted, _ in self.rounds(self.policy.start(self.task()), 0, pieces=False):
            assert np.unique(wanted.arms).size == wanted.arms.size > 0
            assert (wanted.pulls >= 1).all()
            assert ((wanted.arms >= 0) & (wanted.arms < ARMS)).all()
            assert ((_due(wanted) >= 1) & (_due(wanted) <= wanted.pulls)).all()

    def assert_undisturbed(self, disturb: Callable[[Pacer], None], seed: int) -> None:
        """Two races with the same rewards ask for the same pulls, even if one is disturbed."""
        quiet, disturbed = self.policy.start(self.task()), self.policy.start(self.task())
        pairs = zip(
            self.rounds(quiet, seed, pieces=False),
            self.rounds(disturbed, seed, pieces=False),
            strict=True,
        )
        for (a, _), (b, _) in pairs:
            assert a.arms.tolist() == b.arms.tolist()
            assert a.pulls.tolist() == b.pulls.tolist()
            assert _due(a).tolist() == _due(b).tolist()
            disturb(disturbed)

    def test_asking_changes_nothing(self) -> None:
        """Asking three times is the same as asking once."""

        def ask_three_times(pacer: Pacer) -> None:
            for _ in range(3):
                pacer.ask()

        self.assert_undisturbed(ask_three_times, seed=1)

    def test_only_what_is_missing_is_asked_for(self) -> None:
        """What was told is not asked for again."""
        pacer = self.policy.start(self.task())
        wanted = asked(pacer)
        first, *others = _pieces(_zeros(wanted), np.random.default_rng(0))
        if not others:
            pytest.skip("the first round is a single pull")
        pacer.tell(first)
        left = asked(pacer)
        assert left.total == wanted.total - int(first.pulls.sum())
        if isinstance(left.how, Looks):
            assert left.how.due.sum() == _due(wanted).sum() - int(first.pulls.sum())

    def test_results_in_pieces_and_any_order_lead_to_the_same_race(self) -> None:
        """Only what was told counts, not in which parts it was told."""
        whole, parts = self.policy.start(self.task()), self.policy.start(self.task())
        played = list(self.rounds(whole, 2, pieces=False))
        again = list(self.rounds(parts, 2, pieces=True))
        assert [r.arms.tolist() for r, _ in played] == [r.arms.tolist() for r, _ in again]
        assert [r.pulls.tolist() for r, _ in played] == [r.pulls.tolist() for r, _ in again]
        assert [_due(r).tolist() for r, _ in played] == [_due(r).tolist() for r, _ in again]

    def test_a_replay_repeats_the_race(self) -> None:
        """A pacer is a function of what it was told, so a race can be resumed."""
        first = self.policy.start(self.task())
        record = [results for _, results in self.rounds(first, 3, pieces=False)]
        second = self.policy.start(self.task())
        for results in record:
            second.tell(results)
        assert second.tally.pulls.tolist() == first.tally.pulls.tolist()
        assert second.ask().arms.tolist() == first.ask().arms.tolist()
        assert (second.verdict is None) == (first.verdict is None)
        if first.verdict is not None and second.verdict is not None:
            assert second.verdict.arms.tolist() == first.verdict.arms.tolist()

    def test_which_object_is_told_of_does_not_matter(self) -> None:
        """After a resume, λ is another object with the same numbers."""
        pool = CorePool(6, lambda cores: 0.1 / cores**0.5)
        equal = CorePool.from_json(pool.to_json())
        races = []
        for told in ((pool, pool), (equal, pool)):
            pacer, rng = self.policy.start(self.task(scaling=pool)), np.random.default_rng(7)
            now, played = 0.0, []
            while pacer.verdict is None and pacer.rounds < 60:
                wanted = asked(pacer)
                now += 1.05 * pool.seconds(float(wanted.total))
                ones = rng.binomial(_due(wanted), MEANS[wanted.arms]).astype(np.float64)
                conditions = Conditions(now, told[pacer.rounds % 2])
                pacer.tell(Results(wanted.arms, _due(wanted), ones, ones), conditions)
                played.append((wanted.arms.tolist(), wanted.pulls.tolist()))
            races.append(played)
        assert races[0] == races[1]

    def test_a_round_that_ends_at_a_time_is_decided_on_what_is_back(self) -> None:
        """With all, some or no pulls of each arm: it goes on, and asking changes nothing."""
        for seed in range(4):
            pacer, rng = self.policy.start(self.task()), np.random.default_rng(seed)
            if not isinstance(asked(pacer).how, Until):
                pytest.skip("its rounds end only with their last pull")
            for _ in range(MOST_ROUNDS):
                wanted, rounds = pacer.ask(), pacer.rounds
                assert wanted is pacer.ask()
                if isinstance(wanted, Verdict):
                    break
                assert isinstance(wanted.how, Until)
                end = wanted.how.moment
                assert pacer.elapsed <= end <= self.goal["deadline"]
                assert (wanted.pulls >= 0).all()
                assert wanted.total > 0
                conditions = Conditions(end, pacer.scaling, pacer.delays)
                pacer.tell(_some(wanted, rng), conditions)
                assert pacer.rounds == rounds + 1
            assert isinstance(pacer.ask(), Verdict)

    def test_nothing_is_asked_after_the_verdict_and_late_results_change_nothing(self) -> None:
        """A verdict is final."""
        pacer = self.policy.start(self.task())
        record = list(self.rounds(pacer, 4, pieces=False))
        if pacer.verdict is None:
            pytest.skip("it stops only when it is stopped")
        verdict = pacer.ask()
        assert verdict is pacer.verdict
        pacer.tell(record[-1][1])
        assert pacer.ask() is pacer.verdict is verdict

    def test_it_can_be_stopped_at_any_time_and_goes_on_as_if_it_had_not(self) -> None:
        """Saying how a race stands does not disturb it."""
        assert not self.policy.start(self.task()).stop("nothing was pulled yet").decided
        self.assert_undisturbed(_stop, seed=6)

    def test_a_missing_goal_is_refused(self) -> None:
        """The error says what to give."""
        if self.policy.goal is None:
            pytest.skip("it takes either")
        other = {"deadline": 50.0} if self.policy.goal == "confidence" else {"confidence": 0.9}
        with pytest.raises(InvalidInput, match=rf"{self.policy.name} .*give a {self.policy.goal}"):
            self.policy.start(Task(arms=ARMS, scaling=PowerLaw(0.5), **other))  # type: ignore[arg-type]
        if self.policy.goal == "deadline":
            with pytest.raises(InvalidInput, match="guarantees no confidence"):
                self.policy.start(self.task(confidence=0.9))

    def test_top_and_tolerance_work_or_are_refused(self) -> None:
        """As the class says."""
        for change, able in (
            ({"top": 2}, self.policy.finds_top),
            ({"tolerance": 0.1}, self.policy.takes_tolerance),
        ):
            if able:
                pacer = self.policy.start(self.task(**change))
                list(self.rounds(pacer, 5, pieces=False))
                assert pacer.verdict is not None
                assert pacer.verdict.arms.size == pacer.task.top
            else:
                task = self.task(**change)
                advice = "try racing" if task.confidence is not None else "try staged|leave it out"
                with pytest.raises(InvalidInput, match=advice):
                    self.policy.start(task)


def _stop(pacer: Pacer) -> None:
    verdict = pacer.stop("for a test")
    assert verdict.reason == "for a test"
    assert verdict.arms.tolist() == pacer.stop("for a test").arms.tolist()
    asked_for, has_deadline = pacer.task.confidence, pacer.task.deadline is not None
    if has_deadline and asked_for is not None:  # it may say what it has reached
        assert verdict.confidence is None or verdict.confidence <= asked_for
    else:
        assert verdict.confidence is None
    assert verdict.decided == has_deadline


def _due(wanted: Round) -> Ints:
    """What a runner tells at once: all that is asked for, or the part of it that is due."""
    return wanted.how.due if isinstance(wanted.how, Looks) else wanted.pulls


def _some(wanted: Round, rng: np.random.Generator) -> Results:
    """What is back when a round ends before all of it is."""
    shares = rng.choice([0.0, 0.5, 1.0], wanted.arms.size, p=[0.1, 0.4, 0.5])
    pulls = rng.binomial(wanted.pulls, shares)
    some = pulls > 0
    ones = rng.binomial(pulls, MEANS[wanted.arms])[some].astype(np.float64)
    return Results(wanted.arms[some], pulls[some], ones, ones, last=True)


def _zeros(wanted: Round) -> Results:
    nothing = np.zeros(wanted.arms.size)
    return Results(wanted.arms, _due(wanted), nothing, nothing)


def _pieces(results: Results, rng: np.random.Generator) -> list[Results]:
    """Split results into single arms, those of more than one pull in two, in random order."""
    parts = []
    for arm, pulls, ones in zip(
        results.arms.tolist(), results.pulls.tolist(), results.sums.tolist(), strict=True
    ):
        first = int(rng.integers(1, pulls)) if pulls > 1 else pulls
        ones_first = min(ones, first)
        parts.append((arm, first, ones_first))
        if pulls > first:
            parts.append((arm, pulls - first, ones - ones_first))
    return [
        Results(np.array([arm]), np.array([pulls]), np.array([ones]), np.array([ones]))
        for arm, pulls, ones in (parts[i] for i in rng.permutation(len(parts)))
    ]
