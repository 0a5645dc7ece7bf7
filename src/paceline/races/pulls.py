"""Pulls in the hands of others: which were handed out, which are answered, which are cancelled."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from paceline.core.words import arm_name
from paceline.engines.jobs import Job
from paceline.engines.manual import ManualWorkers
from paceline.engines.workload import SeedsOf
from paceline.errors import InvalidInput, seen


@dataclass(frozen=True)
class Pull:
    """One evaluation of an arm that is to be done; two are equal if they are the same try of it.

    >>> Pull("b", index=1, label="b", number=7, seed=42, cores=2)
    Pull(arm='b', index=1, label='b', number=7, seed=42, cores=2, attempt=1)
    """

    arm: Any = field(compare=False)
    index: int  # of the arm
    label: str = field(compare=False)  # the arm in a few words
    number: int  # of the pull: 0 is the first of its arm
    seed: int
    cores: int = field(compare=False)  # that it may use
    attempt: int = 1  # higher if it failed or was cancelled before, as far as this process knows


class Handed:
    """All pulls that were handed out by a race in this process, and whether they were answered."""

    def __init__(
        self, arms: Sequence[Any], labels: Sequence[str], seeds: SeedsOf, workers: ManualWorkers
    ) -> None:
        self._arms = arms
        self._labels = labels
        self._seeds = seeds
        self._workers = workers
        self._lock = threading.Lock()
        self._attempts: Counter[tuple[int, int]] = Counter()
        self._pending: dict[Pull, int] = {}  # by job: those without an answer
        self._answered: set[Pull] = set()

    def out_of(self, most: int | None, wait: float | None) -> list[Pull]:
        """Pulls that are handed out now."""
        jobs = self._workers.take(most, wait)
        with self._lock:
            return [self._hand_out(job) for job in jobs]

    def answered(self, pull: Pull, passed: Callable[[int], bool]) -> bool:
        """Note that a pull is answered, once its answer was `passed` on; return whether it counts.

        A pull that was handed out in another process is known by its arm and number.
        """
        with self._lock:
            own = self._own(pull)
            if own in self._answered:
                raise InvalidInput(f"{_name(own)} was answered already: each pull is told once")
            counts = passed(self._pending[own])
            del self._pending[own]
            self._answered.add(own)
            return counts

    def pending(self, *, wanted: bool) -> list[Pull]:
        """The pulls without an answer: those that are wanted, or those that were cancelled."""
        with self._lock:
            return [
                pull for pull, job in self._pending.items() if self._workers.is_open(job) == wanted
            ]

    def is_wanted(self, pull: Pull) -> bool:
        """Whether an answer would count."""
        with self._lock:
            try:
                own = self._own(pull)
            except InvalidInput:
                return False
            return own in self._pending and self._workers.is_open(self._pending[own])

    def _own(self, pull: Pull) -> Pull:
        """The pull as it was handed out here."""
        if not isinstance(pull, Pull):
            raise InvalidInput(f"{seen(pull)} is no pull: tell one of those that ask returned")
        if pull in self._pending or pull in self._answered:
            return pull
        if not self._is_of_this_race(pull):
            raise InvalidInput(
                f"{_name(pull)}, with the seed {pull.seed}, is of another race: tell it there"
            )
        same = [
            one for one in self._pending if (one.index, one.number) == (pull.index, pull.number)
        ]
        for one in reversed(same):
            if self._workers.is_open(self._pending[one]):
                return one
        for job in self._workers.offered():  # nobody has asked for it yet, in this process
            if job.runs[0][:2] == (pull.index, pull.number):
                return self._hand_out(job)
        raise InvalidInput(
            f"{_name(pull)} is not out: it has its value already, or it is not wanted now. If it "
            "is wanted later, ask will hand it out"
        )

    def _is_of_this_race(self, pull: Pull) -> bool:
        if not 0 <= pull.index < len(self._arms) or pull.number < 0:
            return False
        return pull.seed == self._seeds(pull.index, pull.number, 1)[0]

    def _hand_out(self, job: Job) -> Pull:
        (run,) = job.runs
        key = run.arm, run.first
        self._attempts[key] += 1
        pull = Pull(
            self._arms[run.arm],
            run.arm,
            self._labels[run.arm],
            run.first,
            self._seeds(run.arm, run.first, 1)[0],
            job.cores,
            self._attempts[key],
        )
        self._pending[pull] = job.number
        return pull


def _name(pull: Pull) -> str:
    return f"pull {pull.number} of {arm_name(pull.label)}"
