"""The loop: the same in virtual and in real time."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from paceline.core.rounds import Ahead, Interruption, Verdict
from paceline.policies.base import Pacer
from paceline.pools.runner import Runner

# What is done ahead may be in vain: near a cap, each pull has to be one that the policy asks for.
_AHEAD_SHARE = 0.5


@dataclass(frozen=True)
class Ending:
    """How a race went: its verdict, and the time, pulls and complete rounds it took.

    If the runner ended the race there is no verdict, and `interruption` says why.
    """

    verdict: Verdict | None
    seconds: float
    pulls: int
    rounds: int
    interruption: Interruption | None = None

    @property
    def answer(self) -> Verdict:
        """The verdict of a race that its runner did not end; in virtual time it never does."""
        assert self.verdict is not None
        return self.verdict


def run(
    pacer: Pacer,
    runner: Runner,
    *,
    deadline: float = math.inf,
    max_pulls: float = math.inf,
    max_rounds: float = math.inf,
    on_round: Callable[[], bool] | None = None,
    on_results: Callable[[], None] | None = None,
) -> Ending:
    """Race until the policy has a verdict, the deadline comes, or a cap is reached.

    `on_round` is called when the policy has heard of a whole round; it returns True to stop.
    `on_results` is called whenever the policy has heard of results.

    Pulls unfinished at the deadline do not count. A round that ends at a given time ends with what
    is back by then. A round that would go past `max_pulls` is cut down to them, in proportion for
    all arms. If results come in parts, the policy may drop arms in mid-round: the runner then
    cancels their pulls, which are no longer asked for.
    """

    def ended(verdict: Verdict | None, interruption: Interruption | None = None) -> Ending:
        return Ending(verdict, runner.now(), runner.pulls, pacer.rounds, interruption)

    while not isinstance(asked := pacer.ask(), Verdict):
        ahead = pacer.ahead()
        spent = runner.spent(asked, ahead) if max_pulls < math.inf else 0
        wanted = asked.within(max_pulls - spent)
        if wanted.total == 0:
            return ended(pacer.stop(f"no more than {max_pulls:g} pulls were allowed"))
        if pacer.rounds >= max_rounds:
            return ended(pacer.stop(f"no verdict after {max_rounds:g} rounds"))
        runner.pursue(wanted, Ahead(ahead, _AHEAD_SHARE * max_pulls - spent - wanted.total))
        results = runner.wait(deadline)
        if isinstance(results, Interruption):
            return ended(None, results)
        if results.arms.size == 0 and not results.last:
            return ended(pacer.stop(f"the deadline of {deadline:g} s was reached"))
        if results.last or results.total == asked.total:
            pacer.tell(results, runner.close_round(pacer.rounds))
            if on_results is not None:
                on_results()
            stopped = on_round is not None and on_round()
            if stopped and not isinstance(pacer.ask(), Verdict):
                return ended(pacer.stop("a callback stopped it"))
        else:
            pacer.tell(results)
            pacer.look()
            if on_results is not None:
                on_results()
    return ended(asked)
