"""One race from its first pull to its end: probing, planning, racing, going on after failures."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.noise import Noise
from paceline.core.rounds import Round, Verdict
from paceline.durations import say_seconds
from paceline.engines.crew import Failure
from paceline.engines.dispatch import NO_IDEA, ArmsFailed, Dispatcher, NotBinary, Rules
from paceline.errors import InvalidInput, RaceFailed
from paceline.loop import run
from paceline.policies.base import Pacer, Task
from paceline.policies.opening import Opening, OpeningPacer
from paceline.real.concerns import Concerns, Contenders
from paceline.real.record import Past, Plan
from paceline.real.settings import Settings
from paceline.real.summary import standing_of
from paceline.result import Standing

_PROBES_PER_LEVEL = 2


class Contest:
    """A race under way. `watch`, if given, sees how it stands, now and then.

    Without one `loud`, if given, is told what looks wrong about the values.
    """

    def __init__(
        self,
        settings: Settings,
        dispatcher: Dispatcher,
        past: Past,
        watch: Callable[[Standing], None] | None = None,
        callbacks: tuple[Callable[[Standing], Any], ...] = (),
        loud: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.dispatcher = dispatcher
        self.plan = past.plan
        self.concerns = Concerns(
            settings.labels,
            dispatcher.note,
            None if watch is not None else loud,
            past.warnings,
            claims=settings.confidence is not None,
        )
        self.pacer: Pacer | None = None
        self.racing: Ints = np.arange(len(settings.arms))
        self.noise = settings.noise if past.plan is None else past.plan.noise
        self._watch = watch
        self._callbacks = callbacks
        self._not_binary = past.plan is not None and past.plan.noise.kind == "normal"
        self.deadline = self._deadline(past)
        dispatcher.in_order = settings.confidence is not None
        dispatcher.set_elapsed(past.elapsed)
        if watch is not None:
            dispatcher.on_tick = lambda: watch(self.standing())

    def _deadline(self, past: Past) -> float:
        """In seconds of the race: a moment in time comes whether the race runs or not."""
        deadline = self.settings.deadline
        if deadline is None:
            return math.inf
        if deadline.moment is None:
            return deadline.seconds
        left = (deadline.moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()
        return past.elapsed + max(left, 0.0)

    def _pulls_allowed(self) -> float:
        """What the cap leaves: pulls of arms that have failed were pulls too."""
        ledger, failed = self.dispatcher.ledger, self.dispatcher.failed
        return self.settings.max_pulls - sum(ledger.values(arm).size for arm in failed)

    def run(self) -> Verdict:
        """Race to the verdict, whatever fails on the way."""
        with np.errstate(all="ignore"):  # values near the largest floats: that is said otherwise
            return self._run()

    def _run(self) -> Verdict:
        while True:
            try:
                self.racing, self.pacer = self._survivors(), None
                if self.racing.size <= self.settings.top:
                    return self._take_the_rest()
                verdict = None
                if self.plan is None:
                    verdict = self._open()
                if verdict is None:
                    verdict = self._race()
                return self._believed(replace(verdict, arms=self.racing[verdict.arms]))
            except ArmsFailed as failed:
                self._check_failures(failed.arms)
                self.plan = None
            except NotBinary:
                self._not_binary, self.plan = True, None

    def _take_the_rest(self) -> Verdict:
        """No more arms than are wanted have not failed: see that they do give values."""
        arms, dispatcher = self.racing, self.dispatcher
        if not arms.size:
            self._check_failures(sorted(dispatcher.failed))
        why, decided = "all others failed", True
        if not all(dispatcher.ledger.values(arm).size for arm in arms.tolist()):
            dispatcher.begin(arms)
            dispatcher.pursue(Round(np.arange(arms.size), np.ones(arms.size, dtype=np.int64)))
            if dispatcher.wait(self.deadline).total < arms.size:
                why, decided = f"the deadline of {say_seconds(self.deadline)} came", False
        return Verdict(arms, decided=decided, confidence=None, reason=why)

    def standing(self) -> Standing:
        """How the race stands now."""
        return standing_of(self)

    @property
    def rounds(self) -> int:
        """How many rounds of the policy have ended; the first pulls of all are none of its."""
        if self.pacer is None or isinstance(self.pacer, OpeningPacer):
            return 0
        return self.pacer.rounds

    def _survivors(self) -> Ints:
        arms = range(len(self.settings.arms))
        return np.array([arm for arm in arms if arm not in self.dispatcher.failed], dtype=np.int64)

    def values(self) -> list[Floats]:
        """Those of each arm, in the order of its pulls."""
        in_order = self.settings.confidence is not None
        arms = range(len(self.settings.arms))
        return [self.dispatcher.ledger.values(arm, in_order=in_order) for arm in arms]

    def _believed(self, verdict: Verdict) -> Verdict:
        """The verdict, with what is to be said of it."""
        values, at = self.values(), self.dispatcher.elapsed()
        verdict = self.concerns.believe(verdict, values, self.noise, at)
        if not verdict.decided and self.settings.confidence is not None:
            self.concerns.undecided(self._contenders(verdict.arms.tolist(), values), at)
        return verdict

    def _contenders(self, arms: list[int], values: Sequence[Floats]) -> Contenders:
        settings, elapsed = self.settings, self.dispatcher.elapsed()
        sign = -1.0 if settings.minimize else 1.0
        return Contenders(
            arms,
            [sign * values[arm] for arm in arms],
            delta=1 - (settings.confidence or 0.95),
            paired=settings.paired,
            top=settings.top,
            rate=sum(one.size for one in values) / elapsed if elapsed > 0 else 0.0,
        )

    def outlook(self, values: Sequence[Floats]) -> str:
        """How long the race may still take, if nothing but its own verdict will end it."""
        settings, pacer = self.settings, self.pacer
        if pacer is None or math.isfinite(min(self.deadline, settings.max_pulls)):
            return ""
        arms = self.racing[pacer.alive].tolist()
        return self.concerns.prospect(self._contenders(arms, values), self.dispatcher.elapsed())

    def _round_ended(self) -> None:
        values, at = self.values(), self.dispatcher.elapsed()
        self.concerns.look(values, self.noise, at)
        if self._watch is None:
            self.concerns.warn_of_length(self.outlook(values), at)
        if self._watch is None and not self._callbacks:
            return
        standing = self.standing()
        if self._watch is not None:
            self._watch(standing)
        for callback in self._callbacks:
            callback(standing)

    # The first pulls.

    def _open(self) -> Verdict | None:
        """Pull every arm, on different numbers of cores, to see how long it takes and how noisy.

        The pulls count: they answer the first round of the policy. A verdict only if the
        deadline comes before the end.
        """
        dispatcher, settings = self.dispatcher, self.settings
        wants_noise = self.noise.kind == "auto" and settings.confidence is not None
        if dispatcher.pool is None or wants_noise:
            probes: list[int] = []
            if dispatcher.pool is None and settings.shape is None:
                probes = core_levels(settings.rules) * _PROBES_PER_LEVEL
            each = -(-max(len(probes), 1) // self.racing.size)
            task = settings.task(
                self.racing.size, NO_IDEA, Noise("bernoulli"), self._deadline_or_none()
            )
            pacer = Opening(each).start(task)
            self.pacer = pacer
            dispatcher.binary = False
            dispatcher.begin(self.racing)
            dispatcher.probe(probes)
            most = self._pulls_allowed()
            ending = run(pacer, dispatcher, deadline=self.deadline, max_pulls=most)
            if ending.answer.reason:
                return self._explain(ending.answer)
        self.noise = self._assume()
        self.plan = self._make_plan()
        dispatcher.note(self.plan.to_json())
        return None

    def _assume(self) -> Noise:
        """What is assumed about the values, by those of the first pulls."""
        given = self.settings.noise
        if given.kind != "auto":
            return given
        binary = not self._not_binary and self._values_are_binary()
        return Noise("bernoulli" if binary else "normal")

    def _values_are_binary(self) -> bool:
        ledger = self.dispatcher.ledger
        values = [ledger.values(arm, in_order=False) for arm in self.racing.tolist()]
        return all(bool(np.isin(one, (0.0, 1.0)).all()) for one in values)

    def _make_plan(self) -> Plan:
        """Start the policy's clock so that the pulls it is given cost what λ says.

        Probing takes longer than that, and so does what failed arms had: that time is gone.
        """
        pool = self.dispatcher.pool
        assert pool is not None
        ledger = self.dispatcher.ledger
        given = sum(ledger.values(arm).size for arm in self.racing.tolist())
        shift = self.dispatcher.elapsed() - pool.seconds(float(given))
        deadline = None if math.isinf(self.deadline) else self.deadline - shift
        if deadline is not None:
            # What is left may be less than a policy can plan for: it then answers at once.
            deadline = max(deadline, pool.seconds(float(self.racing.size)))
        delays = self.dispatcher.delays()
        return Plan(self.racing, pool, self.noise, deadline, shift, delays)

    # The race itself.

    def _race(self) -> Verdict:
        plan, settings, dispatcher = self.plan, self.settings, self.dispatcher
        assert plan is not None
        self.noise = plan.noise
        task = settings.task(plan.racing.size, plan.pool, plan.noise, plan.deadline, plan.delays)
        try:
            pacer = settings.policy.start(task)
        except InvalidInput as error:  # too late to refuse: what is known by now is the answer
            if not dispatcher.pulls:
                raise
            return self._explain(self._answer_at_once(task).stop(str(error)))
        self.pacer = pacer
        if plan.pool.cores == settings.rules.cores:
            dispatcher.use(plan.pool)
        elif dispatcher.learning:
            dispatcher.refit()
        dispatcher.binary = plan.noise.kind == "bernoulli" and settings.noise.kind == "auto"
        if dispatcher.binary and not self._values_are_binary():  # seen just before a crash
            raise NotBinary("values other than 0 and 1 were seen")
        dispatcher.probe(())
        dispatcher.begin(plan.racing, rounds=plan.rounds, shift=plan.shift)
        ending = run(
            pacer,
            dispatcher,
            deadline=self.deadline - plan.shift,
            max_pulls=self._pulls_allowed(),
            on_round=self._round_ended,
        )
        return self._explain(ending.answer)

    def _answer_at_once(self, task: Task) -> Pacer:
        """Who has heard of what is known by now: of the first pulls, or if those were long ago,
        as where an arm failed late or an ended race is read again, of as many of each arm as there
        are."""
        if self.pacer is None:
            ledger = self.dispatcher.ledger
            known = min(ledger.values(arm).size for arm in self.racing.tolist())
            self.pacer = Opening(max(known, 1)).start(task)
            self.dispatcher.begin(self.racing)
            run(self.pacer, self.dispatcher, deadline=self.deadline)
        return self.pacer

    def _explain(self, verdict: Verdict) -> Verdict:
        """A deadline in the race's own time, not in the policy's."""
        if verdict.reason and self.dispatcher.elapsed() >= self.deadline:
            return replace(verdict, reason=f"the deadline of {say_seconds(self.deadline)} came")
        return verdict

    def _deadline_or_none(self) -> float | None:
        return None if math.isinf(self.deadline) else self.deadline

    def _check_failures(self, arms: list[int]) -> None:
        """Stop if the user said so, or if no arm is left."""
        dispatcher, settings = self.dispatcher, self.settings
        if settings.on_failure == "drop-arm" and len(dispatcher.failed) < len(settings.arms):
            return
        if settings.on_failure == "drop-arm":
            arm, pull, failure = dispatcher.failures[0]
            head = f"all {len(settings.arms)} arms failed; the first"
        else:
            arm, pull, failure = [one for one in dispatcher.failures if one[0] == arms[0]][-1]
            head = "the race was stopped, as on_failure='stop' says, because one arm failed"
        raise RaceFailed(f"{head}: {describe_failure(settings.labels[arm], pull, failure)}")


def core_levels(rules: Rules) -> list[int]:
    """The core counts to try: halved from the most to the least, so that they pack well.

    >>> core_levels(Rules(cores=12, least_cores=1, most_cores=12))
    [12, 6, 3, 1]
    """
    levels = [rules.most_cores]
    while levels[-1] > rules.least_cores:
        levels.append(max(rules.least_cores, levels[-1] // 2))
    return levels


def describe_failure(label: str, pull: int, failure: Failure) -> str:
    """What happened, with the traceback or what was printed below."""
    detail = failure.detail.strip()
    return f"pull {pull} of {label} {failure.message}" + (f"\n{detail}" if detail else "")
