"""How long the next round should be: tried out in made-up worlds that fit what was seen.

In each world the arms have means, from which we work out at which look each arm would fall. The
next round may end at any look. It costs time, and so does the rest of the race from there, in
rounds that get longer as the race does. The sum is divided by the least cost of that world for a
planner who knows it. The look with the least mean ratio is chosen. Nothing here affects a
guarantee.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from paceline.core.arrays import Floats, Ints
from paceline.core.evidence.base import Evidence
from paceline.core.evidence.boundary import PILOT
from paceline.core.scaling import Scaling

WORLDS = 48
MOST_ARMS = 64  # in a world; if there are more, some stand for their neighbours
_FRONT = 16  # the best arms, which stand only for themselves
HORIZON = 22  # looks ahead: 7,500 times the pulls
FIRST_HORIZON = 32  # two million pulls of an arm
_LUCK = 0.5  # share of the noise in scores: less than all of it, because arms that fell stay out
_EDGE = 1.25  # opponents are groups, which vary less than one arm
_LONGEST = 4.0  # a round's time, as a multiple of the time that has passed
# Before anything is seen: the smallest gap, in standard deviations, and how far the others reach.
_GAPS = (0.015, 1.6)
_REACH = 1.6


class Pace(NamedTuple):
    """How short rounds may be."""

    longer: float = 2.0  # how much longer each later round may be than all before it
    shortest: float = 0.1  # a round's time, as a multiple of the time that has passed


_AS_EVER = Pace()
# If the end is in view, arms fall at many looks shortly before it. At q = 1, where short rounds
# cost nothing, up to a fourth of the pulls is saved at this pace; at q = 0.5 none.
_TOWARDS_AN_END = Pace(0.5, 0.02)


@lru_cache(maxsize=256)  # it depends on nothing random, so replications share it
def first_look(
    arms: int, top: int, scaling: Scaling, looks: tuple[tuple[float, float], ...]
) -> int:
    """The look, counted from 0, at which the first round should end, before anything is seen.

    `looks` are the depths at which it may end, with the bars of the evidence there.
    """
    grid, bars = np.array(looks, dtype=np.float64).T
    low, high = np.log(_GAPS)
    smallest = np.exp(low + (high - low) * (np.arange(WORLDS) + 0.5) / WORLDS)
    weights = representatives(arms - top, MOST_ARMS - 1)
    further = _uniforms(weights.size)
    gaps = smallest[:, None] + _REACH * np.where(np.arange(weights.size) == 0, 0.0, further)
    depths = np.r_[0.0, grid]
    luck = _LUCK * _normals(1)[:, : weights.size]
    falls = _falls(np.zeros(1), _EDGE * gaps / np.sqrt(2.0), luck, depths, bars, PILOT)
    return _choose(falls, weights, top, depths, scaling, top=top, elapsed=0.0, extra=0.0)


@dataclass(frozen=True)
class Position:
    """The arms alive: what is known about each, what speaks against it, and the looks to come."""

    means: Floats
    variances: Floats
    pulls: Ints
    scores: Floats  # in standard deviations
    depth: int
    looks: Ints  # the depths at which the round may end
    bars: Floats  # there; −∞ where all but the best fall, whatever they have shown

    @classmethod
    def of(cls, evidence: Evidence, looks: Ints) -> "Position":
        """What the evidence says of the arms alive."""
        alive = evidence.alive
        return cls(
            evidence.tally.means(alive),
            evidence.variances(),
            evidence.tally.pulls[alive],
            evidence.scores(),
            evidence.depth,
            looks,
            evidence.bars(looks),
        )


def next_look(
    position: Position,
    *,
    top: int,
    scaling: Scaling,
    elapsed: float,
    leader_pulls: float,
) -> int:
    """The look at which the next round should end; the next look counts as 0.

    The leader is pulled `leader_pulls` times as often as others.
    """
    falls, weights, stay, depths = _imagined(position, top, leader_pulls)
    extra = leader_pulls - 1
    pace = _TOWARDS_AN_END if np.isneginf(position.bars[-1]) else _AS_EVER
    return _choose(
        falls, weights, 0, depths, scaling, top=stay, elapsed=elapsed, extra=extra, pace=pace
    )


def chance_in_time(
    position: Position,
    *,
    top: int,
    scaling: Scaling,
    seconds: float,
    leader_pulls: float,
) -> float:
    """In which share of the worlds the race would be over within `seconds`."""
    falls, weights, stay, depths = _imagined(position, top, leader_pulls)
    size = _sizes(falls, weights, 0, depths, stay, leader_pulls - 1)
    on = _going_on(depths, size, scaling, _AS_EVER)[0]
    return float(((size[-1] == 0) & (on <= seconds)).mean())


def _imagined(
    position: Position, top: int, leader_pulls: float
) -> tuple[Ints, Floats, Floats, Floats]:
    """Worlds that fit what was seen: at which of the depths each arm falls, and how many stay."""
    order = np.argsort(-position.means, kind="stable")
    weights = representatives(order.size, MOST_ARMS)
    some = order[(np.cumsum(weights) - weights).astype(np.int64)]
    variances, depth, bars = position.variances[some], position.depth, position.bars
    unsure = np.sqrt(variances / position.pulls[some])
    worlds = position.means[some] + unsure * _normals(0)[:, : some.size]
    gaps = last_of_the_best(worlds, weights, top) - worlds
    noise = variances + variances[0] / leader_pulls
    drifts = _EDGE * gaps / np.sqrt(np.maximum(noise, 1e-300))
    depths = np.r_[float(depth), position.looks]
    start = position.scores[some] * np.sqrt(max(depth - PILOT, 1))
    luck = _LUCK * _normals(1)[:, : some.size]
    falls = _falls(start, drifts, luck, depths, bars, depth)
    best = gaps <= 0
    falls[best] = depths.size  # they stay; a world is over when only they are in
    return falls, weights, best @ weights, depths


def last_of_the_best(worlds: Floats, weights: Floats, top: int) -> Floats:
    """The mean that makes an arm one of the best `top`, in each world."""
    if top == 1:
        return np.asarray(worlds.max(axis=1, keepdims=True))
    order = np.argsort(-worlds, axis=1)
    last = np.argmax(np.cumsum(weights[order], axis=1) >= top, axis=1)[:, None]
    place = np.take_along_axis(order, last, axis=1)
    return np.asarray(np.take_along_axis(worlds, place, axis=1))


def representatives(arms: int, most: int) -> Floats:
    """How many arms each arm in a world stands for; the best stand only for themselves."""
    if arms <= most:
        return np.ones(arms)
    weights = np.ones(most)
    edges = np.round(np.linspace(_FRONT, arms, most - _FRONT + 1))
    weights[_FRONT:] = np.diff(edges)
    return weights


@lru_cache(maxsize=4)
def _normals(number: int) -> Floats:
    """The same random numbers each time, so that looks are compared in the same worlds."""
    return np.random.default_rng((7, number)).standard_normal((WORLDS, MOST_ARMS))


@lru_cache(maxsize=64)
def _uniforms(arms: int) -> Floats:
    return np.sort(np.random.default_rng(11).random((WORLDS, arms)), axis=1)


def _falls(
    start: Floats, drifts: Floats, luck: Floats, depths: Floats, bars: Floats, shift: float
) -> Ints:
    """The index of the depth at which each arm falls in each world; `depths.size` if at none."""
    more = (depths[1:] - shift)[:, None, None]
    height = (bars * np.sqrt(depths[1:] - PILOT))[:, None, None]
    over = start + drifts * more + luck * np.sqrt(more) >= height
    return np.where(over.any(axis=0), over.argmax(axis=0) + 1, depths.size)


def _choose(
    falls: Ints,
    weights: Floats,
    always: int,
    depths: Floats,
    scaling: Scaling,
    *,
    top: int | Floats,
    elapsed: float,
    extra: float,
    pace: Pace = _AS_EVER,
) -> int:
    """The look to go to next, counted from 0, given when arms fall; `always` more never fall."""
    size = _sizes(falls, weights, always, depths, top, extra)
    last = int(np.argmax(np.append((size == 0).all(axis=1), True)))
    last = max(min(last, depths.size - 1), 1)
    depths, size = depths[: last + 1], size[: last + 1]
    costs = scaling.seconds(float(size[0].max()) * (depths[1:] - depths[0]))
    able = _within_reach(costs, elapsed, pace)
    on = _going_on(depths, size, scaling, pace)
    least = _least(depths, size, scaling)
    ratios = ((costs[:, None] + on[1:]) / least).mean(axis=1)
    return int(able[np.argmin(ratios[able])])


def _sizes(
    falls: Ints, weights: Floats, always: int, depths: Floats, top: int | Floats, extra: float
) -> Floats:
    """How many pulls a round has for each pull of an arm: none once a world is over."""
    alive = (falls > np.arange(depths.size)[:, None, None]) @ weights + always
    return np.where(alive > top, alive + np.minimum(extra, alive - 2), 0.0)


def _within_reach(costs: Floats, elapsed: float, pace: Pace) -> Ints:
    """The looks that are neither too near nor too far, compared with the time that has passed."""
    if elapsed <= 0:
        return np.arange(costs.size)
    able = np.flatnonzero((costs >= pace.shortest * elapsed) & (costs <= _LONGEST * elapsed))
    if able.size:
        return able
    return np.array([0 if costs[0] > _LONGEST * elapsed else costs.size - 1])


def _going_on(depths: Floats, size: Floats, scaling: Scaling, pace: Pace) -> Floats:
    """The seconds from each look (rows) to the end of each world (columns).

    Each round takes at most `pace.longer` times as long as all earlier pulls at once would have.
    """
    here = depths[:, None]
    some = size > 0
    pulls = np.where(some, size, 1.0)
    before = scaling.seconds((pulls * here).ravel())
    reach = scaling.pulls(pace.longer * before).reshape(size.shape) / pulls
    there = np.searchsorted(depths, (here + reach).ravel(), side="right").reshape(size.shape) - 1
    place = np.arange(depths.size)[:, None]
    there = np.minimum(np.maximum(there, place + 1), depths.size - 1)
    spent = scaling.seconds((pulls * (depths[there] - here)).ravel()).reshape(size.shape)
    spent = np.where(some, spent, 0.0)
    worlds = np.arange(size.shape[1])
    for look in range(depths.size - 2, -1, -1):
        spent[look] += spent[there[look], worlds]
    return spent


def _least(depths: Floats, size: Floats, scaling: Scaling) -> Floats:
    """The least seconds of each world, if it is known: a shortest path over every second look."""
    places = np.unique(np.r_[0 : depths.size : 2, depths.size - 1])
    path, alive = depths[places], size[places]
    start, end = np.triu_indices(places.size, k=1)
    more = alive[start] * (path[end] - path[start])[:, None]
    steps = np.zeros((places.size, *alive.shape))
    steps[start, end] = scaling.seconds(more.ravel()).reshape(more.shape)
    least = np.zeros(alive.shape)
    for place in range(places.size - 2, -1, -1):
        least[place] = (steps[place, place + 1 :] + least[place + 1 :]).min(axis=0)
    return np.asarray(np.maximum(least[0], 1e-300))
