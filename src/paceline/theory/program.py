"""The paper's dynamic program: how fast a planner can be who knows the gaps but not the order.

Arm i ≥ 2 falls once every survivor has z_i pulls. The planner chooses which arms fall together:
pulling the survivors further costs λ(survivors · more pulls). By concavity it pays to stop only
where an arm falls, so the best plan is a shortest path over the distinct values of z. For a λ that
is not concave (a pool of whole cores) it is the least time among schedules that stop only there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from paceline.core.arrays import Floats, finite_floats, whole
from paceline.core.scaling import Scaling
from paceline.errors import InvalidInput


@dataclass(frozen=True)
class Stage:
    """Pulls between two eliminations: each of `survivors` arms is pulled `pulls` times more."""

    survivors: int
    pulls: float
    eliminated: int
    seconds: float


def oracle_seconds(z: Any, scaling: Scaling, *, levels: int = 3000) -> float:
    """𝒯₂: the least time to eliminate arms 2…n, if arm i needs `z[i]` pulls to fall.

    `z` has one entry for every arm but the best. The result is exact for up to `levels` distinct
    values. If there are more, they are rounded up to powers of 1 + ε with ε as small as `levels`
    allows. For a concave λ that costs at most a factor 1 + ε (below 1 % even if z spans twelve
    decades).

    The paper's examples, λ = √m: two arms that need 32 pulls; then three arms where it pays to
    drop the worst first, and where it does not.

    >>> from paceline import PowerLaw
    >>> scaling = PowerLaw(0.5)
    >>> [round(oracle_seconds(z, scaling), 2) for z in ([32], [300, 5], [300, 100])]
    [8.0, 28.16, 30.0]
    """
    return schedule_seconds(oracle_schedule(z, scaling, levels=levels))


def schedule_seconds(stages: tuple[Stage, ...]) -> float:
    """The time of a whole schedule."""
    return float(sum(stage.seconds for stage in stages))


def oracle_schedule(z: Any, scaling: Scaling, *, levels: int = 3000) -> tuple[Stage, ...]:
    """The stages that attain `oracle_seconds`, first to last; arms with z = 0 are never pulled.

    >>> from paceline import PowerLaw
    >>> for stage in oracle_schedule([300, 5], PowerLaw(0.5)):
    ...     print(stage.survivors, stage.pulls, stage.eliminated)
    3 5.0 1
    2 295.0 1
    """
    needed = np.sort(finite_floats(z, "z"))
    if needed.size == 0:
        raise InvalidInput("z is empty: give the pulls that every arm but the best needs")
    if needed[0] < 0:
        raise InvalidInput(f"z must be at least 0, got {needed[0]:g}")
    whole(levels, "levels", least=2)
    targets = np.unique(needed)
    if np.count_nonzero(targets) <= levels:
        return _stages(needed, _shortest_path(needed, targets, scaling), scaling)
    rounded = _round_up(targets, levels)
    path = _shortest_path(needed, np.unique(rounded), scaling)
    # Both are real schedules. The one that pulls no further than the arms need is the shorter one,
    # except in rare cases where λ is nearly linear.
    exact = targets[np.searchsorted(rounded, path, side="right") - 1]
    return min(
        _stages(needed, path, scaling), _stages(needed, exact, scaling), key=schedule_seconds
    )


def _round_up(targets: Floats, levels: int) -> Floats:
    """Round up to powers of 1 + ε: the finest of a few ε that leaves at most `levels` values."""
    positive = targets[targets > 0]
    logs = np.log(positive) - np.log(positive[0])
    step = logs[-1] / (levels - 1)
    powers = np.ceil(logs / step - 1e-9)
    # Many of the powers may be unused; then there is room for a finer step.
    for _ in range(30):
        finer = np.ceil(2 * logs / step - 1e-9)
        if np.unique(finer).size > levels:
            break
        step, powers = step / 2, finer
    highest = np.log(positive[-1])
    rounded: Floats = np.exp(np.minimum(np.log(positive[0]) + step * powers, highest))
    rounded = np.maximum(rounded, positive)
    return np.concatenate([targets[targets == 0], rounded])


def _shortest_path(needed: Floats, targets: Floats, scaling: Scaling) -> Floats:
    """The pulls per survivor at which to stop and eliminate, rising."""
    nodes: Floats = np.r_[0.0, targets[targets > 0]]
    # After nodes[b], the best arm and all that need more than nodes[b] pulls are alive.
    alive = 1.0 + needed.size - np.searchsorted(needed, nodes, side="right")
    least: Floats = np.zeros(nodes.size)
    previous = np.zeros(nodes.size, dtype=np.int64)
    for a in range(1, nodes.size):
        cost: Floats = least[:a] + scaling.seconds(alive[:a] * (nodes[a] - nodes[:a]))
        previous[a] = np.argmin(cost)
        least[a] = cost[previous[a]]
    path = [nodes.size - 1]
    while path[-1] > 0:
        path.append(int(previous[path[-1]]))
    return nodes[path[-2::-1]]


def _stages(needed: Floats, path: Floats, scaling: Scaling) -> tuple[Stage, ...]:
    stages = []
    done = 0.0
    for target in path.tolist():
        alive = 1 + needed.size - int(np.searchsorted(needed, done, side="right"))
        left = 1 + needed.size - int(np.searchsorted(needed, target, side="right"))
        seconds = scaling.seconds(alive * (target - done))
        stages.append(Stage(alive, target - done, alive - left, seconds))
        done = target
    return tuple(stages)
