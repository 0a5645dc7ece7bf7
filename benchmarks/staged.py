"""T90 of policies for a deadline: the deadline at which they find the best arm 9 times in 10."""

import csv
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.deadline_cells import FAMILY, SEED, TABLE, Cell
from paceline import SSH, Policy, Staged
from paceline.core.arrays import Floats
from paceline.display.table import Table
from paceline.errors import InvalidInput
from paceline.loop import run as run_race
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.policies.base import Task
from paceline.simulation import prepare_race

RUNS = 500  # at every deadline
TARGET = 0.9
KEPT = Path("bench-results/staged-cells.csv")
SSH_PLUS = SSH(rule="bottleneck", keep_samples=True)
POLICIES: dict[str, Policy] = {"SSH": SSH(), "staged": Staged()}  # the first is the measure

# Each wave of deadlines is placed where the fit so far expects these shares of right answers.
_LEVELS = ((0.80, 0.88, 0.93, 0.96), (0.84, 0.90, 0.92, 0.95))
_LEAST_WAVES, _MOST_WAVES = 2, 12
_PRECISION = 0.03  # relative standard error at which no more waves are run
_WINDOW = (0.7, 0.985)  # success outside says little about where it passes 0.9
_LEAST_SLOPE = 0.4  # of the log-odds; SSH on uniform means at q = 0.9 has about 0.7
_SCOUTS = 5  # deadlines tried, with few races each, once 0.9 is bracketed
_MOST_PULLS = 1e16  # in a race: a policy that fails with so many is broken
_MANY_ARMS = 10_000  # from here a race takes 70 ms, and a quarter of the races has to do


class Timing(NamedTuple):
    """The deadline at which a policy reaches the target, and its relative standard error."""

    seconds: float
    relative_error: float
    races: int


class Curve:
    """Success against the logarithm of the deadline: a logistic line through what was seen."""

    def __init__(self, target: float) -> None:
        self.target = target
        self.points: list[tuple[float, int, int]] = []  # log deadline, right answers, races

    def add(self, deadline: float, right: int, races: int) -> None:
        self.points.append((math.log(deadline), right, races))

    def deadline(self, level: float) -> float:
        """Where the line passes `level`, and in any case not far from what was seen near it."""
        centre, line, _ = self._fit()
        places = [place for place, _, _ in self.points]
        low = max((p for p, right, races in self.points if right < 0.5 * races), default=places[0])
        reach = max(places) + math.log(2.0)
        return math.exp(min(max(centre + (_logit(level) - line[0]) / line[1], low), reach))

    def timing(self) -> Timing:
        """Where it passes the target, with the standard error by the delta method.

        Plans change with the deadline by jumps, so success scatters about any line by more than
        chance: the error is as large as that scatter says.
        """
        centre, line, covariance = self._fit()
        at = (_logit(self.target) - line[0]) / line[1]
        slope = np.array([1.0, at]) / line[1]
        error = math.sqrt(float(slope @ covariance @ slope))
        return Timing(math.exp(centre + at), error, sum(races for _, _, races in self.points))

    def _fit(self) -> tuple[float, Floats, Floats]:
        """A line for log-odds near the target: where it is centred, its two terms, covariance."""
        places, right, races = np.array(self.points).T
        near = np.ones(places.size, dtype=bool)
        for _ in range(5):  # what is near depends on the fit, and the fit on what is near
            centre = float(np.average(places[near], weights=races[near]))
            line, covariance = _logistic_line(places[near] - centre, right[near], races[near])
            expected = _share(line[0] + line[1] * (places - centre))
            inside = (expected >= _WINDOW[0]) & (expected <= _WINDOW[1])
            if inside.sum() < 4 or (inside == near).all():
                break
            near = inside
        return centre, line, covariance


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _share(log_odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30.0, 30.0))))


def _logistic_line(places: Floats, right: Floats, races: Floats) -> tuple[Floats, Floats]:
    """Logistic regression by Newton steps: the line and its covariance.

    A tenth of a race on either side, at every place, keeps the slope finite where success jumps
    from none to all; and more time does not hurt, whatever few races say.
    """
    line, information = _newton(places, right + 0.1, races + 0.2, least_slope=-math.inf)
    if line[1] < _LEAST_SLOPE:
        line, information = _newton(places, right + 0.1, races + 0.2, least_slope=_LEAST_SLOPE)
    share = _share(line[0] + line[1] * places)
    squares = (right - races * share) ** 2 / np.maximum(races * share * (1 - share), 0.1)
    dispersion = float(squares.sum()) / max(places.size - 2, 1)
    return line, np.asarray(max(1.0, dispersion) * np.linalg.inv(information), dtype=np.float64)


def _newton(
    places: Floats, right: Floats, races: Floats, least_slope: float
) -> tuple[Floats, Floats]:
    design = np.c_[np.ones(places.size), places]
    line = np.array([_logit(float(right.sum() / races.sum())), max(1.0, least_slope)])
    for _ in range(100):
        share = _share(design @ line)
        weights = races * share * (1 - share)
        information = design.T @ (weights[:, None] * design) + 1e-6 * np.eye(2)
        step = np.linalg.solve(information, design.T @ (right - races * share))
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        line = line + step
        line[1] = max(line[1], least_slope)
        if np.abs(step).max() < 1e-9:
            break
    return line, information


# Races.


