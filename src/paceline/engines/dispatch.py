"""From rounds to jobs: what the loop wants, given out to a crew on the cores of a pool.

The dispatcher is the runner of every real race; only its crew differs. It gives pulls their cores,
groups short ones, retries those that fail, cancels those no longer wanted, and writes every result
into the journal before anybody hears of it.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np

from paceline.core.arrays import Ints
from paceline.core.delays import Delays
from paceline.core.fitting import Runtime, Timings
from paceline.core.pool import CorePool
from paceline.core.rounds import Conditions, Results, Round, Shares, Until
from paceline.core.scaling import PowerLaw
from paceline.engines.allocate import Allocator, Under, reconsider_after
from paceline.engines.backlog import Backlog, split, split_in_turn
from paceline.engines.crew import Crew, Failure, Job, Report, Run
from paceline.engines.ledger import Ledger, Snapshot
from paceline.errors import PacelineError
from paceline.journal import Record

_GROUP_SECONDS = 0.005  # of work in a group: the overhead of a job is then about a per cent
_WORTH_KILLING_SECONDS = 0.25  # a new worker has to load the user's modules again
_REFIT_GROWTH = 1.2  # τ is fitted again when there are so many times the pulls
_TICK_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 2.0
_MOST_UNTIMED = 1000
_MOST_RECENT = 4000  # pulls of which each duration is kept
_LOADING_SECONDS = 120.0  # that a worker may take to start and to import, beside the timeout
_BINARY = frozenset((0.0, 1.0))


# λ before anything is known: no deadline is too short for it.
NO_IDEA = PowerLaw(1.0, unit_seconds=1e-12)


class Recorder(Protocol):
    """Where records go: a journal."""

    def add(self, record: Record) -> None:
        """Take a record."""

    def commit(self) -> None:
        """Keep all that was taken."""


class ArmsFailed(PacelineError):
    """Arms whose pulls failed more often than is allowed: the race has to go on without them."""

    def __init__(self, arms: list[int]) -> None:
        self.arms = arms
        super().__init__(f"arms {arms} failed")


class Ended(NamedTuple):
    """A round of an earlier session: how the pool was then, and what was back if it was cut off."""

    conditions: Conditions
    known: Snapshot | None


class NotBinary(PacelineError):
    """A value other than 0 and 1 was seen where only these were expected."""


@dataclass(frozen=True)
class Rules:
    """How pulls are treated: which cores they may have, how long, how often."""

    cores: int
    least_cores: int
    most_cores: int
    retries: int = 2
    timeout: float = math.inf
    allowed: Callable[[float], bool] | None = None  # values that were declared possible


@dataclass(eq=False)
class _Running:
    job: Job
    left: list[Run]  # without a value yet
    began: float
    heard: float
    expected: float
    counted: float = 0.0  # seconds of its cores that went into pulls
    cancelled: bool = False
    timed_out: bool = False


class Dispatcher:
    """A `Runner` over a crew. Arms have the same numbers as in the race, from 0.

    `pool` says how long a pull takes on so many cores, `shape` the same up to a factor; if
    neither is given, it is learned.
    """

    def __init__(
        self,
        crew: Crew,
        rules: Rules,
        arms: int,
        *,
        journal: Recorder | None = None,
        pool: CorePool | None = None,
        shape: CorePool | None = None,
        sign: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.crew = crew
        self.rules = rules
        self.ledger = Ledger(arms, sign)
        self.timings = Timings(arms)
        self.journal = journal
        self.on_tick: Callable[[], None] | None = None
        self.binary = False  # whether a value other than 0 and 1 is an error
        self.in_order = True  # whether a deadline leaves out values that came before their turn
        self.pulls = 0  # that have given a value, in this session or before
        self.core_seconds = 0.0
        self.arm_seconds = np.zeros(arms)
        self.failures: list[tuple[int, int, Failure]] = []
        self.failed: dict[int, Failure] = {}  # the arms that are out, and why
        self.free = rules.cores
        self.learning = pool is None
        self.pool = pool
        self._shape = shape  # of τ, if it is known but for its level
        known = pool or shape
        self._allocator = None if known is None else Allocator(known)
        self._fitted_pulls = 0
        self._probe: deque[int] = deque()
        self._clock = clock
        self._zero = clock()
        self._ticked = 0.0
        self._backlog = Backlog(arms)
        self._attempts: dict[Run, int] = {}
        self._newly_failed: list[int] = []
        self._running: dict[int, _Running] = {}
        self._jobs = 0
        self._finished = False
        self._untimed: list[tuple[int, Sequence[Run], Sequence[float]]] = []
        self._seconds_by_cores: dict[int, tuple[int, float]] = {}
        self._delays: Delays | None = None
        self._delays_of: CorePool | None = None
        self._delayed_pulls = 0
        self._recent: deque[tuple[int, float]] = deque(maxlen=_MOST_RECENT)
        self.begin(np.arange(arms))

    # What the loop sees.

    def begin(self, racing: Ints, *, rounds: Sequence[Ended] = (), shift: float = 0.0) -> None:
        """A policy starts, which knows only the arms `racing` and calls them 0, 1, …

        What is known of them answers its first rounds. `rounds` are those that it was told of
        before, if the race was interrupted; `shift` is what its clock is behind ours.
        """
        self.ledger.begin(racing)
        self._unwanted = 0
        self._round: Round | None = None
        self._recorded = list(rounds)
        self._told_pool = rounds[-1].conditions.scaling if rounds else None
        self._told_delays = rounds[-1].conditions.delays if rounds else None
        self._ended = 0  # how many rounds have
        self._shift = shift

    @property
    def spent(self) -> int:
        """The pulls told, no longer wanted, or not back when their round ended."""
        return self.ledger.passed + self._unwanted

    def now(self) -> float:
        """The seconds since the race began, as the policy counts them."""
        return self.elapsed() - self._shift

    def elapsed(self) -> float:
        """The seconds since the race began, without those it was interrupted for."""
        return self._clock() - self._zero

    def set_elapsed(self, seconds: float) -> None:
        """Go on where an earlier session of the race ended."""
        self._zero = self._clock() - seconds

    def pursue(self, wanted: Round) -> None:
        """Have exactly these pulls under way, besides those that are back and wait to be told."""
        if wanted is self._round:
            return
        self._round = wanted
        self._unwanted = self.ledger.expect(wanted)
        self._backlog.want(self.ledger.wanted_until(wanted))
        for running in self._running.values():
            if running.left and not any(map(self._backlog.is_wanted, running.left)):
                self._cancel(running)

    def wait(self, until: float) -> Results:
        """Return the next level of results, as soon as all arms of the round have it."""
        assert self._round is not None
        how = self._round.how
        end = how.moment if isinstance(how, Until) else math.inf
        boxed = math.isfinite(end)
        moment = min(until, end) + self._shift + self._zero
        if boxed and self._ended < len(self._recorded):
            known = self._recorded[self._ended].known
            assert known is not None
            return self.ledger.close(known)
        while True:
            results = self.ledger.next_level()
            if results is not None:
                return results
            if self._clock() >= moment:
                if boxed:
                    return replace(self.ledger.close(), last=end <= until)
                return self.ledger.leftovers(in_order=self.in_order)
            self._fill()
            self._listen(moment)

    def close_round(self, number: int) -> Conditions:
        """The time and the pool at the end of a round: as recorded, or as they are now."""
        self._ended = number + 1
        if number < len(self._recorded):
            conditions = self._recorded[number].conditions
            assert isinstance(conditions.scaling, CorePool)
            if conditions.scaling.cores == self.rules.cores:
                self.use(conditions.scaling)
            return conditions
        if self.learning and self.pulls:
            self.refit()
        if self.pool is None:  # the first round ended before anything was back
            return Conditions(self.now(), NO_IDEA)
        delays = self.delays()
        conditions = Conditions(self.now(), self.pool, delays)
        # A round may end long after its last result: that time is gone for whoever resumes, too.
        at = round(self.elapsed(), 6)
        record: Record = {"kind": "round", "at": at, "seconds": conditions.seconds}
        # What is long only if it is another: rounds may be short.
        if self.pool is not self._told_pool:
            record["pool"] = self.pool.to_json()
        if delays is not self._told_delays:
            record["delays"] = delays.to_json()
        if self._round is not None and isinstance(self._round.how, Until):
            record["boxed"] = True
        self._told_pool, self._told_delays = self.pool, delays
        self._write(record)
        self._commit()
        return conditions

    # Starting jobs.

    def probe(self, cores: Sequence[int]) -> None:
        """Run the next pulls on these numbers of cores, in turn, to learn how they scale."""
        self._probe = deque(cores)

    def _fill(self) -> None:
        """Start jobs as long as there are pulls to be done and cores for them."""
        while self.free:
            waiting = self._backlog.waiting
            cores = self._next_cores(waiting) if waiting else 0
            if cores == 0 or cores > self.free:
                return
            self._start(cores, waiting)

    def _next_cores(self, waiting: int) -> int:
        how, rules = None if self._round is None else self._round.how, self.rules
        if self._probe:
            return self._probe[0]
        if isinstance(how, Shares):
            part = float(np.max(how.share)) * rules.cores
            return min(max(int(part + 1e-9), rules.least_cores), rules.most_cores)
        if self._allocator is None:  # nothing is known yet: what gives the highest throughput
            even = self.rules.cores // min(waiting, self.rules.cores)
            return min(max(even, rules.least_cores), rules.most_cores)
        return self._allocator.next_cores(waiting, self.free, self._under_way())

    def _under_way(self) -> list[Under]:
        now = self._clock()
        return [
            Under(running.job.cores, running.expected, now - running.began)
            for running in self._running.values()
        ]

    def _start(self, cores: int, waiting: int) -> None:
        each = self._expected_seconds(cores)
        runs = self._backlog.take(self._group(cores, waiting, each))
        if self._probe:
            self._probe.popleft()
        job = Job(self._jobs, tuple(runs), cores)
        self._jobs += 1
        now = self._clock()
        expected = (each or math.inf) * job.pulls
        self._running[job.number] = _Running(job, runs, now, now, expected)
        self.free -= cores
        if not self.crew.start(job):
            self._running[job.number].heard += _LOADING_SECONDS

    def _group(self, cores: int, waiting: int, each: float | None) -> int:
        """How many pulls to send at once: more than one only if they are very short."""
        if each is None or self._probe or self.crew.largest_job == 1:
            return 1
        slots = max(1, self.rules.cores // cores)
        fair = -(-waiting // slots)
        return max(1, min(int(_GROUP_SECONDS / max(each, 1e-9)), fair, self.crew.largest_job))

    def _expected_seconds(self, cores: int) -> float | None:
        if cores in self._seconds_by_cores:
            count, total = self._seconds_by_cores[cores]
            return total / count
        return None if self.pool is None else float(self.pool.runtime_seconds[cores - 1])

    # Listening.

    def _listen(self, moment: float) -> None:
        """Wait for reports, until that moment on the clock at most, and take them in."""
        now, soonest = self._clock(), moment
        if self.rules.timeout < math.inf:
            for running in self._running.values():
                if not running.timed_out and not running.cancelled:
                    soonest = min(soonest, running.heard + self.rules.timeout)
        if self.on_tick is not None:
            soonest = min(soonest, self._ticked + _TICK_SECONDS)
        if self.free and self._running:
            soonest = min(soonest, now + reconsider_after(self._under_way()))
        seconds = None if soonest == math.inf else max(0.0, soonest - now)
        if not self._running and seconds is None:
            raise RuntimeError("nothing runs and nothing can be started: please report this")
        self._take_in(self.crew.wait(seconds))
        self._check_timeouts()
        self._tick()
        if self._newly_failed:
            failed, self._newly_failed = self._newly_failed, []
            raise ArmsFailed(failed)

    def _take_in(self, reports: list[Report]) -> None:
        """Record what was reported, then let it count."""
        news: list[tuple[list[Run], list[float]]] = []
        for report in reports:
            running = self._running[report.job]
            running.heard = self._clock()
            done, told, took, running.left = split_in_turn(
                running.left, report.values, report.seconds
            )
            running.counted += sum(took)
            for runs, values, seconds in self._believable(done, told, took):
                self._record(running.job.cores, runs, values, seconds)
                news.append((runs, values))
            if report.finished:
                del self._running[report.job]
                self.free += running.job.cores
                if running.left:
                    self._give_up(running, report.failure)
                self.core_seconds += running.job.cores * running.counted
        self._commit()
        for done, values in news:
            self._put(done, values)
        if self.binary and not all(_BINARY.issuperset(values) for _, values in news):
            raise NotBinary("values other than 0 and 1 were seen")

    def _believable(
        self, done: list[Run], values: list[float], seconds: list[float]
    ) -> Iterator[tuple[list[Run], list[float], list[float]]]:
        """What was reported, without values that the user said cannot be: such a pull failed."""
        allowed = self.rules.allowed
        while allowed is not None and not all(map(allowed, values)):
            bad = next(place for place, value in enumerate(values) if not allowed(value))
            good, rest = split(done, bad)
            if good:
                yield good, values[:bad], seconds[:bad]
            (wrong,), done = split(rest, 1)
            what = f"gave {values[bad]:g}, which is not among the values that were declared"
            self._fail(wrong, Failure("out of bounds", what))
            values, seconds = values[bad + 1 :], seconds[bad + 1 :]
        if done:
            yield done, values, seconds

    def _record(
        self, cores: int, done: Sequence[Run], values: list[float], seconds: list[float]
    ) -> None:
        self._count_time(cores, done, seconds)
        if self.journal is not None:
            self.journal.add(
                {
                    "kind": "results",
                    "at": round(self.elapsed(), 6),
                    "cores": cores,
                    "pulls": done,
                    "values": values,
                    "seconds": [round(one, 9) for one in seconds],
                }
            )

    def _count_time(self, cores: int, done: Sequence[Run], seconds: Sequence[float]) -> None:
        self._untimed.append((cores, done, seconds))
        self._recent.extend(zip(repeat(cores), seconds[-_MOST_RECENT:]))
        if len(self._untimed) > _MOST_UNTIMED:
            self._time()
        total, start = 0.0, 0
        for run in done:
            part = sum(seconds[start : start + run.pulls])
            self.arm_seconds[run.arm] += part
            start += run.pulls
            total += part
        self.pulls += start
        count, before = self._seconds_by_cores.get(cores, (0, 0.0))
        self._seconds_by_cores[cores] = (count + start, before + total)

    def _time(self) -> None:
        """Hand the durations on to be fitted: many at once, since that takes a while."""
        for cores, done, seconds in self._untimed:
            arms = np.repeat([run.arm for run in done], [run.pulls for run in done])
            self.timings.add(arms, cores, np.array(seconds))
        self._untimed.clear()

    def _put(self, done: Sequence[Run], values: Sequence[float]) -> None:
        start = 0
        for run in done:
            self.ledger.put(run.arm, run.first, values[start : start + run.pulls])
            start += run.pulls

    def _give_up(self, running: _Running, failure: Failure | None) -> None:
        """A job ended before its time: what it did not do is to be done again."""
        running.counted = max(running.counted, self._clock() - running.began)
        if running.timed_out:
            what = f"took longer than {self.rules.timeout:g} s and was killed"
            failure = Failure("timeout", what)
        if running.cancelled or failure is None:
            self._backlog.give_back(running.left)
            return
        (first,), others = split(running.left, 1)
        if others and failure.kind in ("died", "timeout"):
            # Any of them may have done it: they are tried one by one.
            self._backlog.give_back(running.left, alone=True)
        else:
            self._backlog.give_back(others)
            self._fail(first, failure)

    def _fail(self, run: Run, failure: Failure) -> None:
        """One pull failed: try it again, or take its arm out."""
        attempt = self._attempts.get(run, 0) + 1
        self._attempts[run] = attempt
        self.failures.append((run.arm, run.first, failure))
        at = round(self.elapsed(), 6)
        self._write(
            {
                "kind": "failure",
                "at": at,
                "arm": run.arm,
                "pull": run.first,
                "attempt": attempt,
                "what": failure.kind,
                "message": failure.message,
                "detail": failure.detail,
            }
        )
        if attempt <= self.rules.retries:
            self._backlog.give_back([run], alone=True)
        elif run.arm not in self.failed:
            self.failed[run.arm] = failure
            self._newly_failed.append(run.arm)
            self._write({"kind": "out", "at": at, "arm": run.arm})

    def _check_timeouts(self) -> None:
        now = self._clock()
        for running in self._running.values():
            late = now >= running.heard + self.rules.timeout
            if late and not running.timed_out and not running.cancelled:
                running.timed_out = True
                self.crew.kill(running.job.number)

    def _cancel(self, running: _Running) -> None:
        """Its pulls are no longer wanted: end it, unless it is about to end anyway."""
        under_way = Under(running.job.cores, running.expected, self._clock() - running.began)
        if (
            under_way.left > _WORTH_KILLING_SECONDS
            and not running.timed_out
            and not running.cancelled
        ):
            running.cancelled = True
            self.crew.kill(running.job.number)

    def _tick(self) -> None:
        if self.on_tick is not None and self._clock() >= self._ticked + _TICK_SECONDS:
            began = self._clock()
            self.on_tick()
            # With thousands of arms this takes a while: no more than a tenth of the time.
            self._ticked = self._clock() + min(9 * (self._clock() - began), _LONGEST_PAUSE_SECONDS)

    # Ending, and taking up again.

    def finish(self) -> None:
        """Record what came late, then end everything."""
        if self._finished:
            return
        self._finished = True
        try:
            for report in self.crew.wait(0):
                running = self._running[report.job]
                done, values, seconds, running.left = split_in_turn(
                    running.left, report.values, report.seconds
                )
                allowed = self.rules.allowed
                if done and (allowed is None or all(map(allowed, values))):
                    self._record(running.job.cores, done, values, seconds)
                    self._put(done, values)
            self._commit()
            for running in self._running.values():
                spent = max(running.counted, self._clock() - running.began)
                self.core_seconds += running.job.cores * spent
        finally:
            self.crew.close()

    def restore(self, record: Record, *, forgive: bool = False) -> None:
        """Take in a record of an earlier session; or give arms that failed another chance."""
        kind = record["kind"]
        if kind == "results":
            done = [Run(*run) for run in record["pulls"]]
            self._count_time(record["cores"], done, record["seconds"])
            self.core_seconds += record["cores"] * sum(record["seconds"])
            self._put(done, record["values"])
        elif kind == "failure":
            failure = Failure(record["what"], record["message"], record["detail"])
            self._attempts[Run(record["arm"], record["pull"], 1)] = record["attempt"]
            self.failures.append((record["arm"], record["pull"], failure))
        elif kind == "out" and forgive:
            for run in [run for run in self._attempts if run.arm == record["arm"]]:
                del self._attempts[run]
        elif kind == "out":
            failures = [failure for arm, _, failure in self.failures if arm == record["arm"]]
            self.failed[record["arm"]] = failures[-1]

    def restored(self) -> None:
        """All records are in: give out what is missing between those that are there."""
        for arm in range(self.arm_seconds.size):
            self._backlog.restore(arm, *self.ledger.gaps(arm))

    # The pool.

    def refit(self) -> None:
        """Learn τ from all pulls so far, if there are enough new ones."""
        if self.pool is None or self.pulls >= _REFIT_GROWTH * self._fitted_pulls:
            self._fitted_pulls = self.pulls
            pool = make_pool(self._level() if self._shape else self.runtime(), self.rules)
            # Another object means another λ to a policy, and would not after a resume.
            if self.pool is None or pool.to_json() != self.pool.to_json():
                self.use(pool)

    def _level(self) -> Callable[[int], float]:
        """The shape, with the factor that makes the seconds so far come out right."""
        assert self._shape is not None
        table = self._shape.runtime_seconds
        counts = self._seconds_by_cores.items()
        expected = sum(count * float(table[cores - 1]) for cores, (count, _) in counts)
        factor = sum(total for _, (_, total) in counts) / expected
        return lambda cores: max(factor, 1e-12) * float(table[cores - 1])

    def delays(self) -> Delays:
        """How long pulls take beside what the pool says: the latest, and those that are overdue."""
        assert self.pool is not None
        enough = self.pulls >= _REFIT_GROWTH * self._delayed_pulls
        if self._delays is not None and not enough and self._delays_of is self.pool:
            return self._delays
        self._delayed_pulls, self._delays_of = self.pulls, self.pool
        table = self.pool.runtime_seconds
        now, recent = self._clock(), list(self._recent)
        seen = [seconds / float(table[cores - 1]) for cores, seconds in recent]
        usual = float(np.median(seen)) if seen else 1.0
        for running in self._running.values():  # it will be longer than this
            so_far = (now - running.heard) / float(table[running.job.cores - 1])
            if so_far > usual:
                seen.append(so_far)
        self._delays = Delays.seen(seen)
        return self._delays

    def runtime(self) -> Runtime:
        """τ, as fitted to all pulls so far."""
        self._time()
        return self.timings.fit()

    def use(self, pool: CorePool) -> None:
        """Give out cores by this pool from now on."""
        if pool is not self.pool:
            self.pool = pool
            self._allocator = Allocator(pool)

    def note(self, record: Record) -> None:
        """Have a record in the journal at once."""
        self._write(record)
        self._commit()

    def _write(self, record: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.add(record)

    def _commit(self) -> None:
        if self.journal is not None:
            self.journal.commit()


def make_pool(runtime: Callable[[int], float], rules: Rules) -> CorePool:
    """The pool on which a pull has at least and at most so many cores."""
    least, most = rules.least_cores, rules.most_cores
    return CorePool(
        rules.cores, lambda cores: math.inf if cores < least else runtime(min(cores, most))
    )
