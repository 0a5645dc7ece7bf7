"""A race under way: from its first pull to its verdict, in phases that return values.

opening → a plan, or a verdict; racing by the plan → a verdict, or what interrupted it. After an
interruption the race is planned anew, with what is known by then.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.rounds import Interruption, Round, Verdict
from paceline.core.statistics import mean_of
from paceline.errors import InvalidInput
from paceline.journal.records import PlanMade, PullsReturned
from paceline.loop import run
from paceline.policies.base import Pacer, Task
from paceline.policies.opening import Opening
from paceline.pools.books import Books
from paceline.pools.dispatcher import Dispatcher
from paceline.pools.interruptions import ArmsFailed, NotAsAssumed, RecordsEnded, StopAsked
from paceline.pools.model import NO_IDEA
from paceline.races.history import Plan
from paceline.races.lateness import too_late
from paceline.races.settings import Settings
from paceline.races.stopping import Stopped, unless_dropped
from paceline.races.telling import Phase, Teller


class Session:
    """Runs a race to its verdict, whatever fails on the way."""

    def __init__(
        self,
        settings: Settings,
        dispatcher: Dispatcher,
        plan: Plan | None,
        teller: Teller,
    ) -> None:
        self.settings = settings
        self.dispatcher = dispatcher
        self.teller = teller
        self.plan = plan
        self.deadline = self._seconds_to_deadline()
        noise = settings.noise if plan is None else plan.made.noise
        self.phase = Phase(np.arange(len(settings.arms)), noise, self.deadline)
        self._may_be_binary = plan is None or plan.made.noise.binary
        if teller.watches:
            dispatcher.ticker.call = lambda: teller.tick(self.phase)

    def result_came(self, record: PullsReturned) -> bool:
        """Pulls gave values, which are known from now on; whether the race is to stop."""
        return self.teller.result_came(record, self.phase)

    def _seconds_to_deadline(self) -> float:
        """In seconds of the race; a fixed moment comes whether the race is running or not."""
        deadline = self.settings.goal.deadline
        if deadline is None:
            return math.inf
        if deadline.moment is None:
            return deadline.seconds
        left = (deadline.moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()
        return self.dispatcher.clock.elapsed() + max(left, 0.0)

    def run(self) -> Verdict | Stopped | RecordsEnded:
        """Race to the verdict, unless failures stop the race, or the records end before it."""
        with np.errstate(all="ignore"):  # values near the largest floats: a doubt reports them
            while True:
                outcome = self._run_once()
                self.plan = None
                if isinstance(outcome, Verdict):
                    return self._believed(outcome)
                if isinstance(outcome, ArmsFailed):
                    self.teller.check_declared()
                    outcome = unless_dropped(outcome, self.settings, self.books.attempts)
                if isinstance(outcome, Stopped | RecordsEnded):
                    return outcome
                if isinstance(outcome, StopAsked):
                    return self._believed(self._as_asked())
                if isinstance(outcome, NotAsAssumed):
                    self._may_be_binary = False

    def _believed(self, verdict: Verdict) -> Verdict:
        """The verdict by the numbers of the race, as far as its values support it."""
        verdict = replace(verdict, arms=self.phase.racing[verdict.arms])
        return self.teller.believe(verdict, self.phase)

    def _as_asked(self) -> Verdict:
        """The verdict of a race that a callback stopped in the middle of a round."""
        pacer, reason = self.phase.pacer, "a callback stopped it"
        if pacer is None:  # only as many arms are left as are wanted
            everyone = np.arange(self.phase.racing.size)
            return Verdict(everyone, decided=False, confidence=None, reason=reason)
        return pacer.stop(reason)

    def go_on(self, plan: Plan, elapsed: float) -> bool:
        """Hear of more records of a race that `run` replayed to their end, under the same plan.

        False if more happened than that the end of the records came: it must be replayed anew.
        """
        pacer, known = self.phase.pacer, self.dispatcher.past_rounds
        if pacer is None or self.phase.is_opening or known > len(plan.rounds):
            return False
        self.dispatcher.recall(plan.rounds[known:])
        self.dispatcher.clock.resume_at(elapsed)
        with np.errstate(all="ignore"):
            return isinstance(self._follow(pacer), RecordsEnded)

    def _run_once(self) -> Verdict | Interruption:
        """Open the race, unless there is a plan, and follow the plan."""
        out = self.books.attempts.out
        arms = [arm for arm in range(len(self.settings.arms)) if arm not in out]
        racing = np.array(arms, dtype=np.int64)
        self.phase = replace(self.phase, racing=racing, pacer=None, is_opening=True)
        if len(arms) <= self.settings.goal.top:
            return self._take_the_rest()
        outcome = self.plan or self._open()
        if not isinstance(outcome, Plan):
            return outcome
        self.plan = outcome
        return self._race(outcome)

    def _take_the_rest(self) -> Verdict | Interruption:
        """Only as many arms are left as are wanted: check that they do give values."""
        arms, dispatcher = self.phase.racing, self.dispatcher
        if not arms.size:
            return ArmsFailed(tuple(self.books.attempts.out))
        everyone = np.arange(arms.size)
        if not all(self.books.ledger.values(arm).size for arm in arms.tolist()):
            dispatcher.begin(arms)
            dispatcher.pursue(Round(everyone, np.ones(arms.size, dtype=np.int64)))
            results = dispatcher.wait(self.deadline)
            if isinstance(results, Interruption):
                return results
            if results.total < arms.size:
                return Verdict(everyone, decided=False, confidence=None, reason=self._too_late())
        return Verdict(everyone, decided=True, confidence=None, reason="all others failed")

    def _open(self) -> Plan | Verdict | Interruption:
        """Pull every arm, on different numbers of cores, to learn the time and noise of a pull.

        The pulls count: they answer the first round of the policy. There is a verdict only if the
        deadline comes first.
        """
        dispatcher, settings = self.dispatcher, self.settings
        racing, model = self.phase.racing, dispatcher.model
        wants_noise = not settings.noise.known and settings.goal.confidence is not None
        if model.pool is None or wants_noise:
            probes = settings.rules.first_widths() if model.wants_probes else []
            each = -(-max(len(probes), 1) // racing.size)
            deadline = None if math.isinf(self.deadline) else self.deadline
            pacer = Opening(each).start(settings.task(racing.size, NO_IDEA, BERNOULLI, deadline))
            self.phase = replace(self.phase, pacer=pacer)
            self._begin(racing)
            dispatcher.giver.probing.begin(probes)
            ending = run(pacer, dispatcher, deadline=self.deadline, max_pulls=self._pulls_allowed())
            if ending.interruption is not None:
                return ending.interruption
            if pacer.verdict is None:  # it was stopped
                return self._explain(ending.answer)
        binary = self._may_be_binary and self._values_are_binary()
        made = self._make_plan(settings.noise.learned(binary=binary))
        dispatcher.recording.note(made)
        return Plan(made)

    def _make_plan(self, noise: Noise) -> PlanMade:
        """Set the policy's clock as if the pulls so far had taken what λ says.

        They took longer, because of probing and of arms that failed: that time is lost.
        """
        dispatcher, racing = self.dispatcher, self.phase.racing.tolist()
        model = dispatcher.model
        dispatcher.learn()
        assert model.pool is not None
        given = sum(self.books.ledger.values(arm).size for arm in racing)
        shift = dispatcher.clock.elapsed() - model.pool.seconds(float(given))
        deadline = None if math.isinf(self.deadline) else self.deadline - shift
        if deadline is not None:
            # What is left may be less than a policy can plan for: it then answers at once.
            deadline = max(deadline, model.pool.seconds(float(len(racing))))
        return PlanMade(tuple(racing), model.pool, noise, deadline, shift, model.delays)

    def _race(self, plan: Plan) -> Verdict | Interruption:
        """Race by the plan."""
        made, settings, dispatcher = plan.made, self.settings, self.dispatcher
        self.phase = replace(self.phase, racing=plan.racing, noise=made.noise)
        task = settings.task(len(made.arms), made.pool, made.noise, made.deadline, made.delays)
        try:
            pacer = settings.policy.start(task)
        except InvalidInput as error:  # too late to refuse: answer with what is known
            if not dispatcher.pulls:
                raise
            return self._answer_at_once(task, str(error))
        self.phase = replace(self.phase, pacer=pacer, is_opening=False)
        if not dispatcher.adopt(made.pool):
            dispatcher.learn()
        assumes_binary = made.noise.binary and not settings.noise.known
        if assumes_binary and not self._values_are_binary():  # seen just before a crash
            return NotAsAssumed()
        dispatcher.giver.probing.begin(())
        self._begin(plan.racing, plan, plausible=_is_binary if assumes_binary else None)
        return self._follow(pacer)

    def _follow(self, pacer: Pacer) -> Verdict | Interruption:
        """Race as the policy says, on its own clock."""
        ending = run(
            pacer,
            self.dispatcher,
            deadline=self.deadline - self.dispatcher.clock.shift,
            max_pulls=self._pulls_allowed(),
            on_round=lambda: self.teller.round_ended(self.phase),
            on_results=lambda: self.teller.note_field(self.phase),
        )
        if ending.interruption is not None:
            return ending.interruption
        return self._by_all_values(self._explain(ending.answer), pacer)

    def _by_all_values(self, verdict: Verdict, pacer: Pacer) -> Verdict:
        """At a deadline without the confidence, have all values decide among the arms still in.

        The policy has been told only of those in whose turn no pull was missing. If one hangs, the
        others may be far ahead.
        """
        goal, racing = self.settings.goal, self.phase.racing
        both = goal.confidence is not None and goal.deadline is not None
        late = self.dispatcher.clock.elapsed() >= self.deadline
        if not (both and late and verdict.reason) or verdict.confidence is not None:
            return verdict
        ledger, alive = self.books.ledger, pacer.alive
        values = [ledger.values(arm) for arm in racing[alive].tolist()]
        means = np.array(
            [self.settings.sign * mean_of(one) if one.size else -np.inf for one in values]
        )
        known = np.count_nonzero(means > -np.inf)
        if known <= goal.top:
            return verdict
        best = alive[np.argsort(-means, kind="stable")[: goal.top]]
        return replace(verdict, arms=best, decided=True)

    def _answer_at_once(self, task: Task, reason: str) -> Verdict:
        """Answer from the first pulls; or, if those were long ago, from as many as there are.

        They were long ago if an arm failed late, or if a race that has ended is read again.
        """
        pacer, racing = self.phase.pacer, self.phase.racing
        if pacer is None:
            known = min(self.books.ledger.values(arm).size for arm in racing.tolist())
            pacer = Opening(max(known, 1)).start(task)
            self.phase = replace(self.phase, pacer=pacer)
            self._begin(racing)
            run(pacer, self.dispatcher, deadline=self.deadline)
        return self._explain(pacer.stop(reason))

    def _begin(
        self,
        racing: Ints,
        plan: Plan | None = None,
        plausible: Callable[[float], bool] | None = None,
    ) -> None:
        """Have the dispatcher use these arms, and the clock of the plan's policy."""
        self.dispatcher.begin(
            racing,
            rounds=() if plan is None else plan.rounds,
            shift=0.0 if plan is None else plan.made.shift,
            in_order=self.settings.goal.confidence is not None,
            plausible=plausible,
        )

    @property
    def books(self) -> Books:
        """Everything known about the race."""
        return self.dispatcher.books

    def _values_are_binary(self) -> bool:
        ledger = self.books.ledger
        values = [ledger.values(arm, in_order=False) for arm in self.phase.racing.tolist()]
        return all(bool(np.isin(one, (0.0, 1.0)).all()) for one in values)

    def _pulls_allowed(self) -> float:
        """What the cap leaves; pulls of failed arms count against it, too."""
        ledger, out = self.books.ledger, self.books.attempts.out
        return self.settings.goal.max_pulls - sum(ledger.values(arm).size for arm in out)

    def _explain(self, verdict: Verdict) -> Verdict:
        """Name a deadline in the race's time, not in the policy's."""
        if verdict.reason and self.dispatcher.clock.elapsed() >= self.deadline:
            return replace(verdict, reason=self._too_late())
        return verdict

    def _too_late(self) -> str:
        return too_late(self.deadline, self.dispatcher)


def _is_binary(value: float) -> bool:
    return value in (0.0, 1.0)
