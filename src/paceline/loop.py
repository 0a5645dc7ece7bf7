"""The loop: the same in virtual and in real time."""

import math
from dataclasses import dataclass

from paceline.core.rounds import Verdict
from paceline.engines.base import Engine
from paceline.policies.base import Pacer


@dataclass(frozen=True)
class Ending:
    """How a race went: its verdict, and the time, pulls and complete rounds it took."""

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
    started. Where results come in parts, the policy may drop arms in mid-round: the engine then
    cancels their pulls, which are no longer asked for.
    """
    told = int(pacer.tally.pulls.sum())  # a race may have been stopped before, and go on
    while (verdict := pacer.verdict) is None:
        wanted = pacer.ask()
        if told + wanted.total > max_pulls:
            verdict = pacer.stop(f"the next {wanted.total} pulls would exceed {max_pulls:g} in all")
            break
        if pacer.rounds >= max_rounds:
            verdict = pacer.stop(f"no verdict after {max_rounds:g} rounds")
            break
        engine.pursue(wanted)
        results = engine.wait(deadline)
        if results.arms.size == 0:
            verdict = pacer.stop(f"the deadline of {deadline:g} s came")
            break
        told += results.total
        complete = results.total == wanted.total
        if complete:
            pacer.adjust(engine.conditions(pacer.rounds))
        pacer.tell(results)
        if not complete:
            pacer.look()
    return Ending(verdict, engine.now(), told, pacer.rounds)
