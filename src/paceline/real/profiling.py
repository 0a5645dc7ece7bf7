"""How long a pull takes on 1, 2, 4, … cores: `paceline.profile`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paceline.commands import Command
from paceline.core.arrays import whole
from paceline.core.fitting import Runtime, Timings
from paceline.core.scaling import PowerLaw
from paceline.engines.dispatch import ArmsFailed, Dispatcher
from paceline.engines.local import LocalHost
from paceline.errors import RaceFailed
from paceline.journal import Record
from paceline.loop import run
from paceline.policies.base import Task
from paceline.policies.opening import Opening
from paceline.real.contest import core_levels, describe_failure
from paceline.real.prepared import make_work
from paceline.real.settings import Settings, settle


@dataclass(frozen=True)
class Profile:
    """The seconds of single pulls by their core counts, and the runtime fitted to them."""

    runtime: Runtime
    measured: dict[int, list[float]]
    cores: int


class _Notes:
    """Takes the place of a journal, and keeps the seconds of every pull.

    But of the first on each number of cores: it is slow, for its process has just been started.
    """

    def __init__(self, arms: int) -> None:
        self.timings = Timings(arms)
        self.measured: dict[int, list[float]] = {}

    def add(self, record: Record) -> None:
        if record["kind"] != "results":
            return
        cores, seconds = record["cores"], record["seconds"]
        arms = [run[0] for run in record["pulls"] for _ in range(run[2])]
        if cores not in self.measured:
            self.measured[cores], arms, seconds = [], arms[1:], seconds[1:]
        self.measured[cores] += seconds
        self.timings.add(np.array(arms, dtype=np.int64), cores, np.array(seconds))

    def commit(self) -> None:
        pass


def profile(
    evaluate: Callable[..., Any] | Command,
    arms: Sequence[Any],
    *,
    cores: int | None = None,
    cores_per_pull: int | tuple[int, int] | None = None,
    repeats: int = 3,
    seed: int = 0,
    timeout: Any = None,
) -> Profile:
    """Measure how pulls scale: each core count `repeats` times, of the arms in turn.

    One more pull on each comes first, to warm up, and does not count.
    Of more arms than such pulls, some are taken, from the first to the last.

    >>> import time
    >>> def evaluate(arm, *, cores):
    ...     time.sleep(0.02 / cores)
    ...     return arm
    >>> found = profile(evaluate, [1, 2], cores=4)
    >>> sorted(found.measured), 0.015 < found.runtime(1) < 0.03
    ([1, 2, 4], True)
    """
    whole(repeats, "repeats")
    settings = settle(
        evaluate,
        arms,
        cores=cores,
        cores_per_pull=cores_per_pull,
        seed=seed,
        timeout=timeout,
        machine=LocalHost().available(),
        **_ANY_RACE,
    )
    probes = core_levels(settings.rules) * (1 + repeats)
    settings = _fewer_arms(settings, max(len(probes), 2))
    count = len(settings.arms)
    notes = _Notes(count)
    crew = LocalHost().crew(make_work(settings), settings.rules.cores)
    dispatcher = Dispatcher(crew, settings.rules, count, journal=notes)
    try:
        dispatcher.probe(probes)
        task = Task(arms=count, scaling=PowerLaw(1.0), confidence=0.95)
        run(Opening(-(-len(probes) // count)).start(task), dispatcher)
    except ArmsFailed:
        arm, pull, failure = dispatcher.failures[0]
        raise RaceFailed(
            f"no profile: {describe_failure(settings.labels[arm], pull, failure)}"
        ) from None
    finally:
        dispatcher.finish()
    return Profile(notes.timings.fit(), notes.measured, settings.rules.cores)


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


# A profile is no race: these only have to pass the checks.
_ANY_RACE: dict[str, Any] = {
    "confidence": None,
    "deadline": None,
    "direction": "maximize",
    "top": 1,
    "tolerance": 0.0,
    "noise": "auto",
    "bounds": None,
    "sigma": None,
    "paired": False,
    "scaling": None,
    "policy": None,
    "retries": 0,
    "on_failure": "stop",
    "max_pulls": None,
}
