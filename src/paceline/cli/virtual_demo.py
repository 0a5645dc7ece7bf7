"""`paceline demo --virtual`: a race in virtual time, explained round by round."""

import argparse
from itertools import groupby

import numpy as np

from paceline import theory
from paceline.cli.help import tell
from paceline.core.problem import Bernoulli
from paceline.core.scaling import PowerLaw
from paceline.display.table import Table, print_table
from paceline.loop import run as run_race
from paceline.paper.instances import linear_means
from paceline.policies.apr import APR
from paceline.policies.base import Policy, Task
from paceline.policies.batch_racing import BatchRacing
from paceline.policies.racing import Racing
from paceline.policies.sequential_halving import SequentialHalving
from paceline.policies.ssh import SSH
from paceline.pools.timeline import Span
from paceline.simulation import prepare_race, simulate

_SCALING = PowerLaw(0.5)
_CONFIDENCE = 0.95


def run(options: argparse.Namespace) -> int:
    """Explain a race to a confidence, then one to a deadline."""
    means = linear_means(0.1)
    tell("16 arms with 0/1 rewards; the best wins 90 % of its pulls, the second 80 %.")
    tell("Twice the cores make a pull only 1.41 times faster: λ(m) = √m seconds for m at once.\n")
    _tell_race(means, options.seed)
    _compare(means, options.seed)
    _deadline(options.seed)
    return 0


def _tell_race(means: np.ndarray, seed: int) -> None:
    spans: list[Span] = []
    task = Task(arms=means.size, scaling=_SCALING, confidence=_CONFIDENCE)
    ending = run_race(*prepare_race(Bernoulli(means), APR(), task, seed, 0, spans))
    rows = []
    for number, (end, group) in enumerate(groupby(spans, key=lambda span: span.end), start=1):
        batch = list(group)
        share = f"1/{round(1 / batch[0].share)}"
        rows.append((number, len(batch), batch[0].pulls, share, end - batch[0].start, end))
    tell(f"APR races until the best is known with {_CONFIDENCE:.0%} confidence:\n")
    columns = ("round", "arms", "pulls each", "pool per pull", "lasts (s)", "clock (s)")
    print_table(Table(columns, rows))
    best = int(ending.answer.arms[0])
    tell(
        f"\nVerdict after {ending.seconds:.0f} s and {ending.pulls} pulls: arm {best} is the best, "
        f"with probability at least {ending.answer.confidence:g}.\n"
    )


def _compare(means: np.ndarray, seed: int) -> None:
    policies: list[tuple[str, Policy]] = [
        ("APR, the paper's", APR()),
        ("racing, our own", Racing()),
        ("batches of 16", BatchRacing(batch=16)),
        ("batches of 1024", BatchRacing(batch=1024)),
        ("batches of 65536", BatchRacing(batch=65536)),
    ]
    rows = []
    for label, policy in policies:
        result = simulate(
            means, policy, _SCALING, confidence=_CONFIDENCE, seed=seed, replications=20
        )
        correct = f"{int(result.correct.sum())} of {result.correct.size}"
        rows.append((label, result.mean_seconds, float(result.pulls.mean()), correct))
    tell("The same race with fixed batches of pulls for comparison (means of 20 races):\n")
    print_table(Table(("strategy", "seconds", "pulls", "correct"), rows))
    tell("\nAPR and racing find the right parallelism as they go; a batch has to be guessed.\n")


def _deadline(seed: int) -> None:
    means = np.random.default_rng(seed).random(256)
    scaling = PowerLaw(0.25)
    rows = []
    for deadline in (12.0, 20.0, 40.0):
        k = theory.stages_to_combine(means.size, deadline, scaling)
        found = [
            int(
                simulate(
                    means, policy, scaling, deadline=deadline, seed=seed, replications=100
                ).correct.sum()
            )
            for policy in (SSH(), SequentialHalving(too_short="blind"))
        ]
        rows.append((deadline, k, *found))
    tell(
        "With a deadline instead: 256 arms, λ(m) = m^0.25. SSH halves k times at once, as the "
        "scaling suggests; sequential halving does it one by one, and cuts blindly if a stage has "
        "no time for a pull of every arm (successes in 100 races):\n"
    )
    print_table(Table(("deadline (s)", "k", "SSH", "sequential halving"), rows))
    tell(
        "\nNext, after `source .venv/bin/activate`: paceline reproduce all, or paceline simulate "
        "--help; and README.md."
    )
