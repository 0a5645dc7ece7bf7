"""The loop: the same in virtual and in real time."""

import math
from dataclasses import dataclass

from paceline.core.rounds import Verdict
from paceline.engines.base import Engine
from paceline.policies.base import Pacer


@dataclass(frozen=True)
class Ending:
    """How a race went: its verdict, and the time, pulls and rounds it took."""

    verdict: Verdict
    seconds: float
    pulls: int
    rounds: int


def run(
    pacer: Pacer,
    engine: Engine,
    *,
    deadline: float = math.inf,
    max_pulls: float = math.inf,
    max_rounds: float = math.inf,
) -> Ending:
    """Race until the policy has a verdict, the deadline comes, or a cap is reached.

    Pulls unfinished at the deadline do not count. A round that would go past `max_pulls` is not
    started.
    """
    told = int(pacer.tally.pulls.sum())  # a race may have been stopped before, and go on
    while (verdict := pacer.verdict) is None:
        wanted = pacer.ask()
        if told + wanted.total > max_pulls or pacer.rounds > max_rounds:
            caps = f"{max_pulls:g} pulls and {max_rounds:g} rounds"
            reason = f"no verdict after {told} pulls, and the caps are {caps}"
            return Ending(pacer.stop(reason), engine.now(), told, pacer.rounds - 1)
        engine.pursue(wanted)
        results = engine.wait(deadline)
        if results.arms.size == 0:
            verdict = pacer.stop(f"the deadline of {deadline:g} s came")
            break
        told += results.total
        pacer.tell(results)
    return Ending(verdict, engine.now(), told, pacer.rounds)