def found_best(policy: Policy, cell: Cell, deadline: float, number: int) -> bool:
    problem = cell.problem(number)
    assert problem.means is not None
    task = Task(arms=cell.arms, scaling=cell.scaling, deadline=deadline, noise=problem.noise)
    race = prepare_race(problem, policy, task, SEED, number)
    chosen = run_race(*race, deadline=deadline).answer.arms[0]
    return bool(problem.means[chosen] == problem.means.max())


def successes(policy: Policy, cell: Cell, deadline: float, numbers: range) -> int | None:
    """How many of the replications found the best arm; None if the deadline is refused."""
    try:
        return sum(found_best(policy, cell, deadline, number) for number in numbers)
    except InvalidInput:
        return None


def time_to(policy: Policy, cell: Cell, target: float = TARGET, runs: int = RUNS) -> Timing:
    """The deadline at which `policy` succeeds with probability `target` on `cell`.

    The k-th deadline of every policy sees the same problems, and no two deadlines of a policy
    see any problem twice.
    """
    if cell.arms >= _MANY_ARMS:
        runs = max(1, runs // 4)
    few = max(20, runs // 8)
    next_number = 0
    curve = Curve(target)

    def visit(deadline: float, races: int) -> float:
        nonlocal next_number
        numbers = range(next_number, next_number + races)
        next_number += races
        right = successes(policy, cell, deadline, numbers)
        if right is None:
            return 0.0
        curve.add(deadline, right, races)
        return right / races

    pulls = float(cell.arms)
    while visit(cell.scaling.seconds(pulls), few) < target:
        pulls *= 4.0
        if pulls > _MOST_PULLS:
            raise RuntimeError(f"{policy} does not reach {target:g} on {cell}")
    if len(curve.points) == 1:  # it succeeds as soon as it can start: there is no curve
        return Timing(cell.scaling.seconds(pulls), math.nan, few)
    for _ in range(_SCOUTS):
        visit(curve.deadline(target), few)
    next_number = 1_000_000  # however many deadlines bracketed the target
    for wave in range(_MOST_WAVES):
        deadlines = [curve.deadline(level) for level in _LEVELS[wave % len(_LEVELS)]]
        for deadline in deadlines:
            visit(deadline, runs)
        if wave + 1 >= _LEAST_WAVES and curve.timing().relative_error <= _PRECISION:
            break
    return curve.timing()


# What was measured is kept, cell by cell: a run that is cut off goes on from there. To measure a
# policy anew whose code has changed, delete its lines.


def kept_timings() -> dict[tuple[str, str, int], Timing]:
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="", encoding="utf-8") as stream:
        return {
            (cell, policy, int(runs)): Timing(float(seconds), float(error), int(races))
            for cell, policy, runs, seconds, error, races, _ in csv.reader(stream)
        }


def keep_timing(runs: int, job: tuple[Cell, Policy]) -> Timing:
    cell, policy = job
    began = time.process_time()
    timing = time_to(policy, cell, runs=runs)
    row = (cell, policy, runs, *timing, round(time.process_time() - began, 2))
    with KEPT.open("a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerow(row)
    return timing


def measure_all(
    cells: Sequence[Cell], policies: Mapping[str, Policy], runs: int
) -> dict[tuple[str, str, int], Timing]:
    """T90 of every policy on every cell, by cell, policy and runs."""
    KEPT.parent.mkdir(exist_ok=True)
    kept = kept_timings()
    jobs = [
        (cell, policy)
        for cell, policy in product(cells, policies.values())
        if (str(cell), str(policy), runs) not in kept
    ]
    jobs.sort(key=lambda job: -job[0].arms)  # the longest first, so that no core waits for it
    for (cell, policy), timing in zip(
        jobs, spread(partial(keep_timing, runs), jobs, available_cores().cores), strict=True
    ):
        kept[str(cell), str(policy), runs] = timing
    return kept


def compare_all(
    cells: Sequence[Cell], policies: Mapping[str, Policy] = POLICIES, runs: int = RUNS
) -> Table:
    """T90 of the first policy, and that of each other relative to it."""
    timings = measure_all(cells, policies, runs)
    first, *others = (
        [timings[str(cell), str(policy), runs] for cell in cells] for policy in policies.values()
    )
    rows: list[list[object]] = [
        [cell.instance, cell.arms, str(cell.scaling), timing.seconds]
        for cell, timing in zip(cells, first, strict=True)
    ]
    mean: list[object] = ["geometric mean", "", "", ""]
    largest: list[object] = ["largest", "", "", ""]
    seconds, errors = _arrays(first)
    for other in others:
        other_seconds, other_errors = _arrays(other)
        ratios, relative = other_seconds / seconds, np.hypot(other_errors, errors)
        for row, ratio, error in zip(rows, ratios.tolist(), relative.tolist(), strict=True):
            row += [ratio, ratio * error]
        overall = math.exp(float(np.log(ratios).mean()))
        mean += [overall, overall * math.sqrt(float((relative**2).sum())) / len(cells)]
        largest += [float(ratios.max()), float(ratios.max() * relative[ratios.argmax()])]
    measure, *names = policies
    ratio_columns = [text for name in names for text in (f"{name} / {measure}", "± s.e.")]
    columns = ("instance", "arms", "scaling", f"T90 of {measure}", *ratio_columns)
    return Table(columns, [*rows, mean, largest])


def _arrays(timings: Sequence[Timing]) -> tuple[Floats, Floats]:
    seconds, errors, _ = np.array(timings).T
    return seconds, errors


def run() -> Table:
    return compare_all(TABLE)


def run_family() -> Table:
    return compare_all(FAMILY)


def run_plus() -> Table:
    return compare_all(TABLE, {**POLICIES, "SSH+": SSH_PLUS})
