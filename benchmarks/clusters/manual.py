"""Ask and tell: a script with threads does the pulls of a race; and how fast values can be told.

Half of the arms drop out again and again, so that the rounds, and with them λ, are known before.
"""

import random
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import paceline
from paceline.core.arrays import Ints
from paceline.core.rounds import Round, Verdict
from paceline.display.table import Table
from paceline.engines.simulated import SimulatedEngine
from paceline.policies.base import Pacer, Policy, Task

_CORES = 40
_ARMS = 64
_EACH = 4  # pulls of an arm in a round
_TELLS = 4000
_REPEATS = 3


@dataclass(frozen=True)
class Halving(Policy):
    """Rounds of `each` pulls of every arm; the better half of the arms is in the next one."""

    each: int = _EACH
    name = "halving"
    goal = "deadline"

    def _pacer(self, task: Task) -> Pacer:
        return HalvingPacer(task, self.each)


class HalvingPacer(Pacer):
    def __init__(self, task: Task, each: int) -> None:
        super().__init__(task)
        self.each = each

    def opening(self) -> Round:
        return self._round(self.alive)

    def _round(self, arms: Ints) -> Round:
        return Round(arms, np.full(arms.size, self.each))

    def decide(self) -> Round | Verdict:
        means = self.tally.sums[self.alive] / self.tally.pulls[self.alive]
        half = self.alive[np.argsort(-means)[: max(1, self.alive.size // 2)]]
        self.alive = np.sort(half)
        if self.alive.size == 1:
            return Verdict(self.alive, decided=True, confidence=None)
        return self._round(self.alive)


def seconds_of(cores: int) -> float:
    return float(cores**-0.5)


def score(arm: int, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0.0, 1.0)


def sleep(pull: paceline.Pull) -> float:
    time.sleep(seconds_of(pull.cores))
    return score(pull.arm, seed=pull.seed)


def pool() -> paceline.CorePool:
    return paceline.CorePool(_CORES, seconds_of)


def predicted() -> tuple[float, int]:
    """What λ says of all rounds, in seconds; and their pulls."""
    arms = [_ARMS >> halvings for halvings in range(_ARMS.bit_length() - 1)]
    return sum(pool().seconds(_EACH * one) for one in arms), _EACH * sum(arms)


def by_script(journal: Path) -> paceline.Result:
    """A scheduler of one's own: one thread asks, and others sleep and tell."""
    with (
        paceline.Race(
            range(_ARMS),
            deadline=1e6,
            policy=Halving(),
            cores=_CORES,
            scaling=pool(),
            journal=journal,
            paired=False,
        ) as race,
        ThreadPoolExecutor(_CORES) as hands,
    ):

        def work(pull: paceline.Pull) -> None:
            race.tell(pull, sleep(pull))

        while not race.done:
            for pull in race.ask(wait=1.0):
                hands.submit(work, pull)
        return race.result


def by_race() -> paceline.Result:
    """The same race on a simulated pool, where nothing costs anything."""
    return paceline.race(
        score,
        range(_ARMS),
        deadline=1e6,
        policy=Halving(),
        engine=SimulatedEngine(_CORES, seconds_of, group=1),
        scaling=pool(),
        paired=False,
        progress=False,
    )


def told_per_second(journal: Path | None, threads: int) -> float:
    """How fast pulls that take no time are asked for and told."""
    each = _TELLS // _ARMS
    with paceline.Race(
        range(_ARMS),
        deadline=1e6,
        policy=Halving(each),
        max_pulls=_ARMS * each,
        cores=_CORES,
        cores_per_pull=1,
        scaling=pool(),
        journal=journal,
    ) as race:

        def hand() -> None:
            while not race.done:
                for pull in race.ask(most=_CORES // threads, wait=0.1):
                    race.tell(pull, score(pull.arm, seed=pull.seed), seconds=1.0)

        began = time.perf_counter()
        hands = [threading.Thread(target=hand) for _ in range(threads)]
        for one in hands:
            one.start()
        for one in hands:
            one.join()
        return race.result.pulls / (time.perf_counter() - began)


def run() -> Table:
    """The makespan beside λ, and values told a second."""
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ideal, pulls = predicted()
        result, simulated = by_script(folder / "race.jsonl"), by_race()
        assert (result.index, result.rounds) == (simulated.index, simulated.rounds)
        rates = {}
        for threads in (1, 8):
            for kept in (False, True):
                rates[threads, kept] = median(
                    told_per_second(folder / f"{threads}-{number}.jsonl" if kept else None, threads)
                    for number in range(_REPEATS)
                )
    promised = 1.15 * ideal + pulls / rates[8, True]
    rows.append((f"{_ARMS} arms, {pulls} pulls that sleep: seconds", result.elapsed, "–"))
    rows.append(("… pulls that were done, some of them ahead", result.pulls, "–"))
    rows.append(("… that λ predicts", ideal, "–"))
    rows.append(("… in simulated time", simulated.elapsed, "–"))
    rows.append(("… as a share of 1.15 λ and the overhead", result.elapsed / promised, "at most 1"))
    for (threads, kept), rate in rates.items():
        how = "with a journal" if kept else "without a journal"
        rows.append((f"values told a second, {threads} threads, {how}", rate, "–"))
    return Table(("what", "measured", "promise"), rows)


if __name__ == "__main__":
    from paceline.display.table import print_table

    print_table(run())
