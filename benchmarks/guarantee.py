"""How often the best arm is lost, on instances made to lose it; with controls that must be caught.

The best of n arms is a little ahead of others that tie, or nearly so. An error is a race that lost
the best arm, whether it has ended or not. With a tolerance ε, all races end, and an error is an
answer that is worse than the best by more than ε.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from unittest import mock

import numpy as np
from scipy.stats import binomtest

from benchmarks.problems import Points, Unequal
from paceline import APR, Bernoulli, Normal, Policy, PowerLaw, Problem, Simulation, simulate
from paceline.core.arrays import Floats, Ints
from paceline.core.evidence import closed
from paceline.core.evidence.betting import Betting
from paceline.core.evidence.group_sequential import KnownSigma
from paceline.core.evidence.horizon import enough
from paceline.core.evidence.opponents import Opponents
from paceline.core.noise import BERNOULLI, Noise
from paceline.core.noise.normal import NormalNoise
from paceline.core.rounds import Results
from paceline.display.table import Table
from paceline.machine import available_cores
from paceline.parallel import spread
from paceline.policies.base import Task
from paceline.policies.racing import Racing, make_evidence

RUNS = 4000
TOLERANCE_RUNS = 1000
CERTAIN = 1e-6
DELTAS = (0.1, 0.01)
# Caps: near ties would go on for very long. The tied instances below go much further.
PULLS_PER_ARM = {2: 1_100.0, 3: 1_100.0, 4: 1_100.0, 16: 480.0, 64: 320.0}
GAPS = (0.003, 0.01, 0.03, 0.1)


class Instance(NamedTuple):
    """Arms of which the first is the best, and what may be assumed of them."""

    name: str
    arms: int
    gap: float
    problem: Problem
    noise: Noise
    pulls_per_arm: float


def instances() -> list[Instance]:
    """A hundred: near ties and clear leads, of every kind of reward."""
    found = []
    unknown = NormalNoise()
    for arms, pulls in PULLS_PER_ARM.items():
        for gap in GAPS:
            tied = np.r_[0.0, np.full(arms - 1, gap)]
            sigmas = np.r_[1.0, np.full(arms - 1, 0.3)]
            kinds: list[tuple[str, Problem, Noise, float]] = [
                ("Bernoulli, 0.5", Bernoulli(0.5 - tied), BERNOULLI, pulls),
                ("Bernoulli, 0.9", Bernoulli(0.9 - tied), BERNOULLI, pulls),
                ("normal", Normal(-tied, 0.5), unknown, pulls),
                ("normal, unequal", Unequal(-tied, sigmas), unknown, pulls),
            ]
            if arms < 64:  # the slowest to simulate
                kinds.append(("bounded, skewed", Points(tied), Points(tied).noise, 0.4 * pulls))
            if arms == 4:
                ladder = Bernoulli(0.5 - gap * np.arange(arms))
                kinds.append(("Bernoulli, ladder", ladder, BERNOULLI, pulls))
            found += [Instance(name, arms, gap, *rest) for name, *rest in kinds]  # type: ignore[arg-type]
    return found


def race(instance: Instance, policy: Policy, delta: float, runs: int) -> Simulation:
    return simulate(
        instance.problem,
        policy,
        PowerLaw(0.4),
        confidence=1 - delta,
        noise=instance.noise,
        seed=23,
        replications=runs,
        max_pulls=instance.pulls_per_arm * instance.arms,
        processes=1,
    )


def lost(result: Simulation) -> int:
    """In how many replications the best arm is neither returned nor still in."""
    pairs = zip(result.index.tolist(), result.still_in, strict=True)
    return sum(index != 0 and 0 not in alive for index, alive in pairs)


def lost_in_one_round(instance: Instance, delta: float, runs: int) -> int:
    """The same where nothing is decided but which arms fall: in one round up to the cap.

    The evidence is told as the policy tells it, without an engine: in half the time.
    """
    errors = 0
    first = np.zeros(instance.arms, dtype=np.int64)
    for number in range(runs):
        rng = np.random.default_rng((29, number))
        task = Task(
            arms=instance.arms,
            scaling=PowerLaw(0.4),
            confidence=1 - delta,
            noise=instance.noise,
            seed=number,
        )
        evidence = make_evidence(task, delta)
        while evidence.alive.size > 1 and evidence.alive[0] == 0:
            cell = evidence.next_look() - evidence.depth
            if evidence.depth + cell > instance.pulls_per_arm:
                break
            pulls = np.full(evidence.alive.size, cell)
            drawn = instance.problem.draw(evidence.alive, pulls, first, rng)
            evidence.take(Results(evidence.alive, pulls, *drawn))
        errors += int(evidence.alive[0] != 0)
    return errors


def count(policy: Policy, runs: int, cell: tuple[Instance, float]) -> int:
    """In how many races the best is lost; near ties, and many arms, in one long round."""
    instance, delta = cell
    if policy == Racing() and (instance.gap < 0.03 or instance.arms > 4):
        return lost_in_one_round(instance, delta, runs)
    return lost(race(instance, policy, delta, runs))


def refuted(errors: int, runs: int, delta: float) -> bool:
    return bool(binomtest(errors, runs, delta, alternative="greater").pvalue < CERTAIN)


class Tolerated(NamedTuple):
    """Arms, and how much worse than the best is good enough."""

    name: str
    problem: Problem
    noise: Noise
    tolerance: float
    paired: bool = False
    top: int = 1


def tolerated() -> list[Tolerated]:
    """Ties, near ties, others just too bad, variances that differ, pairs, and the top k."""
    epsilon, unknown = 0.25, NormalNoise()
    found = []
    for arms in (2, 4, 16):
        slippage = np.r_[epsilon * (1 + 1e-9), np.zeros(arms - 1)]
        steps = -0.6 * epsilon * np.arange(arms)
        mixed = np.r_[2 * epsilon, np.where(np.arange(arms - 1) % 2, 0.99, 1.01) * epsilon]
        sigmas = np.where(np.arange(arms) % 2, 0.3, 1.0)
        for noise, kind in ((unknown, "σ unknown"), (NormalNoise(1.0), "σ known")):
            for name, means in (
                ("tied", np.zeros(arms)),
                ("others too bad", slippage),
                ("steps of 0.6 ε", steps),
                ("half too bad", mixed),
            ):
                found.append(Tolerated(f"{arms} {name}, {kind}", Normal(means), noise, epsilon))
        for ahead, own in (("noisy", sigmas), ("quiet", sigmas[::-1])):
            uneven = Unequal(slippage, own)
            found.append(Tolerated(f"{arms} too bad, {ahead} best", uneven, unknown, epsilon))
        for common in (0.0, 0.5, 0.9):
            problem = Normal(slippage, common=common)
            name = f"{arms} too bad, pairs, {common:g} in common"
            found.append(Tolerated(name, problem, unknown, epsilon, paired=True))
        coins = Bernoulli(0.4 + slippage)
        found += [
            Tolerated(f"{arms} too bad, coins, {paired=}", coins, BERNOULLI, epsilon, paired)
            for paired in (False, True)
        ]
        if arms > 2:
            several = Normal(np.r_[2 * epsilon, slippage[:-1]])
            found += [
                Tolerated(f"{arms} too bad, top 2, {paired=}", several, unknown, epsilon, paired, 2)
                for paired in (False, True)
            ]
    return found


def wrong(runs: int, instance: Tolerated, delta: float = 0.1) -> int:
    """In how many races the answer is too bad, or missing."""
    result = simulate(
        instance.problem,
        scaling=PowerLaw(0.4),
        confidence=1 - delta,
        noise=instance.noise,
        tolerance=instance.tolerance,
        paired=instance.paired,
        top=instance.top,
        seed=43,
        replications=runs,
        processes=1,
    )
    return int((~result.correct).sum())


def run_tolerance(runs: int = TOLERANCE_RUNS) -> Table:
    found = tolerated()
    counts = spread(partial(wrong, runs), found, available_cores().cores)
    rows: list[tuple[object, ...]] = [
        (one.name, one.tolerance, 0.1, errors / runs, refuted(errors, runs, 0.1))
        for one, errors in zip(found, counts, strict=True)
    ]
    control = next(one for one in found if one.name == "16 others too bad, σ unknown")
    with mock.patch.object(closed, "enough", _fifth):
        errors = wrong(runs, control)
    rows.append(
        ("a fifth of the horizon: " + control.name, control.tolerance, 0.1, errors / runs,
         refuted(errors, runs, 0.1))
    )  # fmt: skip
    return Table(("instance", "ε", "δ", "error", "refuted"), rows)


def _fifth(constant: float, variance: float | Floats, tolerance: float) -> Ints:
    return enough(constant, np.asarray(variance) / 5, tolerance)


class LowBar(Betting):
    """A control: a third of the stake is enough."""

    def weigh(self, fresh: Results) -> Floats:
        return super().weigh(fresh) + math.log(3)


class Peeking(Betting):
    """A control: opponents chosen with the fresh values themselves."""

    def opponents(self, fresh: Results, means: Floats, variances: Floats) -> Sequence[Opponents]:
        return super().opponents(fresh, fresh.sums / fresh.pulls, variances)


class LowBarNormal(KnownSigma):
    """A control: the boundary, lowered by a tenth."""

    def _bar(self, look: int) -> float:
        return 0.9 * super()._bar(look)


def _low_bar(task: Task, delta: float) -> Betting:
    return LowBar(task.arms, delta, (0.0, 1.0))


def _peeking(task: Task, delta: float) -> Betting:
    return Peeking(task.arms, delta, (0.0, 1.0))


def _low_bar_normal(task: Task, delta: float) -> KnownSigma:
    return LowBarNormal(task.arms, delta, 0.5)


def _tied(arms: int, rewards: str) -> Instance:
    """All arms the same: the first is as good as any, so it is lost with chance δ at most."""
    even = np.full(arms, 0.5)
    problem = Bernoulli(even) if rewards == "bernoulli" else Normal(even, 0.5)
    noise = BERNOULLI if rewards == "bernoulli" else NormalNoise()
    return Instance(f"{rewards}, all tied", arms, 0.0, problem, noise, 300_000.0)


_NEAR_TIE = next(one for one in instances() if one.arms == 64 and one.gap == GAPS[0])
CONTROLS: list[tuple[str, Policy, Instance, float]] = [
    ("APR, deviation 0.2", APR(deviation=0.2), _NEAR_TIE._replace(pulls_per_arm=1e7), 0.1),
    ("a third of the stake", Racing(_low_bar), _tied(2, "bernoulli"), 0.1),
    ("boundary − 10 %", Racing(_low_bar_normal), _tied(2, "normal"), 0.1),
    ("opponent from the cell", Racing(_peeking), _tied(64, "bernoulli"), 0.1),
]


def run(runs: int = RUNS) -> Table:
    cells = [(instance, delta) for delta in DELTAS for instance in instances()]
    counts = spread(partial(count, Racing(), runs), cells, available_cores().cores)
    rows = [
        row_of("racing", instance, delta, errors, runs)
        for (instance, delta), errors in zip(cells, counts, strict=True)
    ]
    honest = (_tied(2, "bernoulli"), _tied(2, "normal"), _tied(64, "bernoulli"))
    extra = [("racing", Racing(), instance, 0.1) for instance in honest]
    for name, policy, instance, delta in [*extra, *CONTROLS]:
        errors = count(policy, runs, (instance, delta))
        rows.append(row_of(name, instance, delta, errors, runs))
    return Table(("policy", "instance", "arms", "gap", "δ", "error", "refuted"), rows)


def row_of(
    policy: str, instance: Instance, delta: float, errors: int, runs: int
) -> tuple[object, ...]:
    share, out = errors / runs, refuted(errors, runs, delta)
    return (policy, instance.name, instance.arms, instance.gap, delta, share, out)
