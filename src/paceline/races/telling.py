"""Reports on a race under way: how it stands, what looks wrong, how long it may take."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.noise import Noise
from paceline.core.rounds import Verdict
from paceline.core.words import arm_name
from paceline.durations import say_seconds
from paceline.journal.records import FieldChanged, PullsReturned
from paceline.policies.base import Pacer
from paceline.policies.prospect import Range, foreseen, seconds_left
from paceline.pools.dispatcher import Dispatcher
from paceline.races.callbacks import NOTHING, Callbacks
from paceline.races.concerns import DECLARED, TABLE, Concerns, Contenders
from paceline.races.contradiction import contradiction
from paceline.races.declared import contradictions, without_claims
from paceline.races.sentence import describe_losses
from paceline.races.settings import Settings
from paceline.races.snapshot import View, standing_of
from paceline.story.standing import Standing

_SLOW_SECONDS, _SLOW_TIMES = 5.0, 20.0  # a pull that takes that long is named


@dataclass(frozen=True)
class Audience:
    """Who follows a race: a screen now and then, callbacks and a log after every round.

    A callback that returns True stops the race. Without a screen, `loud` is called with warnings.
    """

    watch: Callable[[Standing], None] | None = None
    callbacks: Callbacks = NOTHING
    loud: Callable[[str], None] | None = None
    log: Callable[[Standing], None] | None = None


@dataclass(frozen=True)
class Phase:
    """Where a race is: the arms that have not failed, the noise assumed, and the pacer at work."""

    racing: Ints
    noise: Noise
    deadline: float  # seconds of the race
    pacer: Pacer | None = None
    is_opening: bool = True  # whether the pacer only asks for the first pulls

    @property
    def alive(self) -> list[int]:
        """The arms still in, as the policy sees it."""
        arms: list[int] = (
            self.racing if self.pacer is None else self.racing[self.pacer.alive]
        ).tolist()
        return arms

    @property
    def rounds(self) -> int:
        """How many rounds of the policy have ended; the opening is not one of them."""
        return 0 if self.pacer is None or self.is_opening else self.pacer.rounds


class Teller:
    """Tells an audience about a race. Rounds that earlier sessions reported are not repeated."""

    def __init__(
        self,
        settings: Settings,
        dispatcher: Dispatcher,
        audience: Audience,
        warnings: dict[str, str],
        rounds_told: int = 0,
    ) -> None:
        self.settings = settings
        self.dispatcher = dispatcher
        self.concerns = Concerns(
            settings.labels,
            dispatcher.recording.note,
            None if audience.watch is not None else audience.loud,
            warnings,
            claims=settings.goal.confidence is not None,
        )
        self._audience = audience
        self._rounds_told = rounds_told
        self._alive: Ints | None = None  # as last recorded
        self._foreseen: tuple[tuple[int, int], Floats | None] | None = None

    @property
    def watches(self) -> bool:
        """Whether somebody watches the race between its rounds, too."""
        return self._audience.watch is not None

    def standing(self, phase: Phase) -> Standing:
        """How the race stands now."""
        view = self.view(phase)
        remaining = self._remaining(phase, view.values)
        outlook = self._slow_pull() or self._outlook(phase, view.values, remaining)
        return standing_of(view, outlook, remaining)

    def view(self, phase: Phase) -> View:
        """Everything known about the race now."""
        self.concerns.losses(describe_losses(self.dispatcher.books.attempts))
        return View(
            self.settings,
            self.dispatcher.books,
            phase.noise,
            self._values(),
            frozenset(phase.alive),
            elapsed=self.dispatcher.clock.elapsed(),
            deadline=None if math.isinf(phase.deadline) else phase.deadline,
            rounds=phase.rounds,
            busy_cores=self.dispatcher.assignments.working_cores,
            warnings=tuple(self.concerns.texts.values()),
        )

    def tick(self, phase: Phase) -> None:
        """Update the screen: some time has passed."""
        if self._audience.watch is not None:
            self._audience.watch(self.standing(phase))

    def round_ended(self, phase: Phase) -> bool:
        """Report a round that has ended; return whether the race is to stop."""
        values, at = self._values(), self.dispatcher.clock.elapsed()
        self.concerns.look(values, phase.noise, at)
        if phase.rounds <= self._rounds_told:
            return False
        audience = self._audience
        if audience.watch is None:
            self.concerns.warn_of_length(self._outlook(phase, values), at)
        if not (audience.watch or audience.callbacks.on_round or audience.log):
            return False
        standing = self.standing(phase)
        for told in filter(None, (audience.watch, audience.log)):
            told(standing)
        return audience.callbacks.round_ended(standing)

    def result_came(self, record: PullsReturned, phase: Phase) -> bool:
        """Report pulls that gave values; return whether the race is to stop."""
        standing = partial(self.standing, phase)
        return self._audience.callbacks.returned(record, self.settings.seeds, standing)

    def note_field(self, phase: Phase) -> None:
        """Record which arms are out, if that has changed since it was recorded."""
        dispatcher = self.dispatcher
        if not dispatcher.recording.is_fresh or phase.pacer is None:
            return  # these are results of earlier sessions, which recorded it then
        alive = phase.pacer.alive
        if self._alive is not None and np.array_equal(alive, self._alive):
            return
        self._alive = alive
        books = dispatcher.books
        known = {arm for arm in books.course.falls if arm not in books.attempts.out}
        out = set(phase.racing.tolist()) - set(phase.racing[alive].tolist())
        if out != known:
            fell, back = tuple(sorted(out - known)), tuple(sorted(known - out))
            dispatcher.recording.note(FieldChanged(dispatcher.clock.stamp(), fell, back))

    def believe(self, verdict: Verdict, phase: Phase) -> Verdict:
        """The verdict, after a check of the values that it rests on; warn of what looks wrong."""
        values, at = self._values(), self.dispatcher.clock.elapsed()
        verdict = self.concerns.believe(verdict, values, phase.noise, at)
        self.concerns.losses(describe_losses(self.dispatcher.books.attempts), at)
        if not verdict.decided and self.settings.goal.confidence is not None:
            self.concerns.undecided(self._contenders(verdict.arms.tolist(), values), at)
        if verdict.decided and verdict.confidence is not None:
            self._explain_table(verdict.arms.tolist(), values, at)
        self.check_declared()
        return without_claims(verdict, self.settings, self.dispatcher.books.attempts)

    def check_declared(self) -> None:
        """Warn of values that the user had ruled out."""
        text = contradictions(self.settings, self.dispatcher.books.attempts)
        if text:
            self.concerns.say(DECLARED, text, self.dispatcher.clock.elapsed())

    def _explain_table(self, chosen: list[int], values: Sequence[Floats], at: float) -> None:
        settings = self.settings
        text = contradiction(
            chosen,
            self.dispatcher.books.attempts.out.keys(),
            values,
            settings.labels,
            sign=settings.sign,
            tolerance=settings.goal.tolerance,
        )
        if text:
            self.concerns.say(TABLE, text, at)

    def _values(self) -> list[Floats]:
        """The values of each arm, in the order of its pulls."""
        ledger, in_order = self.dispatcher.books.ledger, self.settings.goal.confidence is not None
        return [ledger.values(arm, in_order=in_order) for arm in range(len(self.settings.arms))]

    def _contenders(self, arms: list[int], values: Sequence[Floats]) -> Contenders:
        settings, elapsed = self.settings, self.dispatcher.clock.elapsed()
        return Contenders(
            arms,
            [settings.sign * values[arm] for arm in arms],
            delta=1 - (settings.goal.confidence or 0.95),
            paired=settings.pairing.judges_pairs,
            top=settings.goal.top,
            rate=sum(one.size for one in values) / elapsed if elapsed > 0 else 0.0,
        )

    def _slow_pull(self) -> str:
        """A pull that has been running far longer than others do, if there is one."""
        dispatcher = self.dispatcher
        one, usual = dispatcher.assignments.longest_silent(), dispatcher.books.times.usual_seconds()
        if one is None or usual is None or not one.left:
            return ""
        seconds = dispatcher.clock.now() - one.heard
        if seconds < max(_SLOW_SECONDS, _SLOW_TIMES * usual):
            return ""
        which = arm_name(self.settings.labels[one.left[0].arm])
        took = f"others take {say_seconds(usual)}"
        return f"a pull of {which} has been running for {say_seconds(seconds)}, {took}: see timeout"

    def _outlook(
        self, phase: Phase, values: Sequence[Floats], remaining: Range | None = None
    ) -> str:
        """What keeps the race, if nothing but its own verdict will end it."""
        if phase.pacer is None or math.isfinite(min(phase.deadline, self.settings.goal.max_pulls)):
            return ""
        contenders = self._contenders(phase.alive, values)
        return self.concerns.prospect(contenders, self.dispatcher.clock.elapsed(), remaining)

    def _remaining(self, phase: Phase, values: Sequence[Floats]) -> Range | None:
        """The seconds until the verdict, if it will come by evidence."""
        pacer = phase.pacer
        if pacer is None or phase.is_opening or self.settings.goal.confidence is None:
            return None
        told = pacer.tally.pulls
        state = (id(pacer), int(told.sum()))
        if self._foreseen is None or self._foreseen[0] != state:
            self._foreseen = (state, foreseen(pacer))
        left = self._foreseen[1]
        if left is None:
            return None
        # Arms still in may have values that no look has had yet.
        ahead = sum(values[arm].size for arm in phase.alive) - int(told[pacer.alive].sum())
        pulls = sum(one.size for one in values)
        left = np.clip(left - max(ahead, 0), 0.0, max(self.settings.goal.max_pulls - pulls, 0.0))
        elapsed = self.dispatcher.clock.policy_seconds()
        return seconds_left(left, pacer.scaling, elapsed=elapsed, pulls=pulls)
