"""The plan of a race to a deadline: its first chain, the floor it respects, what it may lose."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.core.noise import Noise
from paceline.core.scaling import ROUNDING, Scaling
from paceline.errors import InvalidInput, at_least
from paceline.theory.chain import Chain, least_pulls, plan_chain
from paceline.theory.cuts import chain_bound, floor_bound
from paceline.theory.deadline import stage_unit, stages_to_combine

_SHARE = 0.25  # of the bottleneck, for the floor
_LONGER = 1.3  # times the first stage of the best chain


@dataclass(frozen=True)
class RacePlan:
    """A chain, and the floor that all cuts respect, including those chosen from data.

    `best` is the bottleneck of the best chain; this chain is that one with a longer first stage.
    """

    chain: Chain
    floor: float
    best: int

    def loss_bound(
        self, means: Any, noise: Noise, *, sigma: float | None = None, paired: bool = False
    ) -> float:
        """A bound on the chance that a race that follows the plan, or better, loses the best arms.

        With one cut there is nothing to choose: the chain runs as it is.
        """
        chain, top = self.chain, self.chain.top
        if len(chain.sizes) == 2:
            return chain_bound(
                means,
                noise,
                kept=chain.sizes[1:],
                pulls=chain.pulls[1:],
                top=top,
                sigma=sigma,
                paired=paired,
            )
        return floor_bound(
            means,
            noise,
            floor=self.floor,
            least_pulls=chain.pulls[1],
            top=top,
            sigma=sigma,
            paired=paired,
        )


def plan_race(arms: int, scaling: Scaling, deadline: float, *, top: int = 1) -> RacePlan | None:
    """The best chain with a longer first stage; None if not every arm can be pulled once.

    After the first stage the data may allow cuts that no plan can foresee, which leaves time. If
    not, the longer stage may have enough pulls for a second cut.

    >>> from paceline import PowerLaw
    >>> plan = plan_race(16, PowerLaw(0.5), 20.0)
    >>> plan.chain.sizes, plan.chain.pulls, plan.floor
    ((16, 4, 3, 1), (0, 10, 10, 28), 8.0)
    """
    best = plan_chain(arms, scaling, deadline, top=top)
    if best is None:
        return None
    floor = floor_of(best, scaling, deadline)
    return RacePlan(_lengthened(best, floor, scaling, deadline), floor, best.bottleneck)


def too_short(
    deadline: float, arms: int, scaling: Scaling, *, which: str | None = None, more: str = ""
) -> InvalidInput:
    """The error if there is no plan: it names the shortest deadline that has one."""
    return InvalidInput(
        f"deadline {deadline:g} s is too short to pull {which or f'each of the {arms} arms'} "
        f"once: raise it to at least {at_least(scaling.seconds(float(arms)))} s{more}"
    )


def floor_of(chain: Chain, scaling: Scaling, deadline: float) -> float:
    """The floor that a policy respects in all its cuts if it plans anew.

    It is a quarter of the bottleneck, which every chain with that bottleneck reaches twice over; or
    a quarter of SSH's n x(k*), if that is more, so the guarantee is never weaker than Theorem 3.
    """
    arms, reached = chain.sizes[0], float(chain.bottleneck)
    if chain.top == 1:
        k = stages_to_combine(arms, deadline, scaling)
        unit = math.floor(stage_unit(arms, k, deadline, scaling) * (1 + ROUNDING))
        cuts = np.array(chain.sizes[1:], dtype=np.float64)
        if (np.array(chain.pulls[1:]) >= least_pulls(cuts, _SHARE * arms * unit)).all():
            reached = max(reached, float(arms * unit))
    return _SHARE * reached


def _lengthened(chain: Chain, floor: float, scaling: Scaling, deadline: float) -> Chain:
    if len(chain.sizes) == 2:
        return chain
    arms, first = chain.sizes[0], math.ceil(_LONGER * chain.pulls[1])
    seconds = scaling.seconds(float(arms * first))
    if seconds >= deadline:
        return chain
    rest = plan_chain(
        chain.sizes[1], scaling, deadline - seconds, top=chain.top, pulls=first, floor=floor
    )
    if rest is None:
        return chain
    return Chain((arms, *rest.sizes), (0, *rest.pulls), (seconds, *rest.seconds), chain.top)
