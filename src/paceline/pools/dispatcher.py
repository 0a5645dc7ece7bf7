"""The runner of every real race: gives out what the loop wants to the workers of an engine.

Everything that happens becomes a record. It is in the journal before anything acts on it. Records
count in the same way whether they are new, of an earlier session, or too late to be waited for.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.pool import CorePool
from paceline.core.rounds import (
    NOT_AHEAD,
    NOTHING,
    Ahead,
    Conditions,
    Interruption,
    Results,
    Round,
    Shares,
    Until,
)
from paceline.engines.base import Workers
from paceline.journal.records import RoundEnded
from paceline.pools.assignments import Assignment, Assignments
from paceline.pools.backlog import Backlog
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock, Ticker, early_seconds
from paceline.pools.giving import Giver
from paceline.pools.intake import Intake
from paceline.pools.interruptions import PastRound, RecordsEnded
from paceline.pools.model import NO_IDEA, PoolModel
from paceline.pools.recording import Recorder, Recording
from paceline.pools.rules import Rules

_WORTH_KILLING_SECONDS = 0.25  # a new worker has to load the user's modules again
_ROUNDING_SECONDS = 1e-9  # a deadline that has come is not missed because sums are rounded
_LONGEST_WAIT_SECONDS = 86400.0  # operating systems take no timeout of a month


class Dispatcher:
    """A `Runner` over the workers of an engine; without workers, it replays what was recorded.

    Arms are numbered as in the race, except in what goes to and comes from the policy: see
    `begin`. `can_end` says whether workers can end a job before its time.
    """

    def __init__(
        self,
        workers: Workers | None,
        rules: Rules,
        books: Books,
        *,
        clock: RaceClock,
        model: PoolModel | None = None,
        journal: Recorder | None = None,
        largest_group: int = 1,
        group_seconds: float = 0.005,
        can_end: bool = True,
        hurries: bool = True,
    ) -> None:
        self.books = books
        self.clock = clock
        self.model = model or PoolModel(rules)
        self.assignments = Assignments(rules.cores, clock.now, rules.nodes, rules.asked.at_once)
        arms = len(books.arm_seconds)
        backlog = Backlog(arms)
        for arm in range(arms):  # what is missing between values of earlier sessions
            backlog.restore(arm, *books.ledger.gaps(arm))
        self.giver = Giver(
            rules,
            self.assignments,
            backlog,
            self.model,
            books,
            largest_group,
            can_end=can_end,
            group_seconds=group_seconds,
            hurries=hurries,
        )
        self.recording = Recording(books, journal)
        self.intake = Intake(
            rules, self.recording, self.assignments, backlog, clock, self.giver.backups.ended
        )
        self.ticker = Ticker(clock.now)
        self._workers = workers
        self._can_end = can_end
        self._rules = rules
        self.begin(np.arange(arms))

    def begin(
        self,
        racing: Ints,
        *,
        rounds: Sequence[PastRound] = (),
        shift: float = 0.0,
        in_order: bool = True,
        plausible: Callable[[float], bool] | None = None,
    ) -> None:
        """Start a policy that knows only the arms `racing`, and calls them 0, 1, …

        Values that are known already answer its first rounds. `rounds` are those that it was told
        of before an interruption; `shift` is how far its clock is behind the race's. `in_order`
        says whether a deadline leaves out values that came before their turn. A value that is not
        `plausible` interrupts it.
        """
        self.books.ledger.begin(racing)
        self.clock.shift = shift
        self._in_order = in_order
        self.intake.plausible = plausible
        self._round = NOTHING
        self._past = list(rounds)
        self._rounds = 0  # that have ended

    @property
    def past_rounds(self) -> int:
        """How many rounds have ended, as far as it knows."""
        return len(self._past)

    def recall(self, rounds: Sequence[PastRound]) -> None:
        """Know of more rounds that have ended: the race that is replayed goes on elsewhere."""
        self._past += rounds

    @property
    def pulls(self) -> int:
        """How many pulls have given a value, in this session or before."""
        return self.books.pulls

    def spent(self, asked: Round, ahead: Ints) -> int:
        """How many pulls count against a cap besides those asked for: see `Runner`."""
        under_way = (run for one in self.assignments for run in one.left)
        return self.books.ledger.spent({*asked.arms.tolist(), *ahead.tolist()}, under_way)

    def now(self) -> float:
        """The seconds since the race began, as the policy counts them."""
        return self.clock.policy_seconds()

    def pursue(self, wanted: Round, ahead: Ahead = NOT_AHEAD) -> None:
        """Have exactly these pulls under way, besides those back and not told, and some `ahead`."""
        if wanted is self._round:
            return
        self._round = wanted
        ledger, backlog = self.books.ledger, self.giver.backlog
        ledger.expect(wanted)
        self.giver.want(ledger.wanted_until(wanted))
        self.giver.allow_ahead(ledger.due_after(wanted, ahead.arms), ahead.pulls, wanted.total)
        if backlog.has_shrunk():
            for one in self.assignments:
                if one.left and not any(map(backlog.is_useful, one.left)):
                    self._cancel(one)

    def wait(self, until: float) -> Results | Interruption:
        """Return the next level of results, as soon as all arms of the round have it."""
        ledger, moment = self.books.ledger, self.clock.moment(until)
        how = self._round.how
        box = self.clock.moment(how.moment) if isinstance(how, Until) else math.inf
        if isinstance(how, Until) and self._rounds < len(self._past):
            return ledger.close(self._past[self._rounds].known)
        while True:
            results = ledger.next_level()
            if results is not None:
                return results
            now = self.clock.now()
            if now + _ROUNDING_SECONDS >= min(moment - early_seconds(until, self._workers), box):
                if isinstance(how, Until):
                    return replace(ledger.close(), last=box <= min(now, moment))
                return ledger.leftovers(in_order=self._in_order)
            if self._workers is None:
                return RecordsEnded()
            pause = self._fill(self._workers)
            self._listen(self._workers, min(moment, box, pause))
            interruption = self.intake.interruption()
            if interruption is not None:
                return interruption

    def close_round(self, number: int) -> Conditions:
        """End round `number`, which is complete; return how the pool was then, or is now."""
        self._rounds = number + 1
        if number < len(self._past):
            conditions = self._past[number].conditions
            if isinstance(conditions.scaling, CorePool):
                self.adopt(conditions.scaling)
            return conditions
        self.learn()
        pool, delays = self.model.pool, self.model.delays
        if pool is None:  # the first round ended before anything was back
            return Conditions(self.now(), NO_IDEA)
        before = self._past[-1].conditions if self._past else None
        # If λ is given, no time is to have a say: the same values give the same race.
        costs = self.books.told_costs(pool) if self.model.learns else ()
        conditions = Conditions(self.now(), pool, delays, costs)
        self._past.append(PastRound(conditions, None))
        if self._workers is None:  # nothing happens in a replay that was not recorded
            return conditions
        self.recording.note(
            RoundEnded(
                # It may end long after its last result: after a resume that time is gone, too.
                at=self.clock.stamp(),
                seconds=conditions.seconds,
                # Written only when it changed: it is long, and rounds may be short.
                pool=None if before is not None and before.scaling == pool else pool,
                delays=None if before is not None and before.delays == delays else delays,
                boxed=isinstance(self._round.how, Until),
                costs=None if costs == (before.costs if before is not None else ()) else costs,
            )
        )
        return conditions

    def learn(self) -> None:
        """See what the pulls so far say about the pool."""
        self.model.learn(self.books.times, self.pulls, self.assignments.unanswered())
        if self.model.learns and self.model.pool is not None:
            self.giver.probing.look_again(self._rules.core_levels(), self.books.core_seconds)

    def adopt(self, pool: CorePool) -> bool:
        """Continue with the pool of an earlier session, unless it had another size."""
        mine = sorted(filter(None, self._rules.nodes), reverse=True) or [self._rules.cores]
        fits = list(pool.nodes) == mine
        if fits:
            self.model.use(pool)
        return fits

    def _fill(self, workers: Workers) -> float:
        """Start jobs as long as there are pulls to do and cores for them; or say until when not."""
        pause = self.intake.setbacks.check()
        if pause < math.inf or not self._rules.is_usable:
            return pause
        how = self._round.how
        part = float(np.max(how.share)) if isinstance(how, Shares) else None
        while self.assignments.free > 0:
            offer = self.giver.next_offer(part)
            if offer is None:
                break
            fresh = self.books.attempts.wants_fresh(offer.runs, self._rules.retries)
            workers.start(self.assignments.add(*offer, fresh=fresh))
        for one in self.giver.in_the_way():
            self._cancel(one)
        return pause

    def _cancel(self, one: Assignment) -> None:
        """Its pulls are no longer wanted: end it, unless it is about to end anyway."""
        if self._workers is None or not self._can_end or one.is_ending:
            return
        if one.idle or self._is_worth_ending(one):
            one.cancelled = True
            self._workers.end(one.job.number)

    def _is_worth_ending(self, one: Assignment) -> bool:
        return one.running(self.clock.now()).left > _WORTH_KILLING_SECONDS

    def _listen(self, workers: Workers, moment: float) -> None:
        """Wait for events, at most until that moment on the engine's clock."""
        timeout = self._rules.timeout
        soonest = min(
            moment,
            self.assignments.next_moment(timeout),
            self.giver.next_moment(),
            self.ticker.next_moment,
        )
        if not self.assignments and soonest == math.inf and self._rules.is_usable:
            raise RuntimeError("nothing runs and nothing can be started: please report this")
        left = min(max(0.0, soonest - self.clock.now()), _LONGEST_WAIT_SECONDS)
        self.intake.take(workers.wait(left if soonest < math.inf else None))
        if self.intake.resized is not None:
            self._resize(self.intake.resized)
        for one in self.intake.beaten():
            workers.end(one.job.number)
        for one in self.assignments.timed_out(timeout):
            one.timed_out = True
            workers.end(one.job.number)
        self.ticker.tick()

    def _resize(self, rules: Rules) -> None:
        """The pool has shrunk or grown: what comes next is given out on what there is."""
        self.intake.resized = None
        self._rules = rules
        self.assignments.resize(rules.nodes)
        self.giver.rules = rules
        self.giver.probing.drop_above(rules.most_cores)
        self.model.resize(rules)

    def finish(self) -> int:
        """Record what came late, then end everything; return how many jobs could not be ended."""
        workers, self._workers = self._workers, None
        if workers is None:
            return 0
        left = 0
        self.intake.puts_arms_out = False
        try:
            self.intake.take(workers.wait(0))
            for one in self.assignments:
                self.intake.record_unused(one, "unfinished")
                left += not self._can_end and self._is_worth_ending(one)
            self.recording.commit()
        finally:
            workers.close()
        return left
