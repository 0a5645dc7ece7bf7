"""How well `paceline.plan` predicts: simulated problems, and real races that begin with a pilot.

The problems were fixed before anything was tuned on others. Each is predicted from its true means,
and from pilots: the first quarter of a race, by the policy that will run it. For a confidence, a
prediction is compared with the race that goes on from the same pilot; for a deadline, the deadline
with a chance of 0.8 to find the best is compared with the true one.

PACELINE_PILOTS, PACELINE_RACES: how many pilots per problem (default 10), and simulated races per
prediction (40). PACELINE_SHARE: the length of a pilot as a share of the race (0.25).
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import paceline
from paceline.core.arrays import Floats
from paceline.core.noise import BERNOULLI
from paceline.core.noise.normal import NormalNoise
from paceline.core.pool import CorePool
from paceline.display.table import Table
from paceline.loop import run as run_loop
from paceline.planning.beliefs import Belief, assume
from paceline.planning.forecast import Question
from paceline.planning.making import make_plan
from paceline.planning.posterior import Posterior
from paceline.planning.worlds import World
from paceline.policies.catalog import find_policy
from paceline.pools.virtual import VirtualRunner
from paceline.races.file import read_race_file

PILOTS = int(os.environ.get("PACELINE_PILOTS", "10"))
RACES = int(os.environ.get("PACELINE_RACES", "40"))
SHARE = float(os.environ.get("PACELINE_SHARE", "0.25"))  # of a race that a pilot takes
WITHIN = 1.5
_SUCCESS = 0.8
_CORES = 8
_GRID = 2.0 ** np.arange(-4, 5)  # deadlines, as multiples of a first guess


@dataclass(frozen=True, eq=False)
class Case:
    """A problem: `sigma` is None for zeros and ones; τ(c) = c^−q seconds."""

    name: str
    means: Floats
    sigma: float | None
    q: float
    confidence: float | None  # None: a deadline

    @property
    def pool(self) -> CorePool:
        return CorePool(_CORES, lambda cores: cores**-self.q)

    @property
    def question(self) -> Question:
        return Question(noise=BERNOULLI if self.sigma is None else NormalNoise())

    def world(self, known: list[Floats] | None = None) -> World:
        deviations = None if self.sigma is None else np.full(self.means.size, self.sigma)
        return World(self.means, deviations, known=known or ())


def cases() -> list[Case]:
    """The twenty problems."""
    rng = np.random.default_rng(2026)

    def uniform(arms: int) -> Floats:
        falling: Floats = -np.sort(-rng.random(arms))
        return falling

    def clusters(arms: int) -> Floats:
        means: Floats = np.repeat([0.8, 0.6, 0.4, 0.2], arms // 4) + rng.normal(0, 0.02, arms)
        return means

    def one_good(arms: int, gap: float) -> Floats:
        means: Floats = np.r_[0.4 + gap, np.full(arms - 1, 0.4)]
        return means

    def near(arms: int, gap: float) -> Floats:
        means: Floats = np.r_[0.7, 0.7 - gap, np.linspace(0.5, 0.2, arms - 2)]
        return means

    def linear(arms: int) -> Floats:
        return np.linspace(0.9, 0.1, arms)

    return [
        Case("uniform 4", uniform(4), 1.0, 0.7, 0.95),
        Case("uniform 16", uniform(16), 0.5, 0.5, 0.95),
        Case("uniform 64, 0/1", uniform(64), None, 1.0, 0.9),
        Case("linear 5", linear(5), 1.0, 0.25, 0.95),
        Case("linear 12", linear(12), 0.5, 0.75, 0.99),
        Case("linear 30, 0/1", linear(30), None, 0.5, 0.95),
        Case("clusters 12, 0/1", clusters(12), None, 1.0, 0.95),
        Case("clusters 40", clusters(40), 0.3, 0.5, 0.9),
        Case("one good of 8", one_good(8, 0.3), 1.0, 0.5, 0.95),
        Case("one good of 50", one_good(50, 0.4), 1.0, 0.75, 0.95),
        Case("one good of 200, 0/1", one_good(200, 0.3), None, 0.5, 0.95),
        Case("near ties 3", near(3, 0.1), 1.0, 0.5, 0.95),
        Case("near ties 6, 0/1", near(6, 0.08), None, 1.0, 0.95),
        Case("near ties 20", near(20, 0.05), 0.3, 0.25, 0.95),
        Case("two", np.array([0.6, 0.4]), 0.7, 1.0, 0.99),
        Case("uniform 16, by a deadline", uniform(16), 0.5, 0.5, None),
        Case("linear 30, 0/1, by a deadline", linear(30), None, 0.75, None),
        Case("one good of 100, by a deadline", one_good(100, 0.4), 1.0, 0.5, None),
        Case("near ties 6, by a deadline", near(6, 0.1), 0.5, 0.25, None),
        Case("clusters 40, 0/1, by a deadline", clusters(40), None, 1.0, None),
    ]


def seconds_of_races(case: Case, belief: Belief, count: int, seed: int) -> Floats:
    """Real times: races in virtual time of the true problem, or of what goes on from a pilot."""
    world = belief.draw(np.random.default_rng(0))
    found = []
    for number in range(count):
        runner = VirtualRunner(world, case.pool, np.random.default_rng((seed, number)))
        task = case.question.task(world, case.pool, case.confidence, None)
        found.append(run_loop(find_policy(None).start(task), runner).seconds)
    return np.array(found)


def pilot(case: Case, seconds: float, deadline: float | None, seed: int) -> list[Floats]:
    """The values of the first seconds of a race; it goes on until each arm has two."""
    rng = np.random.default_rng((seed, 77))
    most = 20_000 if case.means.size < 50 else 4000
    if case.sigma is None:
        values = [(rng.random(most) < mean).astype(np.float64) for mean in case.means]
    else:
        values = [rng.normal(mean, case.sigma, most) for mean in case.means]
    world = case.world(values)
    while True:
        until = None if deadline is None else max(deadline, 1.1 * seconds)
        task = case.question.task(world, case.pool, case.confidence, until)
        runner = VirtualRunner(world, case.pool, np.random.default_rng(seed))
        policy = find_policy(None, confidence=deadline is None, deadline=deadline is not None)
        pacer = policy.start(task)
        run_loop(pacer, runner, deadline=seconds)
        told = pacer.tally.pulls
        if told.min() >= 2:
            pairs = zip(values, told.tolist(), strict=True)
            return [one[: min(count, most)] for one, count in pairs]
        seconds *= 1.3


class _True(Belief):
    def __init__(self, world: World) -> None:
        self.world, self.arms = world, world.arms

    def draw(self, rng: np.random.Generator) -> World:
        return self.world

    def describe(self) -> str:
        return "the truth"

    @property
    def is_certain(self) -> bool:
        return True


def predicted(case: Case, belief: Belief, deadline: float | None, races: int = RACES) -> Any:
    """The forecast of the time; or the deadline with the chance wanted, twice beyond what fits."""
    goal = [deadline * float(share) for share in _GRID] if deadline else None
    plan = make_plan(
        case.question, belief, [(_CORES, case.pool)], case.confidence, goal,
        replications=races, processes=1,
    )  # fmt: skip
    if deadline is None:
        return plan.seconds
    found = plan.deadline_for(_SUCCESS)
    return 2 * deadline * float(_GRID[-1]) if found is None else found


def simulated(case: Case) -> tuple[list[object], float, float]:
    """A row, and the two ratios: with the truth given, and the median over the pilots."""
    truth = _True(case.world())
    ratios: list[float] = []
    inside: list[bool] = []
    if case.confidence is None:
        guess = float(case.pool.seconds(20.0 * case.means.size))
        real = predicted(case, truth, guess, races=400)
        given = predicted(case, truth, real, races=200) / real
        for number in range(PILOTS):
            values = pilot(case, SHARE * real, real, number)
            belief = Posterior(values, binary=case.sigma is None, seed=number)
            ratios.append(predicted(case, belief, real) / real)
    else:
        real = float(np.median(seconds_of_races(case, truth, 200, 1)))
        means = assume(means=case.means, sigma=case.sigma)
        given = predicted(case, means, None).median / real
        for number in range(PILOTS):
            values = pilot(case, SHARE * real, None, number)
            belief = Posterior(values, binary=case.sigma is None, seed=number)
            span = predicted(case, belief, None)
            after = seconds_of_races(case, _True(case.world(values)), 5, number)
            ratios.append(span.median / float(np.median(after)))
            inside += [span.low <= one <= span.high for one in after]
    middle = float(np.median(ratios))
    low, high = np.quantile(ratios, [0.1, 0.9])
    held = f"{np.mean(inside):.2f}" if inside else "–"
    within = np.mean([_is_near(one) for one in ratios])
    row = [case.name, case.q, f"{real:.3g}", f"{given:.2f}", f"{middle:.2f}",
           f"{low:.2f} – {high:.2f}", f"{within:.1f}", held]  # fmt: skip
    return row, given, middle


def _is_near(ratio: float) -> bool:
    return 1 / WITHIN <= ratio <= WITHIN


_COLUMNS = ("problem", "q", "real", "given", "pilot", "80 % of pilots", "near", "range holds")


def run() -> Table:
    """Each problem: the time (s), and predicted by real times."""
    rows, given, medians = [], [], []
    for case in cases():
        row, one, middle = simulated(case)
        print(*row, flush=True)
        rows.append(row)
        given.append(one)
        medians.append(middle)
    near = [sum(map(_is_near, ratios)) for ratios in (given, medians)]
    total = len(rows)
    rows.append(
        [f"within {WITHIN}", "", "", f"{near[0]} of {total}", f"{near[1]} of {total}", "", "", ""]
    )
    middles = [f"{np.median(ratios):.2f}" for ratios in (given, medians)]
    rows.append(["median of ratios", "", "", *middles, "", "", ""])
    return Table(_COLUMNS, rows)


# Real races.

_EXAMPLES = Path(__file__).parents[1] / "examples"
_PILOT_SECONDS = 5.0


def sleep_and_score(arm: float, *, seed: int) -> float:
    """A pull of 20 to 60 ms that uses no core."""
    rng = random.Random(seed)
    time.sleep(rng.uniform(0.02, 0.06))
    return arm + rng.gauss(0, 1)


def _example(name: str) -> tuple[Any, list[Any], dict[str, Any]]:
    race = read_race_file(str(_EXAMPLES / name / "race.toml"))
    options = {key: one for key, one in race.options.items() if key != "deadline"}
    return race.command, list(race.arms), options


def _ridge() -> tuple[Any, list[Any], dict[str, Any]]:
    sys.path.insert(0, str(_EXAMPLES / "linear_algebra"))
    import ridge  # type: ignore[import-not-found]

    return ridge.evaluate, list(ridge.PENALTIES), {"direction": "minimize", "tolerance": 0.02}


def _supernovae() -> tuple[Any, list[Any], dict[str, Any]]:
    sys.path.insert(0, str(_EXAMPLES / "cosmology"))
    from likelihood import CANDIDATES, evaluate

    return evaluate, list(CANDIDATES), {}


_REAL: dict[str, Callable[[], tuple[Any, list[Any], dict[str, Any]]]] = {
    "sleeping, normal noise": lambda: (sleep_and_score, [0.0, 0.1, 0.3, 0.6], {"paired": False}),
    "queue": lambda: _example("queue"),
    "compressor": lambda: _example("compressor"),
    "linear algebra": _ridge,
    "cosmology": _supernovae,
}


def run_real() -> Table:
    """Five races to a confidence of 0.95, or a minute: planned from a pilot, then gone on with."""
    rows = []
    for name, make in _REAL.items():
        evaluate, arms, options = make()
        with tempfile.TemporaryDirectory() as folder:
            journal = Path(folder) / "race.jsonl"
            own = options | {"journal": journal, "progress": False}
            own |= {"confidence": 0.95, "deadline": 60.0}
            plan = paceline.plan(evaluate, arms, pilot=_PILOT_SECONDS, **own)
            result = paceline.race(evaluate, arms, **own)
        low, median, high = plan.seconds
        ratio = median / result.elapsed
        inside = "yes" if low * 0.99 <= result.elapsed <= high * 1.01 else "no"
        row = [name, f"{median:.1f}", f"{low:.1f} – {high:.1f}", f"{result.elapsed:.1f}",
               f"{ratio:.2f}", inside]  # fmt: skip
        print(*row, flush=True)
        rows.append(row)
    near = sum(_is_near(float(row[4])) for row in rows)
    rows.append([f"within {WITHIN}", "", "", "", f"{near} of {len(rows)}", ""])
    return Table(("race", "predicted", "range", "real", "ratio", "in range"), rows)
