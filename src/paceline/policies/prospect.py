"""How much longer a race to a confidence may take, judged by what it has seen so far.

True means are drawn that fit the values. For each draw the scores of the arms go on from where they
are, as random walks that drift with the gaps, until they pass the bars of the evidence. This is a
forecast, of which no guarantee depends.
"""

import math

import numpy as np

from paceline.core.arrays import Floats
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.boundary import PILOT
from paceline.core.scaling import Scaling
from paceline.core.truths import Truths
from paceline.policies.base import Pacer
from paceline.policies.rollout import MOST_ARMS, Position, last_of_the_best, representatives

Range = tuple[float, float, float]

_WORLDS = 64
_BURN_IN = 24
_HORIZON = 26  # looks ahead
_EDGE = 1.2  # opponents are groups, which vary less than one arm
_QUANTILES = (0.1, 0.5, 0.9)
_QUICKEST, _SLOWEST = 0.8, 5.0  # times what λ says
_FINE = 1.12  # how far apart looks may be, where evidence is weighed at many


def pulls_left(evidence: Evidence, *, top: int = 1, leader_pulls: float = 1.0) -> Floats | None:
    """Draws of how many more pulls the race needs from its last look on; ∞ for no end in sight.

    The leader is pulled `leader_pulls` times as often as others. None if it is too early to tell.

    >>> from paceline.core.noise import BERNOULLI
    >>> from paceline.core.rounds import Results
    >>> evidence, both = BERNOULLI.group_sequential(2, 0.05), np.array([0, 1])
    >>> for pulls, ones in ((3, [1.0, 2.0]), (5, [2.0, 4.0])):
    ...     _ = evidence.take(Results(both, np.full(2, pulls), np.array(ones), np.array(ones)))
    >>> 10 < float(np.median(pulls_left(evidence))) < 1000
    True
    """
    alive, tally = evidence.alive, evidence.tally
    if alive.size <= top or evidence.depth <= PILOT:
        return None
    looks = evidence.ahead()[:_HORIZON]
    if not looks.size:
        return None
    if evidence.next_look() < looks[0]:  # it is looked at in between as well
        first, last = float(evidence.next_look()), float(looks[-1])
        steps = int(np.log(last / first) / np.log(_FINE)) + 2
        looks = np.unique(np.geomspace(first, last, steps).astype(np.int64))
    with np.errstate(all="ignore"):  # values near the largest floats
        position = Position.of(evidence, looks)
        varies = np.isfinite(position.variances).all() and (position.variances > 0).all()
        if tally.pulls[alive].min() < 1 or not varies or not np.isfinite(position.means).all():
            return None
        return _pulls(position, top, leader_pulls)


def foreseen(pacer: Pacer) -> Floats | None:
    """Draws of how many more pulls a policy needs beyond what it was told; see `pulls_left`."""
    evidence = pacer.judged()
    if pacer.verdict is not None or evidence is None:
        return None
    leader_pulls = getattr(pacer, "leader_pulls", 1.0)
    return pulls_left(evidence, top=pacer.task.top, leader_pulls=leader_pulls)


def seconds_left(left: Floats, scaling: Scaling, *, elapsed: float, pulls: int) -> Range:
    """The seconds that so many more pulls take: a median, and a range that 80 % of them lie in.

    A race whose first `pulls` took longer than λ says is taken to stay as slow.

    >>> from paceline.core.scaling import PowerLaw
    >>> seconds_left(np.array([10.0, 20.0, np.inf]), PowerLaw(1.0), elapsed=40.0, pulls=20)
    (20.0, 40.0, inf)
    """
    # Quantiles first, since λ keeps their order, and infinity is beyond its table.
    low, median, high = np.quantile(left, _QUANTILES, method="inverted_cdf").tolist()
    slowness = elapsed / scaling.seconds(float(max(pulls, 1)))
    slowness = min(max(slowness, _QUICKEST), _SLOWEST)

    def seconds(more: float) -> float:
        if not 0 < more < math.inf:
            return more
        return slowness * float(scaling.seconds(max(more, 1.0)))

    return seconds(low), seconds(median), seconds(high)


def _pulls(position: Position, top: int, leader_pulls: float) -> Floats:
    order = np.argsort(-position.means, kind="stable")
    weights = representatives(order.size, MOST_ARMS)
    some = order[(np.cumsum(weights) - weights).astype(np.int64)]
    variances = position.variances[some]
    # The same numbers each time: a forecast changes only because of what was seen.
    rng = np.random.default_rng(13)
    worlds = _truths(position.means[some], variances / position.pulls[some], rng)
    gaps = last_of_the_best(worlds, weights, top) - worlds
    drifts = _EDGE * gaps / np.sqrt(variances + variances[0] / leader_pulls)
    depths = np.r_[float(position.depth), position.looks]
    steps = np.diff(depths)[:, None, None]
    walk = drifts * steps + np.sqrt(steps) * rng.standard_normal((steps.size, *gaps.shape))
    start = position.scores[some] * np.sqrt(max(position.depth - PILOT, 1))
    heights = (position.bars * np.sqrt(depths[1:] - PILOT))[:, None, None]
    over = start + walk.cumsum(axis=0) >= heights
    over[:, gaps <= 0] = False  # somebody has to win
    stays = ~np.logical_or.accumulate(over, axis=0)
    alive = np.concatenate([np.ones((1, *gaps.shape), dtype=bool), stays]) @ weights
    racing = alive > np.maximum((gaps <= 0) @ weights, top)
    size = np.where(racing, alive + np.minimum(leader_pulls - 1, alive - 2), 0.0)
    pulls = (size[:-1] * steps[:, :, 0]).sum(axis=0)
    return np.where(racing[-1], np.inf, pulls)


def _truths(seen: Floats, errors: Floats, rng: np.random.Generator) -> Floats:
    """Draws of the true means, a row each."""
    truths = Truths(seen, float(np.sqrt(np.median(errors))), rng)
    for _ in range(_BURN_IN):
        truths.step(errors)
    return np.array([truths.step(errors) for _ in range(_WORLDS)])
