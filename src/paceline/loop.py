"""The loop: the same in virtual and in real time."""

import math
from collections.abc import Callable
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
    on_round: Callable[[], None] | None = None,
) -> Ending:
    """Race until the policy has a verdict, the deadline comes, or a cap is reached.

    `on_round` is called when the policy has heard of a whole round.

    Pulls unfinished at the deadline do not count. A round that says until when it lasts is over
    then, with what is back. Of a round that would go past `max_pulls` as much is pulled as may
    be, of all arms in proportion. Where results come in parts, the policy may
    drop arms in mid-round: the engine then cancels their pulls, which are no longer asked for.
    """
    told = int(pacer.tally.pulls.sum())  # a race may have been stopped before, and go on
    while (verdict := pacer.verdict) is None:
        asked = pacer.ask()
        wanted = asked.within(max_pulls - told - engine.wasted)
        if wanted.total == 0:
            verdict = pacer.stop(f"no more than {max_pulls:g} pulls in all were allowed")
            break
        if pacer.rounds >= max_rounds:
            verdict = pacer.stop(f"no verdict after {max_rounds:g} rounds")
            break
        engine.pursue(wanted)
        results = engine.wait(min(deadline, wanted.until))
        if results.arms.size == 0 and not results.last:
            verdict = pacer.stop(f"the deadline of {deadline:g} s came")
            break
        told += results.total
        complete = results.last or results.total == asked.total
        if complete:
            pacer.adjust(engine.conditions(pacer.rounds))
        pacer.tell(results)
        if not complete:
            pacer.look()
        elif on_round is not None:
            on_round()
    return Ending(verdict, engine.now(), engine.pulls, pacer.rounds)
