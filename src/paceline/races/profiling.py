"""How long a pull takes on 1, 2, 4, … cores: `paceline.profile`."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.core.arrays import whole
from paceline.core.fitting import Runtime, Timings
from paceline.core.scaling import PowerLaw
from paceline.core.words import count, listed
from paceline.errors import RaceFailed
from paceline.journal import Record
from paceline.journal.records import PullsReturned
from paceline.loop import run
from paceline.policies.base import Task
from paceline.policies.opening import Opening
from paceline.pools.books import Books
from paceline.pools.clock import RaceClock
from paceline.pools.dispatcher import Dispatcher
from paceline.races.options import OPTIONS, check_options
from paceline.races.sentence import describe_failure
from paceline.races.settings import Settings, check_race
from paceline.story.markup import of_seconds


@dataclass(frozen=True, repr=False)
class Profile:
    """The seconds of single pulls by their core counts, and the runtime fitted to them."""

    runtime: Runtime
    measured: dict[int, list[float]]
    cores: int

    def plot(self, ax: Any = None) -> Any:
        """Draw the times of all pulls and the fitted curve with matplotlib; return the axes."""
        from paceline.plots import draw_profile  # here, because most profiles need no picture

        return draw_profile(ax, self.measured, [self.runtime(1 + n) for n in range(self.cores)])

    def __repr__(self) -> str:
        pulls = count(sum(map(len, self.measured.values())), "pull")
        counts = listed([f"{cores}" for cores in sorted(self.measured)], 8)
        return f"<Profile of {pulls} on {counts} cores: {self.runtime.describe()}>"

    def _repr_html_(self) -> str:
        return of_seconds(self.measured, f"a pull on c cores takes {self.runtime.describe()}")


class _Notes:
    """Takes the place of a journal, and keeps the seconds of every pull.

    Except the first on each number of cores: it is slow because its process has just started.
    """

    def __init__(self, arms: int) -> None:
        self.timings = Timings(arms)
        self.measured: dict[int, list[float]] = {}

    def add(self, record: Record) -> None:
        if not isinstance(record, PullsReturned):
            return
        cores, seconds = record.cores, record.seconds
        arms = [run.arm for run in record.pulls for _ in range(run.pulls)]
        if cores not in self.measured:
            self.measured[cores], arms, seconds = [], arms[1:], seconds[1:]
        self.measured[cores] += seconds
        self.timings.add(np.array(arms, dtype=np.int64), cores, np.array(seconds))

    def commit(self) -> None:
        pass


def profile(
    evaluate: Callable[..., Any] | Command,
    arms: Iterable[Any],
    *,
    cores: int | None = None,
    cores_per_pull: int | tuple[int, int] | None = None,
    at_once: int | None = None,
    memory_per_pull: Any = None,
    unit: str = "cores",
    engine: Any = "local",
    repeats: int = 3,
    seed: int = 0,
    timeout: Any = None,
) -> Profile:
    """Measure how pulls scale: `repeats` pulls on each core count, the arms taking turns.

    One more pull on each core count comes first, to warm up, and does not count. If there are more
    arms than pulls, arms are picked evenly from the first to the last.

    >>> import time
    >>> def evaluate(arm, *, cores):
    ...     time.sleep(0.02 / cores)
    ...     return arm
    >>> found = profile(evaluate, [1, 2], cores=4)
    >>> sorted(found.measured), 0.015 < found.runtime(1) < 0.03
    ([1, 2, 4], True)
    """
    given = {
        "cores": cores,
        "cores_per_pull": cores_per_pull,
        "memory_per_pull": memory_per_pull,
        "unit": unit,
        "engine": engine,
        "seed": seed,
        "timeout": timeout,
        "retries": 0,
        "paired": False,
    }
    whole(repeats, "repeats")
    at_once = OPTIONS["at_once"].checked(at_once)
    settings = check_race(evaluate, arms, check_options(given))
    # In a race each pull would have its share of all cores: here it is measured on fewer as well.
    asked = replace(settings.rules.asked, at_once=at_once)
    settings = replace(settings, rules=replace(settings.rules, asked=asked))
    probes = settings.rules.core_levels() * (1 + repeats)
    settings = _fewer_arms(settings, max(len(probes), 2))
    count = len(settings.arms)
    notes = _Notes(count)
    workers = settings.engine.open(settings.workload(), settings.rules.cores)
    dispatcher = Dispatcher(
        workers,
        settings.rules,
        Books(count),
        clock=RaceClock(settings.engine.now),
        journal=notes,
        can_end=settings.engine.abilities.kill,
    )
    try:
        dispatcher.giver.probing.begin(probes, patience=math.inf)
        task = Task(arms=count, scaling=PowerLaw(1.0), confidence=0.95)
        each = -(-len(probes) // count)
        ending = run(Opening(each).start(task), dispatcher, max_pulls=each * count)
    finally:
        dispatcher.finish()
    if ending.interruption is not None:
        failure = dispatcher.books.attempts.failures[0]
        raise RaceFailed(f"no profile: {describe_failure(settings.labels[failure.arm], failure)}")
    # The first pull on a core count warms up: of counts that had no other, nothing was measured.
    measured = {cores: times for cores, times in notes.measured.items() if times}
    return Profile(notes.timings.fit(), measured, settings.rules.cores)


def _fewer_arms(settings: Settings, most: int) -> Settings:
    count = len(settings.arms)
    if count <= most:
        return settings
    taken = [place * (count - 1) // (most - 1) for place in range(most)]
    return replace(
        settings,
        arms=tuple(settings.arms[arm] for arm in taken),
        labels=tuple(settings.labels[arm] for arm in taken),
    )
